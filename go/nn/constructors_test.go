package nn_test

import (
	"slices"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

func expectShape(t *testing.T, x *gotorch.Tensor, want ...int) {
	t.Helper()
	if !slices.Equal(x.Shape(), want) {
		t.Fatalf("got %v, want %v", x.Shape(), want)
	}
}

func TestAttention(t *testing.T) {
	// In double: what AllClose allows, a part of the value and 1e-8, is less than the rounding of a float near 0.
	m := nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOptions{BatchFirst: true})
	nn.ToDType(m, gotorch.Float64)
	double := gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}
	query, key := gotorch.Rand([]int{2, 3, 4}, double), gotorch.Rand([]int{2, 5, 4}, double)
	y, weights := m.Forward(query, key, key)
	expectShape(t, y, 2, 3, 4)
	expectShape(t, weights, 2, 3, 5)
	hidden := gotorch.Zeros([]int{2, 5}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Bool)})
	hidden.SetIndexScalar(true, gotorch.All, gotorch.At(4))
	masked, weights := m.Forward(query, key, key, nn.MultiheadAttentionInputs{KeyPaddingMask: hidden})
	if last := weights.Index(gotorch.All, gotorch.All, gotorch.At(4)).Abs().Sum().Item(); last != 0 || masked.AllClose(y) {
		t.Fatal("the mask does not hide the last key", last)
	}
	alone, none := m.Forward(query, key, key, nn.MultiheadAttentionInputs{NeedWeights: nn.Some(false)})
	if none != nil || !alone.AllClose(y) {
		t.Fatal("without weights something else is computed")
	}
	query, key = query.To(gotorch.Float32), key.To(gotorch.Float32)
	transformer := nn.NewTransformer(nn.TransformerOptions{DModel: 4, Nhead: 2, NumEncoderLayers: 1, NumDecoderLayers: 2,
		DimFeedforward: 8, BatchFirst: true})
	expectShape(t, transformer.Forward(query, key, nn.TransformerInputs{TgtIsCausal: nn.Some(true)}), 2, 5, 4)
	encoder := nn.NewTransformerEncoder(4, 2, 2, nn.TransformerEncoderOptions{BatchFirst: true, Activation: "gelu"})
	var _ nn.Layer = encoder
	expectShape(t, encoder.ForwardWith(query, nn.TransformerEncoderInputs{IsCausal: nn.Some(true)}), 2, 3, 4)
}

func TestLosses(t *testing.T) {
	logits, classes := gotorch.Zeros([]int{2, 4}), gotorch.From([]int{1, 3})
	if loss := nn.NewCrossEntropyLoss().Forward(logits, classes).Item(); loss < 1.386 || loss > 1.387 {
		t.Fatal(loss)
	}
	weighted := nn.NewCrossEntropyLoss(nn.CrossEntropyLossOptions{Weight: gotorch.From([]float32{1, 2, 3, 0}), Reduction: "none"})
	if got := weighted.Forward(logits, classes); got.Index(gotorch.At(1)).Item() != 0 || got.Index(gotorch.At(0)).Item() < 2.77 {
		t.Fatal(got)
	}
	adaptive := nn.NewAdaptiveLogSoftmaxWithLoss(4, 9, []int{2, 5}, nn.AdaptiveLogSoftmaxWithLossOptions{DivValue: nn.Some(2.0)})
	output, loss := adaptive.Forward(gotorch.Rand([]int{3, 4}), gotorch.From([]int{0, 4, 8}))
	expectShape(t, output, 3)
	if err := loss.Backward(); err != nil {
		t.Fatal(err)
	}
}

func TestUnpoolingFindsWhatPoolingGave(t *testing.T) {
	x := gotorch.Rand([]int{1, 1, 4, 4})
	pooled := nn.NewMaxPool2d(2, nn.MaxPoolOptions{ReturnIndices: true}).ForwardAll(x)
	back := nn.NewMaxUnpool2d(2).Forward(pooled[0], pooled[1])
	if again := nn.NewMaxPool2d(2).Forward(back); !again.Equal(pooled[0]) {
		t.Fatal(again, pooled[0])
	}
}

func TestOptionsThatAreNone(t *testing.T) {
	bn := nn.NewBatchNorm1d(2, nn.BatchNormOptions{NoMomentum: true})
	for _, value := range []float32{1, 2, 6} {
		bn.Forward(gotorch.From([]float32{value, 0, value, 0}, 2, 2))
	}
	if mean := bn.RunningMean.Index(gotorch.At(0)).Item(); mean != 3 {
		t.Fatal("not the mean of all batches but", mean)
	}
}

func TestSizes(t *testing.T) {
	x := gotorch.Rand([]int{1, 1, 4, 4})
	expectShape(t, nn.NewZeroPad2d([4]int{1, 0, 2, 0}).Forward(x), 1, 1, 6, 5)
	expectShape(t, nn.NewZeroPad2d(1).Forward(x), 1, 1, 6, 6)
	expectShape(t, nn.NewConv2d(1, 2, 3, nn.ConvOptions{PaddingName: "same"}).Forward(x), 1, 2, 4, 4)
	expectShape(t, nn.NewFold([2]int{4, 5}, 2).Forward(gotorch.Rand([]int{1, 4, 12})), 1, 1, 4, 5)
	failed(t, gotorch.ErrInvalidArgument, "nn.NewZeroPad2d padding", func() { nn.NewZeroPad2d([]int{1, 2, 3}) })
}

func TestStatesOfCells(t *testing.T) {
	cell := nn.NewLSTMCell(3, 2)
	h, c := cell.ForwardState(gotorch.Rand([]int{4, 3}), nil, nil)
	h, c = cell.ForwardState(gotorch.Rand([]int{4, 3}), h, c)
	expectShape(t, h, 4, 2)
	expectShape(t, c, 4, 2)
	expectShape(t, nn.NewGRUCell(3, 2).ForwardState(gotorch.Rand([]int{3}), nil), 2)
	_, last := nn.NewRNN(3, 2, nn.RNNOptions{Nonlinearity: "relu"}).ForwardState(gotorch.Rand([]int{5, 4, 3}), nil)
	expectShape(t, last, 1, 4, 2)
}
