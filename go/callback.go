package gotorch

import (
	"fmt"
	"runtime"

	"tandem.example/gotorch/internal/c"
)

// CallbackError is the error, of code [ErrCallback], of what called a function of the program that failed: Backward
// when a hook did. Cause is what that returned or panicked with, a *[PanicError] around what is no error; errors.Is
// and errors.As find it.
type CallbackError struct {
	failure *Error
	Cause   error
}

// Error says what failed, and why.
func (e *CallbackError) Error() string { return e.failure.Error() }

// Unwrap gives the *[Error] of the call that failed, and the cause.
func (e *CallbackError) Unwrap() []error { return []error{e.failure, e.Cause} }

// PanicError is the cause of a [CallbackError] when the function panicked with something that is no error, or when
// Go had it panic (an index out of range, a nil map).
type PanicError struct {
	Value any
	Stack []byte // where it panicked
}

// Error is "panic: VALUE", and the stack below.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap is the value, when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func init() {
	c.PanicError = func(value any, stack []byte) error { return &PanicError{value, stack} }
}

// inCallback calls body, with tensors for the handles that native code gave, in the native scope that is open for it:
// the tensors that body makes go with it, but those it keeps. Results are nil or tensors of any scope.
func inCallback(call c.Invocation, body func(inputs []*Tensor) ([]*Tensor, error)) ([]c.Tensor, error) {
	slot := scopeSlot(call.Scope)
	slot.Store(call.Scope)
	defer slot.Store(0)
	results, err := body(wrapAll(call.Inputs))
	if err != nil {
		return nil, err
	}
	return shareAll(results), nil
}

// inScopeOf is inCallback for other packages.
func inScopeOf(call c.Invocation, given []c.Made, body func([]any) ([]any, error)) ([]c.Tensor, error) {
	call.Inputs = given
	return inCallback(call, func(inputs []*Tensor) ([]*Tensor, error) {
		boxed := make([]any, len(inputs))
		for i, t := range inputs {
			if t != nil {
				boxed[i] = t
			}
		}
		results, err := body(boxed)
		tensors := make([]*Tensor, len(results))
		for i, t := range results {
			tensors[i], _ = t.(*Tensor)
		}
		return tensors, err
	})
}

// wrapAll takes new handles; nil where there is none.
func wrapAll(made []c.Made) []*Tensor {
	tensors := make([]*Tensor, len(made))
	for i, m := range made {
		if m.Handle != nil {
			tensors[i] = wrap(m)
		}
	}
	return tensors
}

// shareAll makes handles that live as long as the scope that is open here, whatever becomes of the tensors.
func shareAll(tensors []*Tensor) []c.Tensor {
	shared := make([]c.Tensor, len(tensors))
	for i, t := range tensors {
		if t == nil {
			continue
		}
		made, err := c.Share(t.handle("a callback"))
		runtime.KeepAlive(t)
		must(err)
		shared[i] = made.Handle
	}
	return shared
}
