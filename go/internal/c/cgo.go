package c

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"
import "unsafe"

// Handles of the C ABI. They are addresses of C's memory; the zero value is none.
type (
	Tensor           unsafe.Pointer
	Scope            unsafe.Pointer
	Mode             unsafe.Pointer
	Hook             unsafe.Pointer
	Generator        unsafe.Pointer
	Stream           unsafe.Pointer
	Event            unsafe.Pointer
	Op               unsafe.Pointer
	Module           unsafe.Pointer
	Optimizer        unsafe.Pointer
	LRScheduler      unsafe.Pointer
	Averages         unsafe.Pointer
	GradScaler       unsafe.Pointer
	Store            unsafe.Pointer
	ProcessGroup     unsafe.Pointer
	Work             unsafe.Pointer
	DDP              unsafe.Pointer
	ModelAverager    unsafe.Pointer
	DataParallel     unsafe.Pointer
	Pipeline         unsafe.Pointer
	DeviceMesh       unsafe.Pointer
	RecordIOWriter   unsafe.Pointer
	RecordIOReader   unsafe.Pointer
	Dataset          unsafe.Pointer
	Sampler          unsafe.Pointer
	Loader           unsafe.Pointer
	SummaryWriter    unsafe.Pointer
	CheckpointFolder unsafe.Pointer
	Elastic          unsafe.Pointer
	RPCFuture        unsafe.Pointer
	RRef             unsafe.Pointer

	DistributedOptimizer unsafe.Pointer
	ParameterServer      unsafe.Pointer
	ParameterClient      unsafe.Pointer
)

// Made is a tensor handle that was just made, with what its owner keeps about it: the scope that owns it (0: none) and
// the bytes that it keeps alive. Light: an operator of tensors gave it, no scope owns it, it keeps at most LightBytes
// alive and requires no gradient.
type Made struct {
	Handle Tensor
	Scope  uint64
	Bytes  int64
	Light  bool
}

const LightBytes = int64(C.TG_LIGHT_BYTES)

func tensor(h Tensor) *C.tdm_tensor { return (*C.tdm_tensor)(unsafe.Pointer(h)) }

func made(t C.tg_tensor) (Made, *Failure) {
	if t.error != nil {
		return Made{}, failure(t.error)
	}
	return Made{Tensor(unsafe.Pointer(t.tensor)), uint64(t.scope), int64(t.bytes), t.light != 0}, nil
}

// cString copies s to C; the result is freed with free. An empty s is NULL.
func cString(s string) *C.char {
	if s == "" {
		return nil
	}
	return C.CString(s)
}

func free(s *C.char) { C.free(unsafe.Pointer(s)) }

func boolean(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}

// text copies an owned string and frees it.
func text(s *C.tdm_string) string {
	defer C.tdm_string_free(s)
	return C.GoStringN(C.tdm_string_data(s), C.int(C.tdm_string_size(s)))
}

// texts copies an owned list of strings and frees it.
func texts(list *C.tdm_strings) []string {
	defer C.tdm_strings_free(list)
	all := make([]string, int(C.tdm_strings_count(list)))
	for i := range all {
		all[i] = C.GoStringN(C.tdm_strings_data(list, C.size_t(i)), C.int(C.tdm_strings_size(list, C.size_t(i))))
	}
	return all
}

// bytes copies an owned string and frees it.
func bytes(s *C.tdm_string) []byte {
	defer C.tdm_string_free(s)
	return C.GoBytes(unsafe.Pointer(C.tdm_string_data(s)), C.int(C.tdm_string_size(s)))
}

// handles gives the address of a slice's first handle for C, nil when it is empty.
func handles(s []Tensor) **C.tdm_tensor {
	if len(s) == 0 {
		return nil
	}
	return (**C.tdm_tensor)(unsafe.Pointer(&s[0]))
}

// sizes gives the address of a slice's first number for C: Go's int has 64 bits where libtandem runs.
func sizes(s []int) *C.int64_t {
	if len(s) == 0 {
		return nil
	}
	return (*C.int64_t)(unsafe.Pointer(&s[0]))
}

// cStrings copies names to C memory, as an array; done frees them.
func cStrings(names []string) (array **C.char, done func()) {
	if len(names) == 0 {
		return nil, func() {}
	}
	block := C.malloc(C.size_t(len(names)) * C.size_t(unsafe.Sizeof(uintptr(0))))
	list := unsafe.Slice((**C.char)(block), len(names))
	for i, name := range names {
		list[i] = C.CString(name)
	}
	return (**C.char)(block), func() {
		for _, s := range list {
			free(s)
		}
		C.free(block)
	}
}
