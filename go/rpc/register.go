package rpc

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/jit"
)

// Register has workers call function by this name, before or after [Init], on threads of RPC, several at a time. Tensors
// that it is given or makes are freed when it returns, but those kept by gotorch.Keep, and what it gives. Calls that it makes
// on its own goroutine take part in the autograd context that it was called in. What it fails with, by an error or a panic,
// its caller gets: with the code, where it is an error of gotorch's, else as gotorch.ErrCallback. Errors:
// gotorch.ErrInvalidArgument for a name that is taken, is empty or has "::" in it.
func Register(name string, function func(arguments []any) (any, error)) error {
	if function == nil {
		return invalid("rpc.Register", "the function of '%s' is nil", name)
	}
	return errorOf(context.Background(), "", "", c.RegisterRPC(name, func(scope uint64, raw []c.Value) (*c.Frame, any, error) {
		return called(name, function, scope, raw)
	}))
}

// called runs the function in the native scope that is open for it.
func called(name string, function func([]any) (any, error), scope uint64, raw []c.Value) (frame *c.Frame, result any, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			if frame != nil {
				frame.Release()
			}
			frame, result, err = nil, nil, coded(panicked(problem))
		}
	}()
	_, err = bridge.InScopeOf(c.Invocation{Scope: scope}, nil, func([]any) ([]any, error) {
		arguments := make([]any, len(raw))
		for i, value := range raw {
			arguments[i] = bridge.FromScript(value)
		}
		var err error
		if result, err = function(arguments); err != nil {
			return nil, err
		}
		frame = c.NewFrame()
		put(frame, result, name, "the result")
		return nil, nil
	})
	if err != nil && frame != nil {
		frame.Release()
		frame = nil
	}
	return frame, result, coded(err)
}

// panicked is what the caller gets of a panic in the function that called runs: text and place, as its stack is of no use there.
func panicked(problem any) error {
	err := c.ErrorOfPanic(problem)
	var made *gotorch.PanicError
	if !errors.As(err, &made) {
		return err
	}
	return fmt.Errorf("panic: %v%s", problem, placeOfPanic())
}

// placeOfPanic is where the function panicked first, on the stack of a deferred function: " (in FUNCTION, FILE:LINE)".
func placeOfPanic() string {
	callers := make([]uintptr, 256)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	place, panics := "", false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panics = true
		case strings.HasSuffix(frame.Function, "/rpc.called"):
			return place
		case panics && !strings.HasPrefix(frame.Function, "runtime."):
			panics = false
			place = fmt.Sprintf(" (in %s, %s:%d)", frame.Function, filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return place
		}
	}
}

// coded has the code of an error of gotorch's cross to the caller.
func coded(err error) error {
	var ours *gotorch.Error
	if errors.As(err, &ours) {
		return &c.CodedError{Code: int32(ours.Code), Err: err}
	}
	return err
}

// RegisterModule has workers call the methods of a module of TorchScript, as "NAME.METHOD": several at a time, as
// jit.Module says.
func RegisterModule(name string, module *jit.Module) error {
	handle, _ := bridge.Module(module)
	defer runtime.KeepAlive(module)
	return errorOf(context.Background(), "", "", c.RegisterRPCModule(name, handle))
}

// Unregister a function or a module; calls that have begun go on. False when there was none.
func Unregister(name string) (bool, error) {
	existed, failure := c.UnregisterRPC(name)
	return existed, errorOf(context.Background(), "", "", failure)
}

// put adds a value to a frame for a call named op; it panics with *gotorch.Error, and the frame is the caller's still.
func put(frame *c.Frame, value any, op, place string) {
	bridge.PutCall(frame, value, op, place, func(value any) bool {
		r, ok := value.(*RRef)
		if !ok {
			return false
		}
		if r == nil {
			frame.None()
			return true
		}
		frame.RRef(r.native(frame, op))
		return true
	})
}
