package optim_test

import (
	"errors"
	"math"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/optim"
)

func TestOptimizersMinimize(t *testing.T) {
	for name, make := range map[string]func([]*gotorch.Tensor) *optim.Optimizer{
		"SGD": func(p []*gotorch.Tensor) *optim.Optimizer { return optim.SGD(p, 0.1) },
		"SGD with momentum": func(p []*gotorch.Tensor) *optim.Optimizer {
			return optim.SGD(p, 0.02, optim.SGDOptions{Momentum: 0.9, Nesterov: true})
		},
		"Adam": func(p []*gotorch.Tensor) *optim.Optimizer {
			return optim.Adam(p, 0.2, optim.AdamOptions{Betas: optim.Some([2]float64{0.8, 0.9})})
		},
		"AdamW": func(p []*gotorch.Tensor) *optim.Optimizer {
			return optim.AdamW(p, 0.2, optim.AdamOptions{WeightDecay: optim.Some(0.0)})
		},
		"Adagrad":  func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Adagrad(p, 1) },
		"RMSprop":  func(p []*gotorch.Tensor) *optim.Optimizer { return optim.RMSprop(p, 0.05) },
		"Adadelta": func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Adadelta(p, 20) },
		"Adamax":   func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Adamax(p, 0.1) },
		"NAdam":    func(p []*gotorch.Tensor) *optim.Optimizer { return optim.NAdam(p, 0.1) },
		"RAdam":    func(p []*gotorch.Tensor) *optim.Optimizer { return optim.RAdam(p, 0.2) },
		"ASGD":     func(p []*gotorch.Tensor) *optim.Optimizer { return optim.ASGD(p, 0.1) },
		"Rprop":    func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Rprop(p, 0.1) },
		"Adafactor": func(p []*gotorch.Tensor) *optim.Optimizer {
			return optim.Adafactor(p, 0.5, optim.AdafactorOptions{Beta2Decay: optim.Some(-0.5)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := gotorch.From([]float32{3, -4}).SetRequiresGrad(true)
			optimizer := make([]*gotorch.Tensor{x})
			for range 200 {
				gotorch.Scope(func() {
					if err := optimizer.Minimize(x.SubScalar(1).PowScalar(2).Sum()); err != nil {
						t.Fatal(err)
					}
				})
			}
			for _, value := range gotorch.ToSlice[float32](x) {
				if math.Abs(float64(value)-1) > 0.1 {
					t.Fatalf("ends at %v, not near 1", gotorch.ToSlice[float32](x))
				}
			}
		})
	}
}

// One step of SGD with momentum and weight decay, by hand.
func TestSGDStep(t *testing.T) {
	x := gotorch.From([]float64{1}).SetRequiresGrad(true)
	sgd := optim.SGD([]*gotorch.Tensor{x}, 0.1, optim.SGDOptions{Momentum: 0.5, WeightDecay: 0.2})
	want, velocity := 1.0, 0.0
	for range 3 {
		if err := sgd.Minimize(x.MulScalar(3).Sum()); err != nil {
			t.Fatal(err)
		}
		velocity = 0.5*velocity + 3 + 0.2*want
		want -= 0.1 * velocity
	}
	if got := x.Item(); math.Abs(got-want) > 1e-12 {
		t.Fatal(got, want)
	}
}

// Muon of a matrix, and SparseAdam of an embedding, with settings of every kind.
func TestMuonAndSparseAdam(t *testing.T) {
	w := gotorch.From([]float32{1, 0, 0, 2}, 2, 2).SetRequiresGrad(true)
	muon := optim.Muon([]*gotorch.Tensor{w}, 0.1, optim.MuonOptions{WeightDecay: optim.Some(0.0), Nesterov: optim.Some(false),
		NSCoefficients: optim.Some([3]float64{2, -1.5, 0.5}), NSSteps: optim.Some(30), AdjustLRFn: "match_rms_adamw"})
	if err := muon.Minimize(w.PowScalar(2).Sum()); err != nil {
		t.Fatal(err)
	}
	// The gradient's singular values become 1, and a step 0.2 * sqrt(2) times as long.
	step := 0.1 * 0.2 * math.Sqrt2
	want := []float64{1 - step, 0, 0, 2 - step}
	for i, value := range gotorch.ToSlice[float32](w) {
		if math.Abs(float64(value)-want[i]) > 1e-3 {
			t.Fatalf("%v, not %v", gotorch.ToSlice[float32](w), want)
		}
	}
	for name, value := range map[string]any{"ns_steps": int64(30), "nesterov": false, "adjust_lr_fn": "match_rms_adamw",
		"ns_coefficients": [3]float64{2, -1.5, 0.5}, "weight_decay": 0.0} {
		if got, err := muon.Setting(0, name); err != nil || got != value {
			t.Errorf("%s is %v (%T), not %v: %v", name, got, got, value, err)
		}
	}
	if err := muon.Set(0, "adjust_lr_fn", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := muon.Setting(0, "adjust_lr_fn"); err != nil || got != nil {
		t.Fatal(got, err)
	}
	for name, value := range map[string]any{"adjust_lr_fn": "original", "ns_coefficients": [3]float64{1, 2, 3}} {
		if err := muon.Set(0, name, value); err != nil {
			t.Fatal(err)
		}
	}

	table := gotorch.Ones([]int{3, 2}).SetRequiresGrad(true)
	adam := optim.SparseAdam([]*gotorch.Tensor{table}, 0.1, optim.SparseAdamOptions{Eps: optim.Some(1e-6)})
	if err := adam.Minimize(table.Sum()); !errors.Is(err, gotorch.ErrUnsupported) {
		t.Fatalf("a dense gradient: %v", err)
	}
}

func TestLearningRateAndState(t *testing.T) {
	run := func(optimizer *optim.Optimizer, x *gotorch.Tensor, steps int) {
		for range steps {
			if err := optimizer.Minimize(x.PowScalar(2).Sum()); err != nil {
				t.Fatal(err)
			}
		}
	}
	a := gotorch.From([]float32{5, 6}).SetRequiresGrad(true)
	first := optim.Adam([]*gotorch.Tensor{a}, 0.5)
	run(first, a, 3)
	if err := first.SetLR(0.25); err != nil || first.LR() != 0.25 {
		t.Fatal(err, first.LR())
	}
	state, err := first.State()
	if err != nil || len(state) == 0 {
		t.Fatal(state, err)
	}
	b := gotorch.From(gotorch.ToSlice[float32](a)).SetRequiresGrad(true)
	second := optim.Adam([]*gotorch.Tensor{b}, 0.25)
	if err := second.LoadState(state); err != nil {
		t.Fatal(err)
	}
	run(first, a, 3)
	run(second, b, 3)
	if !a.Equal(b) {
		t.Fatalf("%v and %v after the same steps", gotorch.ToSlice[float32](a), gotorch.ToSlice[float32](b))
	}
	if err := second.LoadState(map[string]*gotorch.Tensor{"9.exp_avg": a.Detach()}); err == nil {
		t.Fatal("state of a parameter that is not there was taken")
	}
}

func TestMisuse(t *testing.T) {
	x := gotorch.From([]float32{1}).SetRequiresGrad(true)
	if err := gotorch.Try(func() { optim.SGD([]*gotorch.Tensor{x}, -1) }); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal(err)
	}
	y := gotorch.From([]float32{1}).SetRequiresGrad(true)
	y.Close()
	if err := gotorch.Try(func() { optim.SGD([]*gotorch.Tensor{y}, 1) }); !errors.Is(err, gotorch.ErrClosed) {
		t.Fatal(err)
	}
}
