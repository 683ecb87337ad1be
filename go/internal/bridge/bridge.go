// Package bridge lets the module's packages reach what package gotorch keeps to itself: a tensor's handle, tensors
// around new handles, errors around failures. Package gotorch sets its variables.
package bridge

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"tandem.example/gotorch/internal/c"
	_ "tandem.example/gotorch/internal/need"
)

var (
	// Handle of a *gotorch.Tensor for a call named op; panics with *gotorch.Error when it is nil or was closed.
	Handle func(tensor any, op string) c.Tensor
	// Wrap makes a *gotorch.Tensor.
	Wrap func(c.Made) any
	// Adopt is Wrap for tensors that outlive every scope: parameters, buffers, optimizer state, files.
	Adopt func(c.Made) any
	// Scalar adds a number to the arguments of a call named op; panics with *gotorch.Error when it is none.
	Scalar func(f *c.Frame, number any, op string)
	// Generator is the handle of a *gotorch.Generator.
	Generator func(generator any) c.Generator
	// Result is a call's result as package gotorch has it.
	Result func(c.Value) any
	// FromPython is a value as gotorch.LoadPt gives it; its tensors outlive every scope. PutPython adds one to a frame for a
	// call named op; it panics with *gotorch.Error, and then releases the frame.
	FromPython func(c.Value) any
	PutPython  func(f *c.Frame, value any, op string)
	// FromScript is FromPython with tensors of the open scope. PutScript is PutPython; place is the value's in messages.
	FromScript func(c.Value) any
	PutScript  func(f *c.Frame, value any, op, place string)
	// PutCall is PutScript for what goes to another worker: bytes, and references, which rref adds; false for what is none. Where it
	// panics the frame is the caller's still.
	PutCall func(f *c.Frame, value any, op, place string, rref func(value any) bool)
	// NewRRef makes an *rpc.RRef, which frees the handle.
	NewRRef func(c.RRef) any = func(handle c.RRef) any { c.FreeRRef(handle); return nil }
	// Native is an *nn.Native around a module that LibTorch implements; its tensors that are one have one *gotorch.Tensor.
	Native func(kind string, handle c.Module, training bool) any
	// InScopeOf has body run in the native scope of a callback, with *gotorch.Tensors around the handles (nil where there
	// is none), and gives handles of that scope for the tensors that body returns.
	InScopeOf func(call c.Invocation, given []c.Made, body func(given []any) ([]any, error)) ([]c.Tensor, error)
	// Module is the handle of an nn.Module that LibTorch implements, and its type there; none for another.
	Module func(module any) (handle c.Module, kind string)
	// CreateModule makes an *nn.Native of the registry for a constructor, by options as nn.New takes them; panics with
	// *gotorch.Error, which has Go's names of the kind's options. Some of them are the constructor's parameters.
	CreateModule func(constructor, kind string, with map[string]any, options, parameters []string) any
	// MapTensors is a value with each *gotorch.Tensor in it replaced, at any depth, copied where it leads to one; it panics with
	// *gotorch.Error. MayHoldTensor tells whether values of a type may have some.
	MapTensors    func(value reflect.Value, replace func(tensor any) any) reflect.Value
	MayHoldTensor func(t reflect.Type) bool
	// Optimizer is the handle of an *optim.Optimizer.
	Optimizer func(optimizer any) c.Optimizer
	// NewOptimizer makes an *optim.Optimizer of those []*gotorch.Tensor, which frees the handle when it is collected.
	NewOptimizer func(kind string, handle c.Optimizer, parameters any) any
	// Store is the handle of a *dist.Store, which done releases.
	Store func(store any) (handle c.Store, done func(), err error)
	// UseGroup runs a call that waits for other ranks with the handle of a *dist.ProcessGroup, which stays open meanwhile: when
	// ctx ends the group is aborted.
	UseGroup func(ctx context.Context, group any, op string, call func(c.ProcessGroup) *c.Failure) error
	// NewGroup makes a *dist.ProcessGroup, which ctx aborts.
	NewGroup func(ctx context.Context, handle c.ProcessGroup, deviceKind, deviceIndex int32) any
	// Content of a *checkpoint.State, for a commit; use has its tensors until it returns. Fill puts one into the state.
	Content func(state any, use func(tensors []c.CheckpointTensor, values string) error) error
	Fill    func(state any, found *c.LoadedCheckpoint) error
	// Error makes the *gotorch.Error for a failure, nil for nil.
	Error func(*c.Failure) error
)

