// Package optim has optimizers, schedulers of learning rates and averages of weights. Constructors panic with *gotorch.Error on options that an optimizer does not take;
// steps return errors.
package optim

import (
	"runtime"
	"slices"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

// Opt is an optional option; see gotorch.Opt.
type Opt[T any] = gotorch.Opt[T]

// Some is an option that is set.
func Some[T any](value T) Opt[T] { return gotorch.Some(value) }

// Optimizer changes parameters by their gradients. One goroutine at a time may use it.
type Optimizer struct {
	kind       string
	handle     c.Optimizer
	parameters []*gotorch.Tensor
}

// handlesOf panics where a parameter was closed.
func handlesOf(parameters []*gotorch.Tensor, kind string) []c.Tensor {
	handles := make([]c.Tensor, len(parameters))
	for i, t := range parameters {
		handles[i] = bridge.Handle(t, kind)
	}
	return handles
}

func adopt(kind string, handle c.Optimizer, parameters []*gotorch.Tensor) *Optimizer {
	optimizer := &Optimizer{kind, handle, slices.Clone(parameters)}
	runtime.AddCleanup(optimizer, func(handle c.Optimizer) { c.FreeOptimizer(handle) }, handle)
	return optimizer
}

func init() {
	bridge.Optimizer = func(optimizer any) c.Optimizer { return optimizer.(*Optimizer).handle }
	bridge.NewOptimizer = func(kind string, handle c.Optimizer, parameters any) any {
		return adopt(kind, handle, parameters.([]*gotorch.Tensor))
	}
}

// named puts the optimizer's name into an error.
func (o *Optimizer) named(err *c.Failure) error {
	runtime.KeepAlive(o)
	if err == nil {
		return nil
	}
	name := names.Operation(err.Op)
	err.Op = o.kind + "." + name[strings.LastIndexByte(name, '.')+1:]
	return bridge.Error(err)
}

// Parameters are those that it changes, one group after the other: [Optimizer.State] numbers them so.
func (o *Optimizer) Parameters() []*gotorch.Tensor { return slices.Clone(o.parameters) }

// Step changes the parameters by their gradients.
func (o *Optimizer) Step() error { return o.named(c.Step(o.handle)) }

// StepClosure calls closure, which forgets the gradients, computes the loss, a tensor of one number, and calls Backward; then
// it steps. [LBFGS] calls it several times. It gives the loss of the first call. What closure makes is freed when it returns,
// but what it Keeps. An error of closure, or a panic, ends the step: parameters are where they were then, and StepClosure
// returns a *gotorch.CallbackError.
//
//	loss, err := lbfgs.StepClosure(func() (*gotorch.Tensor, error) {
//		if err := lbfgs.ZeroGrad(); err != nil {
//			return nil, err
//		}
//		loss := F.MSELoss(model.Forward(x), y)
//		return loss, loss.Backward()
//	})
func (o *Optimizer) StepClosure(closure func() (*gotorch.Tensor, error)) (*gotorch.Tensor, error) {
	loss, err := c.StepClosure(o.handle, func(call c.Invocation) ([]c.Tensor, error) {
		return bridge.InScopeOf(call, nil, func([]any) ([]any, error) {
			loss, err := closure()
			return []any{loss}, err
		})
	})
	if failure := o.named(err); failure != nil {
		return nil, failure
	}
	return bridge.Wrap(loss).(*gotorch.Tensor), nil
}

// ZeroGrad forgets the gradients. Call it before each Backward.
func (o *Optimizer) ZeroGrad() error { return o.named(c.ZeroGrad(o.handle, true)) }

// Minimize is a whole step: ZeroGrad, loss.Backward, Step.
func (o *Optimizer) Minimize(loss *gotorch.Tensor) error {
	if err := o.ZeroGrad(); err != nil {
		return err
	}
	if err := loss.Backward(); err != nil {
		return err
	}
	return o.Step()
}

// State is what the optimizer remembers, by names such as "0.momentum_buffer", sharing storage. Empty before the first
// step.
func (o *Optimizer) State() (map[string]*gotorch.Tensor, error) {
	list, err := c.OptimizerState(o.handle)
	if err != nil {
		return nil, o.named(err)
	}
	return adoptNamed(list), nil
}

func adoptNamed(list []c.Named) map[string]*gotorch.Tensor {
	state := make(map[string]*gotorch.Tensor, len(list))
	for _, one := range list {
		state[one.Name] = bridge.Adopt(one.Tensor).(*gotorch.Tensor)
	}
	return state
}

// splitNamed fails where a tensor was closed.
func splitNamed(state map[string]*gotorch.Tensor, op string) (names []string, handles []c.Tensor, err error) {
	err = gotorch.Try(func() {
		for name, t := range state {
			names = append(names, name)
			handles = append(handles, bridge.Handle(t, op))
		}
	})
	return names, handles, err
}

// LoadState replaces what the optimizer remembers by copies.
func (o *Optimizer) LoadState(state map[string]*gotorch.Tensor) error {
	names, handles, err := splitNamed(state, o.kind)
	if err != nil {
		return err
	}
	failure := c.LoadOptimizerState(o.handle, names, handles)
	runtime.KeepAlive(state)
	return o.named(failure)
}

// StateDict is the state as Python's optimizer.state_dict() has it, the options of all groups included: of names "state"
// and "param_groups", for gotorch.SavePt. Its tensors share storage with the optimizer. [Optimizer.State] has tensors
// alone.
func (o *Optimizer) StateDict() (map[string]any, error) {
	value, err := c.OptimizerStateDict(o.handle)
	if err != nil {
		return nil, o.named(err)
	}
	runtime.KeepAlive(o)
	return bridge.FromPython(value).(map[string]any), nil
}

// LoadStateDict takes over what StateDict, or Python's state_dict(), gave, as gotorch.LoadPt reads it: options of all groups,
// and copies of tensors. All or nothing: ErrInvalidArgument where groups have other numbers of parameters, or there is
// what this optimizer has not.
func (o *Optimizer) LoadStateDict(state any) error {
	return gotorch.Try(func() {
		f := c.NewFrame()
		bridge.PutPython(f, state, o.kind+".LoadStateDict")
		err := c.LoadOptimizerStateDict(o.handle, f)
		runtime.KeepAlive(state)
		if failure := o.named(err); failure != nil {
			panic(failure)
		}
	})
}
