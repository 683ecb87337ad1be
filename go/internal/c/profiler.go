package c

// #include <stdlib.h>
// #include "shim.h"
import "C"

// StartProfiler with the ranks of a group, nil for this process alone.
func StartProfiler(g ProcessGroup, cpuOnly, shapes, flops bool) *Failure {
	if err := Load(); err != nil {
		return err
	}
	options := C.tdm_profiler_options{cpu_only: boolean(cpuOnly), record_shapes: boolean(shapes),
		with_flops: boolean(flops)}
	options.struct_size = C.sizeof_tdm_profiler_options
	return failure(C.tdm_profiler_start(group(g), &options))
}

// StopProfiler writes no file where path is empty.
func StopProfiler(path string) (string, *Failure) {
	if err := Load(); err != nil {
		return "", err
	}
	var cPath *C.char
	if path != "" {
		cPath = C.CString(path)
		defer free(cPath)
	}
	var table *C.tdm_string
	if err := failure(C.tdm_profiler_stop(cPath, &table)); err != nil {
		return "", err
	}
	return string(bytes(table)), nil
}
