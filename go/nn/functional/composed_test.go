package functional_test

import (
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	F "tandem.example/gotorch/nn/functional"
)

// Values are those of tests/cpp/nn/reference.py; here that arguments and options arrive.
func TestResizesAndSamples(t *testing.T) {
	x := gotorch.Arange(16.0).View(1, 1, 4, 4)
	half := F.Interpolate(x, F.InterpolateOptions{ScaleFactor: []float64{0.5}, Mode: "area"})
	if got := gotorch.ToSlice[float32](half); !slices.Equal(got, []float32{2.5, 4.5, 10.5, 12.5}) {
		t.Error(got)
	}
	wide := F.Interpolate(x, F.InterpolateOptions{Size: []int{4, 7}, Mode: "bilinear", AlignCorners: gotorch.Some(true)})
	near(t, "between two pixels", wide.Select(3, 1).Select(2, 0).Item(), 0.5)
	identity := gotorch.From([]float32{1, 0, 0, 0, 1, 0}, 1, 2, 3)
	grid := F.AffineGrid(identity, []int{1, 1, 4, 4})
	if got := F.GridSample(x, grid, F.GridSampleOptions{Mode: "nearest", PaddingMode: "border"}); !got.AllClose(x) {
		t.Error(got)
	}
	columns := F.Unfold(x, []int{2, 2}, F.UnfoldOptions{Stride: []int{2, 2}})
	if got := F.Fold(columns, []int{4, 4}, []int{2, 2}, F.FoldOptions{Stride: []int{2, 2}}); !got.Equal(x) {
		t.Error(got)
	}
	err := gotorch.Try(func() { F.Interpolate(x, F.InterpolateOptions{Size: []int{2}, Mode: "cubic"}) })
	if err == nil || !strings.Contains(err.Error(), `no mode "cubic"`) {
		t.Error(err)
	}
}

func TestChannels(t *testing.T) {
	x := gotorch.Ones([]int{2, 50, 3, 3})
	sums := F.Dropout2d(x, 0.5, true).Flatten(2, 3).SumDim([]int{2})
	if kept := sums.NeScalar(0); !sums.Equal(kept.To(gotorch.Float32).MulScalar(18)) || kept.All().Item() != 0 {
		t.Error(sums)
	}
	near(t, "Normalize", F.Normalize(gotorch.From([]float32{3, 4}, 1, 2)).Max().Item(), 0.8)
	one := F.GumbelSoftmax(gotorch.Zeros([]int{4, 5}), F.GumbelSoftmaxOptions{Hard: true})
	near(t, "GumbelSoftmax, hard", one.Sum().Item(), 4)
	near(t, "LPPool1d", F.LPPool1d(gotorch.From([]float32{3, 4}, 1, 1, 2), 2, []int{2}).Item(), 5)
	near(t, "GaussianNLLLoss", F.GaussianNLLLoss(gotorch.From([]float32{1}), gotorch.From([]float32{3}),
		gotorch.From([]float32{1}), F.GaussianNLLLossOptions{Reduction: gotorch.Some(F.Sum)}).Item(), 2)
}

func TestAttention(t *testing.T) {
	query, weight, out := gotorch.Rand([]int{3, 2, 4}), gotorch.Rand([]int{12, 4}), gotorch.Eye(4)
	seen, weights := F.MultiHeadAttentionForward(query, query, query, 4, 2, weight, nil, nil, nil, false, 0, out, nil)
	if !slices.Equal(seen.Shape(), []int{3, 2, 4}) || !weights.SumDim([]int{2}).AllClose(gotorch.Ones([]int{2, 3})) {
		t.Error(seen, weights)
	}
	quick, none := F.MultiHeadAttentionForward(query, query, query, 4, 2, weight, nil, nil, nil, false, 0, out, nil,
		F.MultiHeadAttentionForwardOptions{NeedWeights: gotorch.Some(false)})
	if none != nil || !quick.AllClose(seen) {
		t.Error(quick, none)
	}
}
