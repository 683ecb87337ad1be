package nn_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

func failed(t *testing.T, code gotorch.Code, parts string, body func()) {
	t.Helper()
	err := gotorch.Try(body)
	if !errors.Is(err, code) {
		t.Fatalf("got %v, want code %q", err, code)
	}
	for part := range strings.FieldsSeq(parts) {
		if !strings.Contains(err.Error(), part) {
			t.Fatalf("%q is missing in: %v", part, err)
		}
	}
}

func names(list []nn.Named) (all []string) {
	for _, one := range list {
		all = append(all, one.Name)
	}
	return all
}

type block struct {
	nn.Base
	Conv *nn.Conv2d
	BN1  *nn.BatchNorm2d
}

func (b *block) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return b.BN1.Forward(b.Conv.Forward(x)).ReLU()
}

type net struct {
	nn.Base
	Blocks  []*block
	Heads   map[string]*nn.Linear
	Scale   *gotorch.Tensor
	Seen    *gotorch.Tensor `nn:"buffer"`
	Out     *nn.Sequential  `nn:"name=classifier"`
	Missing *nn.Linear
	note    string
}

func newNet() *net {
	return &net{
		Blocks: []*block{{Conv: nn.NewConv2d(1, 2, 3), BN1: nn.NewBatchNorm2d(2)}, {Conv: nn.NewConv2d(2, 2, [2]int{1, 3})}},
		Heads:  map[string]*nn.Linear{"b": nn.NewLinear(2, 1), "a": nn.NewLinear(2, 1, nn.LinearOptions{Bias: nn.Some(false)})},
		Scale:  gotorch.Ones([]int{1}).SetRequiresGrad(true),
		Seen:   gotorch.Zeros([]int{1}),
		Out:    nn.NewSequential(nn.NewLinear(2, 2), nn.NewDropout(0.5)),
		note:   "no module",
	}
}

func TestTreeOfModules(t *testing.T) {
	n := newNet()
	if got, want := names(nn.NamedParameters(n)), []string{"scale", "blocks.0.conv.weight", "blocks.0.conv.bias",
		"blocks.0.bn1.weight", "blocks.0.bn1.bias", "blocks.1.conv.weight", "blocks.1.conv.bias", "heads.a.weight",
		"heads.b.weight", "heads.b.bias", "classifier.0.weight", "classifier.0.bias"}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if got, want := names(nn.NamedBuffers(n)), []string{"seen", "blocks.0.bn1.running_mean", "blocks.0.bn1.running_var",
		"blocks.0.bn1.num_batches_tracked"}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if got := nn.Children(n); len(got) != 5 || got[0].Name != "blocks.0" || got[4].Name != "classifier" {
		t.Fatal(got)
	}
	dropout := n.Out.Layer(1).(*nn.Dropout)
	x := gotorch.Ones([]int{100})
	nn.Eval(n)
	if n.IsTraining() || dropout.IsTraining() || n.Blocks[0].BN1.IsTraining() || !dropout.Forward(x).Equal(x) {
		t.Fatal("Eval")
	}
	nn.Train(n)
	if !n.IsTraining() || !dropout.IsTraining() || dropout.Forward(x).Equal(x) {
		t.Fatal("Train")
	}
	if nn.ParameterCount(nn.NewLinear(3, 4)) != 16 {
		t.Fatal("ParameterCount")
	}
}

func TestFieldThatIsNotExported(t *testing.T) {
	type wrong struct {
		nn.Base
		conv *nn.Conv2d
	}
	failed(t, gotorch.ErrInvalidArgument, "conv wrong exported", func() { nn.Parameters(&wrong{conv: nn.NewConv2d(1, 1, 1)}) })
}

