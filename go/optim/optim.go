// Package optim has optimizers. Constructors panic with *gotorch.Error on options that an optimizer does not take;
// steps return errors.
package optim

import (
	"runtime"
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
	kind   string
	handle c.Optimizer
}

type options struct {
	frame *c.Frame
	given []string
}

func begin(lr float64) options { return options{frame: c.NewFrame()}.double("lr", lr) }

func (o options) name(name string) options {
	o.given = append(o.given, name)
	o.frame.Name(name)
	return o
}

func (o options) double(name string, x float64) options {
	o = o.name(name)
	o.frame.Double(x)
	return o
}

func (o options) optDouble(name string, x Opt[float64]) options {
	if x, ok := x.Get(); ok {
		return o.double(name, x)
	}
	return o
}

func (o options) bool(name string, b bool) options {
	o = o.name(name)
	o.frame.Bool(b)
	return o
}

func (o options) doubles(name string, list Opt[[2]float64]) options {
	if list, ok := list.Get(); ok {
		o = o.name(name)
		o.frame.Doubles(list[:])
	}
	return o
}

// handlesOf panics where a parameter was closed.
func handlesOf(parameters []*gotorch.Tensor, kind string) []c.Tensor {
	handles := make([]c.Tensor, len(parameters))
	for i, t := range parameters {
		handles[i] = bridge.Handle(t, kind)
	}
	return handles
}

func (o options) create(kind string, parameters []*gotorch.Tensor) *Optimizer {
	handle, err := c.CreateOptimizer(kind, handlesOf(parameters, kind), o.frame)
	runtime.KeepAlive(parameters)
	if err != nil {
		err.Op, err.Message = "optim."+kind, names.Options(strings.TrimPrefix(err.Message, kind+": "),
			append(o.given, "beta1", "beta2"), map[string]string{"lr": "lr", "beta1": "Betas[0]", "beta2": "Betas[1]"})
		bridge.Must(err)
	}
	return adopt(kind, handle)
}

func adopt(kind string, handle c.Optimizer) *Optimizer {
	optimizer := &Optimizer{kind, handle}
	runtime.AddCleanup(optimizer, func(handle c.Optimizer) { c.FreeOptimizer(handle) }, handle)
	return optimizer
}

func init() {
	bridge.Optimizer = func(optimizer any) c.Optimizer { return optimizer.(*Optimizer).handle }
	bridge.NewOptimizer = func(kind string, handle c.Optimizer) any { return adopt(kind, handle) }
}

func first[T any](options []T) T { return bridge.First(options) }

// SGDOptions of [SGD].
type SGDOptions struct {
	Momentum, Dampening, WeightDecay float64
	Nesterov                         bool
}

// SGD is stochastic gradient descent. Source: torch.optim.SGD.
func SGD(parameters []*gotorch.Tensor, lr float64, more ...SGDOptions) *Optimizer {
	o := first(more)
	return begin(lr).double("momentum", o.Momentum).double("dampening", o.Dampening).
		double("weight_decay", o.WeightDecay).bool("nesterov", o.Nesterov).create("SGD", parameters)
}

// AdamOptions of [Adam] and [AdamW].
type AdamOptions struct {
	Betas       Opt[[2]float64]
	Eps         Opt[float64]
	WeightDecay Opt[float64] // unset: 0, of AdamW 0.01
	AMSGrad     bool
}

func (o AdamOptions) create(kind string, parameters []*gotorch.Tensor, lr float64) *Optimizer {
	return begin(lr).doubles("betas", o.Betas).optDouble("eps", o.Eps).optDouble("weight_decay", o.WeightDecay).
		bool("amsgrad", o.AMSGrad).create(kind, parameters)
}

// Adam adapts each parameter's step to its gradients' first two moments. Source: torch.optim.Adam.
func Adam(parameters []*gotorch.Tensor, lr float64, more ...AdamOptions) *Optimizer {
	return first(more).create("Adam", parameters, lr)
}

// AdamW is Adam with decoupled weight decay. Source: torch.optim.AdamW.
func AdamW(parameters []*gotorch.Tensor, lr float64, more ...AdamOptions) *Optimizer {
	return first(more).create("AdamW", parameters, lr)
}

// AdagradOptions of [Adagrad].
type AdagradOptions struct {
	LRDecay, WeightDecay, InitialAccumulatorValue float64
	Eps                                           Opt[float64]
}

// Adagrad divides steps by the root of the sum of squared gradients. Source: torch.optim.Adagrad.
func Adagrad(parameters []*gotorch.Tensor, lr float64, more ...AdagradOptions) *Optimizer {
	o := first(more)
	return begin(lr).double("lr_decay", o.LRDecay).double("weight_decay", o.WeightDecay).
		double("initial_accumulator_value", o.InitialAccumulatorValue).optDouble("eps", o.Eps).
		create("Adagrad", parameters)
}

// RMSpropOptions of [RMSprop].
type RMSpropOptions struct {
	Alpha, Eps            Opt[float64]
	WeightDecay, Momentum float64
	Centered              bool
}

// RMSprop divides steps by the root of a running mean of squared gradients. Source: torch.optim.RMSprop.
func RMSprop(parameters []*gotorch.Tensor, lr float64, more ...RMSpropOptions) *Optimizer {
	o := first(more)
	return begin(lr).optDouble("alpha", o.Alpha).optDouble("eps", o.Eps).double("weight_decay", o.WeightDecay).
		double("momentum", o.Momentum).bool("centered", o.Centered).create("RMSprop", parameters)
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

// Step changes the parameters by their gradients.
func (o *Optimizer) Step() error { return o.named(c.Step(o.handle)) }

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
	state := make(map[string]*gotorch.Tensor, len(list))
	for _, one := range list {
		state[one.Name] = bridge.Adopt(one.Tensor).(*gotorch.Tensor)
	}
	return state, nil
}

// LoadState replaces what the optimizer remembers by copies.
func (o *Optimizer) LoadState(state map[string]*gotorch.Tensor) error {
	names := make([]string, 0, len(state))
	handles := make([]c.Tensor, 0, len(state))
	if err := gotorch.Try(func() {
		for name, t := range state {
			names = append(names, name)
			handles = append(handles, bridge.Handle(t, o.kind))
		}
	}); err != nil {
		return err
	}
	err := c.LoadOptimizerState(o.handle, names, handles)
	runtime.KeepAlive(state)
	return o.named(err)
}
