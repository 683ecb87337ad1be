package utils_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/nn/utils"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func withGrad(grad ...float32) *gotorch.Tensor {
	p := gotorch.Zeros([]int{len(grad)}).SetRequiresGrad(true)
	p.SetGrad(gotorch.From(grad))
	return p
}

func TestClips(t *testing.T) {
	a, b, none := withGrad(3, 0), withGrad(4), gotorch.Zeros([]int{2})
	parameters := []*gotorch.Tensor{a, none, b}
	near(t, "the norm", utils.ClipGradNorm(parameters, 1).Item(), 5)
	near(t, "the norm after", utils.GetTotalNorm([]*gotorch.Tensor{a.Grad(), b.Grad()}).Item(), 1)
	near(t, "an element", b.Grad().Item(), 0.8)
	infinite := utils.ClipGradNormOptions{NormType: gotorch.Some(math.Inf(1))}
	near(t, "the largest", utils.ClipGradNorm(parameters, 10, infinite).Item(), 0.8)
	utils.ClipGradsWithNorm(parameters, 1, gotorch.From([]float32{2}))
	near(t, "half", b.Grad().Item(), 0.4)
	utils.ClipGradValue(parameters, 0.1)
	near(t, "the limit", b.Grad().Item(), 0.1)
	b.SetGrad(gotorch.From([]float32{float32(math.NaN())}))
	err := gotorch.Try(func() { utils.ClipGradNorm(parameters, 1, utils.ClipGradNormOptions{ErrorIfNonfinite: true}) })
	if err == nil || !strings.Contains(err.Error(), "infinite or NaN") {
		t.Error(err)
	}
}

func TestVectors(t *testing.T) {
	a, b := gotorch.From([]float32{1, 2, 3, 4}, 2, 2), gotorch.From([]float32{5})
	vec := utils.ParametersToVector(a, b)
	if got := gotorch.ToSlice[float32](vec); !slices.Equal(got, []float32{1, 2, 3, 4, 5}) {
		t.Error(got)
	}
	utils.VectorToParameters(vec.MulScalar(2), a, b)
	if got := gotorch.ToSlice[float32](a); !slices.Equal(got, []float32{2, 4, 6, 8}) {
		t.Error(got)
	}
}

func TestPacksAndPads(t *testing.T) {
	x := gotorch.Arange(12.0).View(2, 3, 2) // [batch, length, features]
	packed := utils.PackPaddedSequence(x, []int{2, 3}, utils.PackPaddedSequenceOptions{BatchFirst: true, EnforceSorted: gotorch.Some(false)})
	if got := gotorch.ToSlice[int](packed.BatchSizes); !slices.Equal(got, []int{2, 2, 1}) {
		t.Error(got)
	}
	padded, lengths := utils.PadPackedSequence(packed, utils.PadPackedSequenceOptions{BatchFirst: true, PaddingValue: -1, TotalLength: gotorch.Some(4)})
	if !slices.Equal(padded.Shape(), []int{2, 4, 2}) || !slices.Equal(gotorch.ToSlice[int](lengths), []int{2, 3}) {
		t.Error(padded, lengths)
	}
	near(t, "padding", padded.Select(0, 0).Select(0, 2).Sum().Item(), -2)
	sequences := utils.UnpackSequence(packed)
	if len(sequences) != 2 || !sequences[0].Equal(x.Select(0, 0).Narrow(0, 0, 2)) || !sequences[1].Equal(x.Select(0, 1)) {
		t.Error(sequences)
	}
	again := utils.PackSequence(sequences, utils.PackSequenceOptions{EnforceSorted: gotorch.Some(false)})
	if !again.Data.Equal(packed.Data) || !again.SortedIndices.Equal(packed.SortedIndices) {
		t.Error(again)
	}
	sorted := utils.PackSequence([]*gotorch.Tensor{sequences[1], sequences[0]})
	if sorted.SortedIndices != nil || sorted.UnsortedIndices != nil {
		t.Error(sorted)
	}
}

// An LSTM over packed sequences is the LSTM over each of them alone.
func TestRecurrentModulesTakePackedSequences(t *testing.T) {
	lstm := nn.NewLSTM(2, 3)
	nn.ToDType(lstm, gotorch.Float64) // in which two ways of adding up agree, near 0 too
	double := gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}
	short, long := gotorch.Rand([]int{2, 2}, double), gotorch.Rand([]int{4, 2}, double)
	packed := utils.PackSequence([]*gotorch.Tensor{short, long}, utils.PackSequenceOptions{EnforceSorted: gotorch.Some(false)})
	out := lstm.ForwardAll(packed.Tensors())
	if len(out) != 6 {
		t.Fatalf("%d tensors", len(out))
	}
	y := utils.UnpackSequence(&utils.PackedSequence{Data: out[0], BatchSizes: out[1], SortedIndices: out[2], UnsortedIndices: out[3]})
	for i, x := range []*gotorch.Tensor{short, long} {
		alone, h, c := lstm.ForwardState(x.Unsqueeze(1), nil, nil)
		if !y[i].AllClose(alone.Select(1, 0)) || !out[4].Select(1, i).AllClose(h.Select(1, 0)) || !out[5].Select(1, i).AllClose(c.Select(1, 0)) {
			t.Error(i, y[i], alone)
		}
	}
	bad := *packed
	bad.BatchSizes = gotorch.From([]int{2, 3})
	err := gotorch.Try(func() { lstm.ForwardAll(bad.Tensors()) })
	if err == nil || !strings.Contains(err.Error(), "never grow") {
		t.Error(err)
	}
}
