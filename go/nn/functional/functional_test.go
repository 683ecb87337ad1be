package functional_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"tandem.example/gotorch"
	F "tandem.example/gotorch/nn/functional"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-5 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestLosses(t *testing.T) {
	logits, target := gotorch.From([]float32{0, 0, 0, 0}, 2, 2), gotorch.From([]int{0, 1})
	near(t, "CrossEntropy", F.CrossEntropy(logits, target).Item(), math.Ln2)
	near(t, "CrossEntropy, sum", F.CrossEntropy(logits, target, F.CrossEntropyOptions{Reduction: gotorch.Some(F.Sum)}).Item(), 2*math.Ln2)
	near(t, "CrossEntropy, ignoring", F.CrossEntropy(logits, target, F.CrossEntropyOptions{Reduction: gotorch.Some(F.Sum),
		IgnoreIndex: gotorch.Some(1)}).Item(), math.Ln2)
	if each := F.CrossEntropy(logits, target, F.CrossEntropyOptions{Reduction: gotorch.Some(F.None)}); !slices.Equal(each.Shape(), []int{2}) {
		t.Error(each)
	}
	near(t, "CrossEntropy, weighted", F.CrossEntropy(logits, target, F.CrossEntropyOptions{Reduction: gotorch.Some(F.Sum),
		Weight: gotorch.From([]float32{3, 1})}).Item(), 4*math.Ln2)
	near(t, "NLLLoss", F.NLLLoss(F.LogSoftmax(logits, 1), target).Item(), math.Ln2)
	near(t, "MSELoss", F.MSELoss(gotorch.From([]float32{1, 5}), gotorch.From([]float32{2, 2})).Item(), 5)
	if err := gotorch.Try(func() { F.CrossEntropy(logits, gotorch.From([]int{0, 1, 2})) }); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Error(err)
	}
}

func TestLayers(t *testing.T) {
	x := gotorch.Arange(16.0).View(1, 1, 4, 4)
	if got := gotorch.ToSlice[float32](F.MaxPool2d(x, []int{2})); !slices.Equal(got, []float32{5, 7, 13, 15}) {
		t.Error(got)
	}
	weight := gotorch.Ones([]int{1, 1, 3, 3})
	if got := gotorch.ToSlice[float32](F.Conv2d(x, weight, nil)); !slices.Equal(got, []float32{45, 54, 81, 90}) {
		t.Error(got)
	}
	if got := F.Conv2d(x, weight, nil, F.Conv2dOptions{Padding: []int{1, 1}}).Shape(); !slices.Equal(got, []int{1, 1, 4, 4}) {
		t.Error(got)
	}
	if !F.Dropout(x, 0.5, false).Equal(x) || F.Dropout(x, 0.5, true).Equal(x) {
		t.Error("Dropout")
	}
	near(t, "Linear", F.Linear(gotorch.From([]float32{1, 2}, 1, 2), gotorch.From([]float32{3, 4}, 1, 2), nil).Item(), 11)
	near(t, "GELU", F.GELU(gotorch.From([]float32{1})).Item(), 0.841345)
	near(t, "GELU, tanh", F.GELU(gotorch.From([]float32{1}), F.GELUOptions{Approximate: "tanh"}).Item(), 0.841192)
	near(t, "ReLU", F.ReLU(gotorch.From([]float32{-1, 2})).Sum().Item(), 2)
	near(t, "Embedding", F.Embedding(gotorch.From([]int{1}), gotorch.From([]float32{3, 4}, 2, 1)).Item(), 4)
}
