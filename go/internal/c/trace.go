package c

// #include <stdlib.h>
// #include "shim.h"
import "C"

func StartTrace(g ProcessGroup, mostEvents int64) *Failure {
	options := C.tdm_trace_options{most_events: C.int64_t(mostEvents)}
	options.struct_size = C.sizeof_tdm_trace_options
	return failure(C.tdm_trace_start(group(g), &options))
}

func StopTrace(path string) *Failure {
	if err := Load(); err != nil {
		return err
	}
	cPath := C.CString(path)
	defer free(cPath)
	return failure(C.tdm_trace_stop(cPath))
}
