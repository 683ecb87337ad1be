package gotorch

import (
	"errors"
	"fmt"
	"io/fs"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

// Code classifies an [Error]. Codes are errors themselves, so that errors.Is(err, gotorch.ErrTimeout) works.
type Code int32

// The codes. Their numbers are those of tandem.h.
const (
	ErrInternal        Code = 1  // a defect of Tandem or of LibTorch
	ErrInvalidArgument Code = 2  // a value, shape, dtype or option that the operation does not take
	ErrOutOfRange      Code = 3  // an index past the end
	ErrNotFound        Code = 4  // a file, operator, module type, option or key that does not exist
	ErrIO              Code = 5  // the operating system refused: open, read, write, bind, connect
	ErrDataLoss        Code = 6  // a file whose bytes are not what they claim to be
	ErrTimeout         Code = 7  // a wait ended; the message says who was missing
	ErrAborted         Code = 8  // aborted by Abort, a cancelled context or Shutdown
	ErrPeerLost        Code = 9  // another rank died or closed its connection
	ErrUnsupported     Code = 10 // this build, LibTorch or machine cannot do it
	ErrClosed          Code = 11 // used after Close, after its Scope returned, or after Shutdown
	ErrLibrary         Code = 12 // libtandem or LibTorch is missing, of a wrong version, or loaded twice
	ErrOutOfMemory     Code = 13
	ErrCallback        Code = 14 // a callback of the program's failed
)

var codeNames = [...]string{1: "internal error", "invalid argument", "out of range", "not found", "input/output error",
	"data loss", "timeout", "aborted", "peer lost", "unsupported", "closed", "library problem", "out of memory",
	"callback failed"}

// Error is the code's name, such as "timeout".
func (code Code) Error() string {
	if code >= 1 && int(code) < len(codeNames) {
		return codeNames[code]
	}
	return fmt.Sprintf("code %d", int32(code))
}

// Error is what gotorch's functions return, or panic with where they do tensor mathematics.
type Error struct {
	Code    Code
	Op      string // what was called, such as "aten::add.Tensor", "Tensor.Item" or "dist.ProcessGroup.AllReduce"
	Message string // names the thing, the cause and what to do
}

// Error is "gotorch: OP: MESSAGE".
func (e *Error) Error() string { return "gotorch: " + e.Op + ": " + e.Message }

// Is tells whether target is this error's code, or [fs.ErrNotExist] for what does not exist.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code || target == fs.ErrNotExist && e.Code == ErrNotFound
}

func errorOf(failure *c.Failure) error {
	if failure == nil {
		return nil
	}
	err := &Error{Code(failure.Code), names.Operation(failure.Op), failure.Message}
	if err.Code != ErrLibrary { // which speaks of the library's own functions
		err.Message = names.Message(err.Message)
	}
	if failure.Cause != nil {
		return &CallbackError{err, failure.Cause}
	}
	return err
}

func must(failure *c.Failure) {
	if failure != nil {
		panic(errorOf(failure))
	}
}

func invalid(op, format string, arguments ...any) *Error {
	return &Error{ErrInvalidArgument, op, fmt.Sprintf(format, arguments...)}
}

// Try calls body and returns the *[Error], or the error around one, that it panicked with; nil when it returned. Any
// other panic goes on.
func Try(body func()) (err error) {
	defer func() {
		problem := recover()
		if problem == nil {
			return
		}
		recovered, ok := problem.(error)
		var ours *Error
		if !ok || !errors.As(recovered, &ours) {
			panic(problem)
		}
		err = recovered
	}()
	body()
	return nil
}

func init() {
	bridge.Error = errorOf
	bridge.Wrap = func(m c.Made) any { return wrap(m) }
	bridge.Adopt = func(m c.Made) any { return adopt(m) }
	bridge.Scalar = func(f *c.Frame, number any, op string) { call{op: &bridge.Operator{Name: op}, frame: f}.scalar(number) }
	bridge.Generator = func(generator any) c.Generator { return generator.(*Generator).native }
	bridge.Result = resultOf
	bridge.FromPython, bridge.PutPython = fromPython, putPython
	bridge.FromScript, bridge.PutScript, bridge.PutCall = fromScript, putScript, putCall
	bridge.InScopeOf = inScopeOf
	bridge.Handle = func(tensor any, op string) c.Tensor { return tensor.(*Tensor).handle(op) }
}
