package optim

import (
	"cmp"
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// GradScaler keeps float16 gradients away from zero and infinity: it scales the loss, and leaves out the steps whose
// gradients came out infinite. A step is
//
//	if err := scaler.Scale(loss).Backward(); err != nil {
//		return err
//	}
//	if _, err := scaler.Step(optimizer); err != nil {
//		return err
//	}
//	return scaler.Update()
//
// [GradScaler.Unscale] comes before Step where a program looks at gradients, or clips them. Several optimizers may share
// one: each has its Step, then there is one Update. One goroutine at a time may use it. Source: torch.amp.GradScaler.
type GradScaler struct{ handle c.GradScaler }

// GradScalerOptions of [NewGradScaler].
type GradScalerOptions struct {
	InitScale      float64   // 0: 65536
	GrowthFactor   float64   // 0: 2, after GrowthInterval steps in a row with finite gradients
	BackoffFactor  float64   // 0: 0.5, after a step without
	GrowthInterval int       // 0: 2000
	Enabled        Opt[bool] // false: scale by one and never leave out a step
}

// NewGradScaler makes a scaler. It panics with *gotorch.Error on factors on the wrong side of one.
func NewGradScaler(options ...GradScalerOptions) *GradScaler {
	o := first(options)
	handle, err := c.CreateGradScaler(c.ScalerState{
		Scale: cmp.Or(o.InitScale, 65536), GrowthFactor: cmp.Or(o.GrowthFactor, 2), BackoffFactor: cmp.Or(o.BackoffFactor, 0.5),
		GrowthInterval: int64(cmp.Or(o.GrowthInterval, 2000)),
	}, o.Enabled.Or(true))
	bridge.Must(err)
	s := &GradScaler{handle}
	runtime.AddCleanup(s, func(handle c.GradScaler) { c.FreeGradScaler(handle) }, handle)
	return s
}

// Scale is the loss times the scale; Backward starts from it.
func (s *GradScaler) Scale(loss *gotorch.Tensor) *gotorch.Tensor {
	made, err := c.ScaleLoss(s.handle, bridge.Handle(loss, "optim.GradScaler.Scale"))
	runtime.KeepAlive(loss)
	runtime.KeepAlive(s)
	bridge.Must(err)
	return bridge.Wrap(made).(*gotorch.Tensor)
}

// Unscale divides the gradients of the optimizer's parameters by the scale. Step does it else.
func (s *GradScaler) Unscale(o *Optimizer) error {
	err := c.UnscaleGradients(s.handle, o.handle)
	runtime.KeepAlive(s)
	return o.named(err)
}

// Step steps the optimizer unless gradients are infinite or NaN, and tells whether it did.
func (s *GradScaler) Step(o *Optimizer) (stepped bool, err error) {
	stepped, failure := c.ScalerStep(s.handle, o.handle)
	runtime.KeepAlive(s)
	return stepped, o.named(failure)
}

// Update adapts the scale to what the steps since the last Update found.
func (s *GradScaler) Update() error {
	err := c.UpdateScale(s.handle, 0)
	runtime.KeepAlive(s)
	return bridge.Error(err)
}

// GradScalerState is what a checkpoint has to hold.
type GradScalerState struct {
	Scale, GrowthFactor, BackoffFactor float64
	GrowthInterval                     int
	GrowthTracker                      int // steps in a row with finite gradients
}

// State of the scaler.
func (s *GradScaler) State() GradScalerState {
	state, err := c.GetScalerState(s.handle)
	runtime.KeepAlive(s)
	bridge.Must(err)
	return GradScalerState{state.Scale, state.GrowthFactor, state.BackoffFactor, int(state.GrowthInterval),
		int(state.GrowthTracker)}
}

// LoadState goes on from a state.
func (s *GradScaler) LoadState(state GradScalerState) error {
	err := c.SetScalerState(s.handle, c.ScalerState{Scale: state.Scale, GrowthFactor: state.GrowthFactor,
		BackoffFactor: state.BackoffFactor, GrowthInterval: int64(state.GrowthInterval),
		GrowthTracker: int64(state.GrowthTracker)})
	runtime.KeepAlive(s)
	return bridge.Error(err)
}