// Must panics with *gotorch.Error unless the failure is nil.
func Must(failure *c.Failure) {
	if failure != nil {
		panic(Error(failure))
	}
}

// Operator of LibTorch's dispatcher, looked up at its first call.
type Operator struct {
	Name, Overload string
	found          atomic.Pointer[byte]
}

// NewOperator by name ("aten::add") and overload ("Tensor", "" for none). Looks nothing up.
func NewOperator(name, overload string) *Operator { return &Operator{Name: name, Overload: overload} }

// Find looks the operator up, once.
func (o *Operator) Find() (c.Op, *c.Failure) {
	if found := o.found.Load(); found != nil {
		return c.Op(unsafe.Pointer(found)), nil
	}
	op, err := c.FindOp(o.Name, o.Overload)
	if err != nil {
		return nil, o.Named(err)
	}
	o.found.Store((*byte)(unsafe.Pointer(op)))
	return op, nil
}

// Named puts the operator's name into a failure of its call, once: the C ABI's message begins with it.
func (o *Operator) Named(err *c.Failure) *c.Failure {
	if err != nil {
		err.Op = o.Name
		if o.Overload != "" {
			err.Op += "." + o.Overload
		}
		err.Message = strings.TrimPrefix(err.Message, err.Op+": ")
	}
	return err
}

// One calls an operator whose one result is a tensor; panics with *gotorch.Error. Callers keep the Go side of its
// arguments alive until it returns.
func (o *Operator) One(f *c.Frame) c.Made {
	op, err := o.Find()
	Must(err)
	made, err := c.CallOne(op, f)
	if err != nil {
		Must(o.Named(err))
	}
	return made
}

// OfTensors calls an operator of one to three tensors, those after count nil, whose one result is a tensor; panics with
// *gotorch.Error. Callers keep the Go side of its arguments alive until it returns.
func (o *Operator) OfTensors(count int, first, second, third c.Tensor) c.Made {
	op, err := o.Find()
	Must(err)
	made, err := c.CallTensors(op, count, first, second, third)
	if err != nil {
		Must(o.Named(err))
	}
	return made
}

// All calls any operator; panics with *gotorch.Error.
func (o *Operator) All(f *c.Frame) []c.Value {
	op, err := o.Find()
	Must(err)
	values, err := c.Call(op, f)
	if err != nil {
		Must(o.Named(err))
	}
	return values
}

const invalidArgument = 2 // TDM_ERROR_INVALID_ARGUMENT

// Given tells whether a function's options, of which it takes one struct, were given. Panics with *gotorch.Error when
// there are several: which of them holds nobody could tell.
func Given(count int) bool {
	if count > 1 {
		tooMany(count)
	}
	return count == 1
}

// First of a function's optional options.
func First[T any](options []T) (chosen T) {
	if Given(len(options)) {
		chosen = options[0]
	}
	return chosen
}

// One is [First] for functions that return errors.
func One[T any](options []T) (chosen T, err error) {
	if len(options) > 1 {
		return chosen, Error(several(len(options)))
	}
	return First(options), nil
}

// Apart, so that Given costs each operator no call.
func tooMany(count int) { Must(several(count)) }

func several(count int) *c.Failure {
	return &c.Failure{Code: invalidArgument, Op: "options", Message: strconv.Itoa(count) + " structs of options were given to " +
		"one call, which takes one; put all that is set into one"}
}
