package c

// #include "shim.h"
import "C"
import "unsafe"

// LoadExported reads an archive of torch.export.save; otherMode and compiled "" are none.
func LoadExported(path, otherMode, compiled string) (Module, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cPath, cOther, cCompiled := C.CString(path), C.CString(otherMode), C.CString(compiled)
	defer free(cPath)
	defer free(cOther)
	defer free(cCompiled)
	var options C.tdm_exported_options
	C.tdm_exported_options_init(&options, C.sizeof_tdm_exported_options)
	if otherMode != "" {
		options.other_mode = cOther
	}
	if compiled != "" {
		options.compiled = cCompiled
	}
	var m *C.tdm_module
	err := failure(C.tdm_exported_load(cPath, &options, &m))
	return Module(unsafe.Pointer(m)), err
}

// CallExported runs the program, and releases the frame.
func CallExported(m Module, f *Frame) (Value, *Failure) {
	defer f.Release()
	values, count, pool := f.arguments()
	return oneValue(func(out *C.tdm_value) *C.tdm_error { return C.tg_exported_call(module(m), values, count, pool, out) })
}

// ExportedInputs are the names of the inputs, and what each must be.
func ExportedInputs(m Module) (names, descriptions []string, err *Failure) {
	var first, second *C.tdm_strings
	if err := failure(C.tdm_exported_inputs(module(m), &first, &second)); err != nil {
		return nil, nil, err
	}
	return texts(first), texts(second), nil
}

// ExportedParts are at least so many parts of the program, or all that there are.
func ExportedParts(m Module, least int) ([]Module, *Failure) {
	var count C.size_t
	if err := failure(C.tdm_exported_parts(module(m), C.int64_t(least), nil, &count)); err != nil {
		return nil, err
	}
	parts := make([]Module, int(count))
	if err := failure(C.tdm_exported_parts(module(m), C.int64_t(least),
		(**C.tdm_module)(unsafe.Pointer(unsafe.SliceData(parts))), &count)); err != nil {
		return nil, err
	}
	return parts, nil
}

// SaveExported writes an archive for torch.export.load.
func SaveExported(m Module, path string) *Failure {
	cPath := C.CString(path)
	defer free(cPath)
	return failure(C.tdm_exported_save(module(m), cPath))
}
