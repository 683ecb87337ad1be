package jit

import (
	"reflect"
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
)

// Trace calls function once with inputs, and makes a module whose forward computes again what it computed:
//
//	module, err := jit.Trace(model.Forward, images, model)
//
// In and Out are tensors, or structs, slices, arrays and maps of them, as dist.Forward takes them: the new module's
// forward takes the tensors of In one after the other, and gives the tensor of Out, or a tuple of them. Tensors that
// function uses besides its inputs become the new module's own parameters and buffers where they are those of
// `modules`, with which it then shares them; others become constants. Names are those that the modules have in Go; of
// several, give a struct that has them.
//
// Choices that depend on the inputs' values or sizes are made once, here; so train or evaluate modules first, as the
// new one is to compute. function runs as [gotorch.Tensor.RegisterHook] says of callbacks, on this goroutine.
// ErrInvalidArgument for a parameter that trains and is not of `modules`, and for an output that does not come from
// the inputs; ErrCallback for an error of function, or a panic. Source: torch.jit.trace.
func Trace[In, Out any](function func(inputs In) Out, inputs In, modules ...nn.Module) (*Module, error) {
	const op = "jit.Trace"
	var handle c.Module
	var failure *c.Failure
	given := tensorsIn(&inputs)
	err := gotorch.Try(func() {
		var parameters, buffers c.NamedHandles
		for _, module := range modules {
			add(&parameters, nn.NamedParameters(module), op)
			add(&buffers, nn.NamedBuffers(module), op)
		}
		handles := make([]c.Tensor, len(given))
		for i, t := range given {
			handles[i] = bridge.Handle(t, op)
		}
		handle, failure = c.TraceScript(handles, parameters, buffers, func(call c.Invocation) ([]c.Tensor, error) {
			return bridge.InScopeOf(call, call.Inputs, func(own []any) ([]any, error) {
				output := function(withTensors(&inputs, own))
				var results []any
				for _, t := range tensorsIn(&output) {
					results = append(results, t)
				}
				return results, nil
			})
		})
	})
	runtime.KeepAlive(given)
	runtime.KeepAlive(modules)
	if err != nil {
		return nil, err
	}
	return made(handle, failure)
}

func add(to *c.NamedHandles, named []nn.Named, op string) {
	for _, one := range named {
		to.Names = append(to.Names, one.Name)
		to.Tensors = append(to.Tensors, bridge.Handle(one.Tensor, op))
	}
}

// tensorsIn lists the tensors in a value, at any depth; nil where one is not there.
func tensorsIn[T any](value *T) (list []*gotorch.Tensor) {
	bridge.MapTensors(reflect.ValueOf(value).Elem(), func(t any) any {
		list = append(list, t.(*gotorch.Tensor))
		return t
	})
	return list
}

// withTensors is a value with those tensors, in the order of tensorsIn.
func withTensors[T any](value *T, tensors []any) (copied T) {
	reflect.ValueOf(&copied).Elem().Set(bridge.MapTensors(reflect.ValueOf(value).Elem(), func(any) any {
		next := tensors[0]
		tensors = tensors[1:]
		return next
	}))
	return copied
}
