package nn_test

import (
	"errors"
	"math"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// Means over all batches, whatever the layer's momentum, which stays, as the modes do.
func TestUpdateBatchNorm(t *testing.T) {
	norm := nn.NewBatchNorm1d(2, nn.BatchNormOptions{Momentum: gotorch.Some(0.25)})
	frozen := nn.NewDropout(0.5)
	model := nn.NewSequential(norm, frozen)
	nn.Eval(frozen)
	batches := [][]float32{{1, 10, 3, 30}, {5, 50, 9, 90}, {0, 0, 6, 60}}
	norm.Forward(gotorch.From([]float32{100, 100, 200, 200}, 2, 2)) // what is to be forgotten
	pass := func() error {
		if gotorch.IsGradEnabled() || !frozen.IsTraining() {
			t.Error("the pass records, or does not train")
		}
		for _, batch := range batches {
			model.Forward(gotorch.From(batch, 2, 2))
		}
		return nil
	}
	if err := nn.UpdateBatchNorm(model, pass); err != nil {
		t.Fatal(err)
	}
	mean, variance := gotorch.ToSlice[float32](norm.RunningMean), gotorch.ToSlice[float32](norm.RunningVar)
	if math.Abs(float64(mean[0])-4) > 1e-5 || math.Abs(float64(mean[1])-40) > 1e-4 {
		t.Error(mean)
	}
	if want := (2.0 + 8 + 18) / 3; math.Abs(float64(variance[0])-want) > 1e-4 {
		t.Error(variance, want)
	}
	if !norm.IsTraining() || frozen.IsTraining() || !model.IsTraining() {
		t.Error("modes changed")
	}
	norm.Forward(gotorch.From([]float32{0, 0, 0, 0}, 2, 2))
	if mean := gotorch.ToSlice[float32](norm.RunningMean); math.Abs(float64(mean[0])-3) > 1e-5 {
		t.Error("the momentum is no 0.25 any more:", mean)
	}

	own := errors.New("my own")
	if err := nn.UpdateBatchNorm(model, func() error { return own }); !errors.Is(err, own) {
		t.Error(err)
	}
	if frozen.IsTraining() {
		t.Error("a pass that failed leaves modes behind")
	}
	if err := nn.UpdateBatchNorm(nn.NewLinear(1, 1), func() error { return own }); err != nil {
		t.Error("a model without such layers is passed through:", err)
	}
}
