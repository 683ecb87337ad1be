package c

// #include "shim.h"
import "C"
import (
	"runtime"
	"unsafe"
)

// LoadScript reads a file of torch.jit.save.
func LoadScript(path string) (Module, *Failure) {
	return makeScript(path, func(cPath *C.char, out **C.tdm_module) *C.tdm_error { return C.tdm_jit_load(cPath, out) })
}

// CompileScript makes functions of TorchScript methods of a module.
func CompileScript(source string) (Module, *Failure) {
	return makeScript(source, func(cSource *C.char, out **C.tdm_module) *C.tdm_error {
		return C.tdm_jit_compile(cSource, out)
	})
}

// LoadScriptBytes reads what ScriptBytes gives.
func LoadScriptBytes(data []byte) (Module, *Failure) {
	return makeScript("", func(_ *C.char, out **C.tdm_module) *C.tdm_error {
		if len(data) == 0 {
			data = []byte{0}[:0:1]
		}
		return C.tdm_jit_load_bytes(unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)), out)
	})
}

func makeScript(text string, make func(text *C.char, out **C.tdm_module) *C.tdm_error) (Module, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cText := C.CString(text)
	defer free(cText)
	var m *C.tdm_module
	err := failure(make(cText, &m))
	return Module(unsafe.Pointer(m)), err
}

// SaveScript writes a file for torch.jit.load.
func SaveScript(m Module, path string) *Failure {
	cPath := C.CString(path)
	defer free(cPath)
	return failure(C.tdm_jit_save(module(m), cPath))
}

// ScriptBytes is what SaveScript would write.
func ScriptBytes(m Module) ([]byte, *Failure) {
	var s *C.tdm_string
	if err := failure(C.tdm_jit_save_bytes(module(m), &s)); err != nil {
		return nil, err
	}
	defer C.tdm_string_free(s)
	data := unsafe.Slice((*byte)(unsafe.Pointer(C.tdm_string_data(s))), int(C.tdm_string_size(s)))
	return append([]byte(nil), data...), nil
}

// ScriptMethods are the names of its methods.
func ScriptMethods(m Module) ([]string, *Failure) {
	var list *C.tdm_strings
	if err := failure(C.tdm_jit_methods(module(m), &list)); err != nil {
		return nil, err
	}
	return texts(list), nil
}

// ScriptSchema is what a method takes and gives.
func ScriptSchema(m Module, method string) (string, *Failure) {
	cMethod := C.CString(method)
	defer free(cMethod)
	var s *C.tdm_string
	if err := failure(C.tdm_jit_schema(module(m), cMethod, &s)); err != nil {
		return "", err
	}
	return text(s), nil
}

// CallScript calls a method, and releases the frame.
func CallScript(m Module, method string, f *Frame) (Value, *Failure) {
	defer f.Release()
	cMethod := C.CString(method)
	defer free(cMethod)
	values, count, pool := f.arguments()
	return oneValue(func(out *C.tdm_value) *C.tdm_error {
		return C.tg_jit_call(module(m), cMethod, values, count, pool, out)
	})
}

// NamedHandles are tensors with names.
type NamedHandles struct {
	Names   []string
	Tensors []Tensor
}

// TraceScript makes what body computes of its inputs a module; parameters and buffers are that module's own.
func TraceScript(inputs []Tensor, parameters, buffers NamedHandles, body Callback) (Module, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	parameterNames, freeParameters := cStrings(parameters.Names)
	defer freeParameters()
	bufferNames, freeBuffers := cStrings(buffers.Names)
	defer freeBuffers()
	var m *C.tdm_module
	err := register(body, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_jit_trace(handles(inputs), C.size_t(len(inputs)), parameterNames, handles(parameters.Tensors),
			C.size_t(len(parameters.Tensors)), bufferNames, handles(buffers.Tensors), C.size_t(len(buffers.Tensors)),
			handle, &m)
	})
	runtime.KeepAlive(inputs)
	return Module(unsafe.Pointer(m)), err
}
