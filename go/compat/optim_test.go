package gotorch_test

import (
	"testing"

	core "tandem.example/gotorch"
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn/initializer"
	"tandem.example/gotorch/optim"
)

// Both step alike: the original's options by position are Tandem's by name.
func TestOptimizers(t *testing.T) {
	for name, c := range map[string]struct {
		compat torch.Optimizer
		native func(x *core.Tensor) *optim.Optimizer
	}{
		"SGD": {torch.SGD(0.1, 0.9, 0, 0.01, true), func(x *core.Tensor) *optim.Optimizer {
			return optim.SGD([]*core.Tensor{x}, 0.1, optim.SGDOptions{Momentum: 0.9, WeightDecay: 0.01, Nesterov: true})
		}},
		"SGD with dampening": {torch.SGD(0.1, 0.9, 0.5, 0, false), func(x *core.Tensor) *optim.Optimizer {
			return optim.SGD([]*core.Tensor{x}, 0.1, optim.SGDOptions{Momentum: 0.9, Dampening: 0.5})
		}},
		"Adam": {torch.Adam(0.1, 0.5, 0.99, 0.02), func(x *core.Tensor) *optim.Optimizer {
			return optim.Adam([]*core.Tensor{x}, 0.1, optim.AdamOptions{Betas: core.Some([2]float64{0.5, 0.99}),
				WeightDecay: core.Some(0.02)})
		}},
	} {
		initializer.ManualSeed(5)
		x, y := torch.RandN([]int64{4}, true), torch.Tensor{}
		y = torch.Wrap(x.Unwrap().Detach().Clone().SetRequiresGrad(true))
		c.compat.AddParameters([]torch.Tensor{x})
		native := c.native(y.Unwrap())
		for range 3 {
			c.compat.ZeroGrad()
			for _, p := range []torch.Tensor{x, y} {
				p.Unwrap().SetGrad(nil)
				loss := torch.Sum(p.Mul(p))
				loss.Backward()
			}
			c.compat.Step()
			if err := native.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if !torch.Equal(x, y) {
			t.Error(name, x, y)
		}
		c.compat.Close()
	}
}

func TestGroups(t *testing.T) {
	x, y := torch.Ones([]int64{1}, true), torch.Ones([]int64{1}, true)
	opt := torch.SGD(0.1, 0, 0, 0, false)
	opt.SetLR(1)
	opt.ZeroGrad()
	opt.Step()
	if opt.Unwrap() != nil {
		t.Error("an optimizer without parameters")
	}
	opt.AddParameters([]torch.Tensor{x})
	opt.AddParameters([]torch.Tensor{y})
	opt.SetLR(0.5)
	total := x.Add(y, 1)
	total.Backward()
	opt.Step()
	wantText(t, x.Add(y, 10), " 5.5000\n[ CPUFloatType{1} ]")
	opt.ZeroGrad()
	if x.Grad().Unwrap() != nil {
		t.Error("the gradient is still there")
	}
	wantPanic(t, "", func() { opt.AddParameters([]torch.Tensor{x}) })
	wantPanic(t, "Nesterov", func() { torch.SGD(0.1, 0, 0, 0, true).AddParameters([]torch.Tensor{x}) })
	wantPanic(t, "not defined", func() { opt.AddParameters([]torch.Tensor{{}}) })
}
