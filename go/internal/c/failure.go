package c

// #include "shim.h"
import "C"
import (
	"fmt"
	"runtime/cgo"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Failure is a tdm_error, copied.
type Failure struct {
	Code    int32
	Op      string // as the C ABI names it, without "tdm_"
	Message string
	Cause   error // what a Go callback failed with, nil else
}

// Codes that Go makes itself; the others come from the library.
const (
	CodeInvalidArgument = int32(C.TDM_ERROR_INVALID_ARGUMENT)
	CodeClosed          = int32(C.TDM_ERROR_CLOSED)
	CodeLibrary         = int32(C.TDM_ERROR_LIBRARY)
)

// failure copies and frees an error; nil for success.
func failure(e *C.tdm_error) *Failure {
	if e == nil {
		return nil
	}
	first := uintptr(unsafe.Pointer(&C.tandem_go_missing[0]))
	if at := uintptr(unsafe.Pointer(e)); at >= first && at < first+uintptr(C.TANDEM_GO_FUNCTION_COUNT) {
		return absent(C.GoString(C.tandem_go_names[at-first]))
	}
	defer C.tdm_error_free(e)
	f := &Failure{
		Code:    int32(C.tdm_error_get_code(e)),
		Op:      strings.TrimPrefix(C.GoString(C.tdm_error_operation(e)), "tdm_"),
		Message: C.GoString(C.tdm_error_message(e)),
	}
	if cause := C.tg_error_cause(e); cause != 0 {
		f.Cause = cgo.Handle(cause).Value().(error)
	}
	if f.Code == CodeClosed && strings.Contains(f.Message, "Tandem was shut down") && !shutdownAsked.Load() {
		// The process is ending through C's exit, which stopped Tandem (Go's race detector ends programs so): a
		// goroutine that still computes has nothing to report to.
		select {}
	}
	return f
}

// shutdownAsked tells that the program called Shutdown.
var shutdownAsked atomic.Bool

func absent(name string) *Failure {
	op := strings.TrimPrefix(name, "tdm_")
	if path := Path(); path != "" {
		return &Failure{Code: CodeLibrary, Op: op, Message: fmt.Sprintf(
			"%s (version %s) lacks %s; install the libtandem that belongs to this gotorch (%s)", path, version(), name, HeaderVersion)}
	}
	return &Failure{Code: CodeLibrary, Op: op, Message: "libtandem is not loaded; call gotorch.Load first"}
}
