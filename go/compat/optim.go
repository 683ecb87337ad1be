package gotorch

import (
	core "tandem.example/gotorch"
	"tandem.example/gotorch/compat/internal/panics"
	"tandem.example/gotorch/optim"
)

// Optimizer changes parameters by their gradients. Copies of it are the same optimizer.
type Optimizer struct {
	Opt *state
}

// state of an optimizer: Tandem has none without parameters.
type state struct {
	native *optim.Optimizer // nil before AddParameters
	create func(parameters []*core.Tensor, lr float64) *optim.Optimizer
	lr     float64 // until then
}

// SGD is stochastic gradient descent, without parameters at first. Source: torch.optim.SGD.
func SGD(lr, momentum, dampening, weightDecay float64, nesterov bool) Optimizer {
	options := optim.SGDOptions{Momentum: momentum, Dampening: dampening, WeightDecay: weightDecay, Nesterov: nesterov}
	return Optimizer{&state{lr: lr, create: func(parameters []*core.Tensor, lr float64) *optim.Optimizer {
		return optim.SGD(parameters, lr, options)
	}}}
}

// Adam steps by moving averages of gradients, without parameters at first. Source: torch.optim.Adam.
func Adam(lr, beta1, beta2, weightDecay float64) Optimizer {
	options := optim.AdamOptions{Betas: core.Some([2]float64{beta1, beta2}), WeightDecay: core.Some(weightDecay)}
	return Optimizer{&state{lr: lr, create: func(parameters []*core.Tensor, lr float64) *optim.Optimizer {
		return optim.Adam(parameters, lr, options)
	}}}
}

// Unwrap is Tandem's optimizer, nil before AddParameters.
func (opt Optimizer) Unwrap() *optim.Optimizer { return opt.Opt.native }

// AddParameters has the optimizer step more parameters, with the settings that it was made with. Settings that it does
// not take panic here.
func (opt Optimizer) AddParameters(tensors []Tensor) {
	defer panics.AsText()
	parameters := make([]*core.Tensor, len(tensors))
	for i, t := range tensors {
		parameters[i] = t.unwrap("AddParameters")
	}
	if s := opt.Opt; s.native == nil {
		s.native = s.create(parameters, s.lr)
	} else {
		panics.Must(s.native.AddGroup(parameters, nil))
	}
}

// ZeroGrad removes the gradients.
func (opt Optimizer) ZeroGrad() {
	if native := opt.Opt.native; native != nil {
		panics.Must(native.ZeroGrad())
	}
}

// Step changes the parameters.
func (opt Optimizer) Step() {
	if native := opt.Opt.native; native != nil {
		panics.Must(native.Step())
	}
}

// SetLR sets the learning rate of all parameters; before there are any, of the first that are added.
func (opt Optimizer) SetLR(lr float64) {
	if native := opt.Opt.native; native != nil {
		panics.Must(native.SetLR(lr))
	} else {
		opt.Opt.lr = lr
	}
}

// Close does nothing: the collector frees optimizers.
func (opt Optimizer) Close() {}
