package c

// #include "shim.h"
import "C"
import (
	"runtime"
	"unsafe"
)

// FindOp looks an operator up; loads the library when that was not done.
func FindOp(name, overload string) (Op, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cName, cOverload := C.CString(name), C.CString(overload)
	defer free(cName)
	defer free(cOverload)
	var op *C.tdm_op
	if err := failure(C.tdm_op_find(cName, cOverload, &op)); err != nil {
		return nil, err
	}
	return Op(unsafe.Pointer(op)), nil
}

// LoadLibrary loads operators from a file.
func LoadLibrary(path string) *Failure {
	if err := Load(); err != nil {
		return err
	}
	cPath := C.CString(path)
	defer free(cPath)
	return failure(C.tdm_load_library(cPath))
}

func operator(o Op) *C.tdm_op { return (*C.tdm_op)(unsafe.Pointer(o)) }

func Schema(o Op) string   { return C.GoString(C.tdm_op_schema(operator(o))) }
func ResultCount(o Op) int { return int(C.tdm_op_result_count(operator(o))) }

// CallOne calls an operator whose one result is a tensor, and releases the frame.
func CallOne(o Op, f *Frame) (Made, *Failure) {
	values, count, pool := f.arguments()
	t := C.tg_op_call_one(operator(o), values, count, pool)
	runtime.KeepAlive(f)
	f.Release()
	return made(t)
}

// CallTensors calls an operator whose first arguments are one to three tensors, those after count nil, and whose one
// result is a tensor; all its other arguments have defaults.
func CallTensors(o Op, count int, first, second, third Tensor) (Made, *Failure) {
	return made(C.tg_op_call_tensors(operator(o), C.size_t(count), tensor(first), tensor(second), tensor(third)))
}

// Call calls any operator, and releases the frame.
func Call(o Op, f *Frame) ([]Value, *Failure) {
	results := make([]C.tdm_value, ResultCount(o)+1) // one more than needed, so that there is a first
	values, count, pool := f.arguments()
	err := failure(C.tg_op_call(operator(o), values, count, pool, &results[0], C.size_t(len(results)-1)))
	f.Release()
	if err != nil {
		return nil, err
	}
	return take(results[:len(results)-1])
}

// Value is a result: nil, Made, bool, int64, float64, complex128, string, DType, []Made, []int, []float64, []bool,
// Device, []Value for a tuple, List, Dict or RRef.
type Value any

type (
	List []Value
	Dict []Value // keys and values in turn
)

// DType, Device, Layout and MemoryFormat carry the ABI's numbers.
type (
	DType        int32
	Layout       int32
	MemoryFormat int32
	Device       struct{ Kind, Index int32 }
)

// take moves what results own to Go.
func take(results []C.tdm_value) ([]Value, *Failure) {
	taken := make([]Value, len(results))
	for i := range results {
		taken[i] = takeOne(&results[i])
		C.tdm_value_clear(&results[i])
	}
	return taken, nil
}

// oneValue gives what a call that gives one value gave.
func oneValue(call func(out *C.tdm_value) *C.tdm_error) (Value, *Failure) {
	results := make([]C.tdm_value, 1)
	if err := failure(call(&results[0])); err != nil {
		return nil, err
	}
	values, err := take(results)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

func takeOne(v *C.tdm_value) Value {
	as := unsafe.Pointer(&v.as)
	list := (*struct {
		data unsafe.Pointer
		size uintptr
	})(as)
	switch v.tag {
	case C.TDM_VALUE_TENSOR:
		m, _ := made(C.tg_describe(*(**C.tdm_tensor)(as)))
		v.tag = C.TDM_VALUE_NONE // its handle is ours now
		return m
	case C.TDM_VALUE_RREF:
		v.tag = C.TDM_VALUE_NONE // likewise
		return RRef(*(*unsafe.Pointer)(as))
	case C.TDM_VALUE_BOOL:
		return *(*int32)(as) != 0
	case C.TDM_VALUE_INT:
		return *(*int64)(as)
	case C.TDM_VALUE_DOUBLE:
		return *(*float64)(as)
	case C.TDM_VALUE_COMPLEX:
		parts := *(*[2]float64)(as)
		return complex(parts[0], parts[1])
	case C.TDM_VALUE_STRING:
		return C.GoStringN((*C.char)(list.data), C.int(list.size))
	case C.TDM_VALUE_DTYPE:
		return DType(*(*int32)(as))
	case C.TDM_VALUE_LAYOUT:
		return Layout(*(*int32)(as))
	case C.TDM_VALUE_MEMORY_FORMAT:
		return MemoryFormat(*(*int32)(as))
	case C.TDM_VALUE_DEVICE:
		return *(*Device)(as)
	case C.TDM_VALUE_TENSOR_LIST:
		// Clearing the list frees its handles, so ours are second ones.
		tensors := make([]Made, list.size)
		for i := range tensors {
			if h := C.tg_value_list_tensor(v, C.size_t(i)); h != nil {
				tensors[i], _ = made(C.tg_tensor_share(h))
			}
		}
		return tensors
	case C.TDM_VALUE_INT_LIST:
		return append([]int(nil), unsafe.Slice((*int)(list.data), list.size)...)
	case C.TDM_VALUE_DOUBLE_LIST:
		return append([]float64(nil), unsafe.Slice((*float64)(list.data), list.size)...)
	case C.TDM_VALUE_BOOL_LIST:
		bools := make([]bool, list.size)
		for i, b := range unsafe.Slice((*byte)(list.data), list.size) {
			bools[i] = b != 0
		}
		return bools
	case C.TDM_VALUE_STRING_LIST:
		texts := make([]string, list.size)
		for i, one := range unsafe.Slice((**C.char)(list.data), list.size) {
			texts[i] = C.GoString(one)
		}
		return texts
	case C.TDM_VALUE_TUPLE:
		return takeElements(list.data, list.size)
	case C.TDM_VALUE_LIST:
		return List(takeElements(list.data, list.size))
	case C.TDM_VALUE_DICT:
		return Dict(takeElements(list.data, list.size))
	}
	return nil
}

func takeElements(data unsafe.Pointer, size uintptr) []Value {
	elements := unsafe.Slice((*C.tdm_value)(data), size)
	taken := make([]Value, len(elements))
	for i := range elements {
		taken[i] = takeOne(&elements[i])
	}
	return taken
}

// takeValue is take of one.
func takeValue(value *C.tdm_value) Value {
	taken := takeOne(value)
	C.tdm_value_clear(value)
	return taken
}
