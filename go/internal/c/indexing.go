package c

// #include "shim.h"
import "C"
import (
	"runtime"
	"unsafe"
)

// Index is a tdm_index.
type Index struct {
	Kind              int32
	Boolean           int32
	Start, Stop, Step int64
	Tensor            Tensor
}

// Kinds of an Index.
const (
	IndexNone     = int32(C.TDM_INDEX_NONE)
	IndexEllipsis = int32(C.TDM_INDEX_ELLIPSIS)
	IndexInteger  = int32(C.TDM_INDEX_INTEGER)
	IndexBoolean  = int32(C.TDM_INDEX_BOOLEAN)
	IndexSlice    = int32(C.TDM_INDEX_SLICE)
	IndexTensor   = int32(C.TDM_INDEX_TENSOR)
)

// The two structs are one in memory.
const _ = -(unsafe.Sizeof(Index{}) - unsafe.Sizeof(C.tdm_index{})) | -(unsafe.Offsetof(Index{}.Tensor) - unsafe.Offsetof(C.tdm_index{}.tensor))

func indices(list []Index) *C.tdm_index {
	return (*C.tdm_index)(unsafe.Pointer(unsafe.SliceData(list)))
}

// GetIndex is x[list…].
func GetIndex(t Tensor, list []Index) (Made, *Failure) {
	return made(C.tg_tensor_index(tensor(t), indices(list), C.size_t(len(list))))
}

// PutIndex is x[list…] = the frame's one value, and releases the frame.
func PutIndex(t Tensor, list []Index, f *Frame) *Failure {
	value, _, _ := f.arguments()
	err := failure(C.tdm_tensor_index_put(tensor(t), indices(list), C.size_t(len(list)), value))
	runtime.KeepAlive(f)
	f.Release()
	return err
}
