package optim_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/optim"
)

func TestGradScaler(t *testing.T) {
	w := gotorch.From([]float32{1}).SetRequiresGrad(true)
	sgd := optim.SGD([]*gotorch.Tensor{w}, 0.5)
	scaler := optim.NewGradScaler(optim.GradScalerOptions{InitScale: 8.0, GrowthInterval: 2})
	step := func(factor float64) bool {
		t.Helper()
		stepped := false
		gotorch.Scope(func() {
			if err := sgd.ZeroGrad(); err != nil {
				t.Fatal(err)
			}
			if err := scaler.Scale(w.MulScalar(factor)).Backward(); err != nil {
				t.Fatal(err)
			}
			var err error
			if stepped, err = scaler.Step(sgd); err != nil {
				t.Fatal(err)
			}
			if err := scaler.Update(); err != nil {
				t.Fatal(err)
			}
		})
		return stepped
	}
	if !step(2) || w.Item() != 0 || scaler.State().Scale != 8 {
		t.Fatal("a step: ", w, scaler.State())
	}
	if !step(2) || w.Item() != -1 || scaler.State().Scale != 16 {
		t.Fatal("a second step: ", w, scaler.State())
	}
	if step(math.Inf(1)) || w.Item() != -1 || scaler.State().Scale != 8 {
		t.Fatal("an infinite gradient: ", w, scaler.State())
	}
	if step(math.NaN()) || w.Item() != -1 || scaler.State().Scale != 4 {
		t.Fatal("a gradient that is NaN: ", w, scaler.State())
	}

	if !step(0) {
		t.Fatal("a gradient of zero is finite")
	}
	saved := scaler.State()
	other := optim.NewGradScaler()
	if err := other.LoadState(saved); err != nil {
		t.Fatal(err)
	}
	if other.State() != saved || saved.GrowthTracker != 1 {
		t.Fatal(other.State(), saved)
	}
	saved.BackoffFactor = 2
	if err := other.LoadState(saved); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal(err)
	}
}

func TestGradScalerKeepsTheOrder(t *testing.T) {
	w := gotorch.From([]float32{1}).SetRequiresGrad(true)
	sgd := optim.SGD([]*gotorch.Tensor{w}, 0.5)
	scaler := optim.NewGradScaler(optim.GradScalerOptions{InitScale: 8.0})
	if _, err := scaler.Step(sgd); err == nil || !strings.Contains(err.Error(), "no parameter of the optimizer has a gradient") {
		t.Fatal(err)
	}
	if err := scaler.Scale(w.MulScalar(3)).Backward(); err != nil {
		t.Fatal(err)
	}
	if err := scaler.Unscale(sgd); err != nil || w.Grad().Item() != 3 {
		t.Fatal(err, w.Grad())
	}
	if err := scaler.Unscale(sgd); err == nil || !strings.Contains(err.Error(), "once a step") {
		t.Fatal(err)
	}
	if stepped, err := scaler.Step(sgd); err != nil || !stepped || w.Item() != -0.5 {
		t.Fatal(stepped, err, w)
	}
}

// A network in float16 by autocast learns what float32 does.
func TestGradScalerWithAutocast(t *testing.T) {
	w := gotorch.From([]float32{0}, 1, 1).SetRequiresGrad(true)
	x, y := gotorch.From([]float32{1, 2, 3}, 3, 1), gotorch.From([]float32{2, 4, 6}, 3, 1)
	sgd := optim.SGD([]*gotorch.Tensor{w}, 0.05)
	scaler := optim.NewGradScaler(optim.GradScalerOptions{InitScale: 1024.0})
	for range 50 {
		gotorch.Scope(func() {
			var loss *gotorch.Tensor
			gotorch.Autocast(gotorch.CPU, gotorch.Float16, func() {
				loss = x.MatMul(w).Sub(y).PowScalar(2).Mean()
			})
			if err := sgd.ZeroGrad(); err != nil {
				t.Fatal(err)
			}
			if err := scaler.Scale(loss).Backward(); err != nil {
				t.Fatal(err)
			}
			if _, err := scaler.Step(sgd); err != nil {
				t.Fatal(err)
			}
			if err := scaler.Update(); err != nil {
				t.Fatal(err)
			}
		})
	}
	if math.Abs(w.Item()-2) > 0.01 {
		t.Fatal(w)
	}
}