func TestForwardShapes(t *testing.T) {
	gotorch.Scope(func() {
		image := gotorch.Rand([]int{2, 3, 8, 8})
		vector := gotorch.Rand([]int{2, 6})
		for _, one := range []struct {
			name  string
			layer nn.Layer
			x     *gotorch.Tensor
			want  []int
		}{
			{"Linear", nn.NewLinear(6, 4), vector, []int{2, 4}},
			{"Conv1d", nn.NewConv1d(6, 4, 1), gotorch.Rand([]int{2, 6, 5}), []int{2, 4, 5}},
			{"Conv2d", nn.NewConv2d(3, 4, 3, nn.ConvOptions{Stride: []int{2}, Padding: []int{1, 1}}), image,
				[]int{2, 4, 4, 4}},
			{"BatchNorm1d", nn.NewBatchNorm1d(6), vector, []int{2, 6}},
			{"BatchNorm2d", nn.NewBatchNorm2d(3), image, []int{2, 3, 8, 8}},
			{"LayerNorm", nn.NewLayerNorm([]int{6}), vector, []int{2, 6}},
			{"Embedding", nn.NewEmbedding(10, 3), gotorch.From([]int{1, 2}), []int{2, 3}},
			{"Dropout", nn.NewDropout(0.5), vector, []int{2, 6}},
			{"MaxPool2d", nn.NewMaxPool2d(2), image, []int{2, 3, 4, 4}},
			{"AvgPool2d", nn.NewAvgPool2d([]int{2, 4}), image, []int{2, 3, 4, 2}},
			{"AdaptiveAvgPool2d", nn.NewAdaptiveAvgPool2d(1), image, []int{2, 3, 1, 1}},
			{"Flatten", nn.NewFlatten(), image, []int{2, 192}},
			{"ReLU", nn.NewReLU(), vector, []int{2, 6}},
			{"GELU", nn.NewGELU(), vector, []int{2, 6}},
			{"Tanh", nn.NewTanh(), vector, []int{2, 6}},
			{"Sigmoid", nn.NewSigmoid(), vector, []int{2, 6}},
			{"Softmax", nn.NewSoftmax(1), vector, []int{2, 6}},
			{"LogSoftmax", nn.NewLogSoftmax(1), vector, []int{2, 6}},
			{"LSTM", nn.NewLSTM(6, 5, nn.LSTMOptions{BatchFirst: true}), gotorch.Rand([]int{2, 7, 6}), []int{2, 7, 5}},
			{"GRU", nn.NewGRU(6, 5), gotorch.Rand([]int{7, 2, 6}), []int{7, 2, 5}},
			{"Func", nn.Func(func(x *gotorch.Tensor) *gotorch.Tensor { return x.Neg() }), vector, []int{2, 6}},
		} {
			if got := one.layer.Forward(one.x).Shape(); !slices.Equal(got, one.want) {
				t.Errorf("%s gives %v, want %v", one.name, got, one.want)
			}
		}
		lstm := nn.NewLSTM(6, 5, nn.LSTMOptions{NumLayers: 2})
		_, h, c := lstm.ForwardState(gotorch.Rand([]int{7, 2, 6}), nil, nil)
		if y, _, _ := lstm.ForwardState(gotorch.Rand([]int{1, 2, 6}), h, c); !slices.Equal(y.Shape(), []int{1, 2, 5}) ||
			!slices.Equal(h.Shape(), []int{2, 2, 5}) || !slices.Equal(c.Shape(), []int{2, 2, 5}) {
			t.Error("LSTM states", y.Shape(), h.Shape(), c.Shape())
		}
	})
}

func TestLinearComputes(t *testing.T) {
	layer := nn.NewLinear(2, 1)
	gotorch.NoGrad(func() {
		gotorch.CopyFrom(layer.Weight, []float32{2, 3})
		gotorch.CopyFrom(layer.Bias, []float32{1})
	})
	if y := layer.Forward(gotorch.From([]float32{10, 100}, 1, 2)).Item(); y != 321 {
		t.Fatal(y)
	}
}

func TestMisuse(t *testing.T) {
	failed(t, gotorch.ErrInvalidArgument, "Linear 7", func() { nn.NewLinear(3, 2).Forward(gotorch.Rand([]int{1, 7})) })
	failed(t, gotorch.ErrInvalidArgument, "Groups", func() { nn.NewConv2d(3, 2, 1, nn.ConvOptions{Groups: 2}) })
	failed(t, gotorch.ErrNotFound, "Lineer", func() { nn.New("Lineer", nil) })
	failed(t, gotorch.ErrNotFound, "out_feature", func() { nn.New("Linear", map[string]any{"in_features": 1, "out_features": 1, "out_feature": 2}) })
	failed(t, gotorch.ErrInvalidArgument, "out_features", func() { nn.New("Linear", map[string]any{"in_features": 1}) })
	failed(t, gotorch.ErrClosed, "Linear", func() {
		x := gotorch.Rand([]int{1})
		x.Close()
		nn.NewLinear(1, 1).Forward(x)
	})
}

func TestParametersOutliveTheScopeTheyAreMadeIn(t *testing.T) {
	var layer *nn.Linear
	gotorch.Scope(func() { gotorch.Scope(func() { layer = nn.NewLinear(2, 2) }) })
	if y := layer.Forward(gotorch.Ones([]int{1, 2})); y.Numel() != 2 || layer.Weight.Numel() != 4 {
		t.Fatal(y)
	}
}

func TestStateAndFiles(t *testing.T) {
	a, b := newNet(), newNet()
	if nn.Fingerprint(a) == nn.Fingerprint(b) {
		t.Fatal("two random nets have one fingerprint")
	}
	path := filepath.Join(t.TempDir(), "net.safetensors")
	if err := nn.Save(path, a); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(path, b); err != nil {
		t.Fatal(err)
	}
	if nn.Fingerprint(a) != nn.Fingerprint(b) {
		t.Fatal("not the same after Load")
	}
	before := nn.Fingerprint(a)
	state := nn.State(b)
	delete(state, "scale")
	state["other"] = gotorch.Ones([]int{1})
	state["classifier.0.bias"] = gotorch.Ones([]int{3})
	failed(t, gotorch.ErrInvalidArgument, "scale missing other classifier.0.bias [3] [2]", func() {
		if err := nn.LoadState(a, state); err != nil {
			panic(err)
		}
	})
	if nn.Fingerprint(a) != before {
		t.Fatal("LoadState changed something before it failed")
	}
}

func TestToDType(t *testing.T) {
	n := newNet()
	weight := n.Blocks[0].Conv.Weight
	nn.ToDType(n, gotorch.Float64)
	if weight.DType() != gotorch.Float64 || n.Scale.DType() != gotorch.Float64 || n.Seen.DType() != gotorch.Float64 {
		t.Fatal(weight.DType(), n.Scale.DType(), n.Seen.DType())
	}
	x := gotorch.Rand([]int{1, 1, 5, 5}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)})
	if y := n.Blocks[0].Forward(x); y.DType() != gotorch.Float64 || math.IsNaN(y.Sum().Item()) {
		t.Fatal(y.DType())
	}
	nn.To(n, gotorch.CPU)
}
