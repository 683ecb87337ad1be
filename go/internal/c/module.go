package c

// #include "shim.h"
import "C"
import (
	"runtime"
	"unsafe"
)

func module(m Module) *C.tdm_module { return (*C.tdm_module)(unsafe.Pointer(m)) }

// CreateModule makes a module of the registry from a frame of options, and releases the frame.
func CreateModule(kind string, f *Frame) (Module, *Failure) {
	defer f.Release()
	if err := Load(); err != nil {
		return nil, err
	}
	cKind := C.CString(kind)
	defer free(cKind)
	values, count, pool := f.arguments()
	var m *C.tdm_module
	err := failure(C.tg_module_create(cKind, f.optionNames(), values, count, pool, &m))
	return Module(unsafe.Pointer(m)), err
}

// CloneModule makes an independent copy.
func CloneModule(m Module) (Module, *Failure) {
	var copied *C.tdm_module
	err := failure(C.tdm_module_clone(module(m), &copied))
	return Module(unsafe.Pointer(copied)), err
}

// Parametrize has a parameter be computed from others that take its place; releases the frame of options.
func Parametrize(m Module, kind, name string, f *Frame) *Failure {
	defer f.Release()
	cKind, cName := C.CString(kind), C.CString(name)
	defer free(cKind)
	defer free(cName)
	values, count, pool := f.arguments()
	return failure(C.tg_module_parametrize(module(m), cKind, cName, f.optionNames(), values, count, pool))
}

func RemoveParametrizations(m Module, name string) *Failure {
	cName := C.CString(name)
	defer free(cName)
	return failure(C.tdm_module_remove_parametrizations(module(m), cName))
}

func FreeModule(m Module) { C.tdm_module_free(module(m)) }

// ForwardOne calls a module that answers one tensor, and releases the frame.
func ForwardOne(m Module, f *Frame) (Made, *Failure) {
	values, count, pool := f.arguments()
	t := C.tg_module_forward_one(module(m), values, count, pool)
	runtime.KeepAlive(f)
	f.Release()
	return made(t)
}

// Forward calls a module that answers up to room values, and releases the frame.
func Forward(m Module, f *Frame, room int) ([]Value, *Failure) {
	results := make([]C.tdm_value, room)
	count := C.size_t(room)
	values, given, pool := f.arguments()
	err := failure(C.tg_module_forward(module(m), values, given, pool, &results[0], &count))
	f.Release()
	if err != nil {
		return nil, err
	}
	return take(results[:count])
}

func Parameters(m Module) ([]Named, *Failure) {
	var list *C.tdm_named_tensors
	if err := failure(C.tdm_module_named_parameters(module(m), &list)); err != nil {
		return nil, err
	}
	return named(list)
}

func Buffers(m Module) ([]Named, *Failure) {
	var list *C.tdm_named_tensors
	if err := failure(C.tdm_module_named_buffers(module(m), &list)); err != nil {
		return nil, err
	}
	return named(list)
}

func Train(m Module, on bool) *Failure { return failure(C.tdm_module_train(module(m), boolean(on))) }

// Trains tells whether it is in training mode.
func Trains(m Module) bool { return C.tdm_module_is_training(module(m)) != 0 }

// SetBatchNormMomentum gives what it was; nil is none.
func SetBatchNormMomentum(m Module, momentum *float64) (before *float64, err *Failure) {
	f := NewFrame()
	defer f.Release()
	if momentum == nil {
		f.None()
	} else {
		f.Double(*momentum)
	}
	values, _, _ := f.arguments()
	value, err := oneValue(func(out *C.tdm_value) *C.tdm_error {
		return C.tdm_module_set_batch_norm_momentum(module(m), values, out)
	})
	if number, ok := value.(float64); ok {
		before = &number
	}
	return before, err
}

// MoveModule moves parameters and buffers; dtype -1: unchanged.
func MoveModule(m Module, kind, index, dtype int32) *Failure {
	device := C.tdm_device{_type: C.tdm_device_type(kind), index: C.int32_t(index)}
	return failure(C.tdm_module_to(module(m), device, C.tdm_dtype(dtype)))
}

// GenerateTokens adds the tokens that a network predicts, by a frame of options, which it releases.
func GenerateTokens(m Module, inputIDs Tensor, f *Frame) (Made, *Failure) {
	defer f.Release()
	values, count, pool := f.arguments()
	return made(C.tg_module_generate(module(m), tensor(inputIDs), f.optionNames(), values, count, pool))
}
