package nn_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// gpt is what of a GPT its weight tying needs.
type gpt struct {
	nn.Base
	Embed *nn.Embedding
	Head  *nn.Linear
}

func newGPT() *gpt {
	g := &gpt{Embed: nn.NewEmbedding(5, 3, nn.EmbeddingOptions{PaddingIdx: nn.Some(-1)}), Head: nn.NewLinear(3, 5)}
	nn.Tie(g, "head.weight", "embed.weight")
	return g
}

func (g *gpt) Forward(x *gotorch.Tensor) *gotorch.Tensor { return g.Head.Forward(g.Embed.Forward(x)) }

func TestTiedWeightsAreOneTensor(t *testing.T) {
	g := newGPT()
	if g.Head.Weight != g.Embed.Weight {
		t.Fatal("the field refers to another tensor")
	}
	if got, want := names(nn.NamedParameters(g)), []string{"embed.weight", "head.bias"}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	weight, bias := g.Embed.Weight.Detach().Clone().SetRequiresGrad(true), g.Head.Bias.Detach().Clone()
	x := gotorch.From([]int{0, 3, 4, 3})
	reference := F.Linear(F.Embedding(x, weight, F.EmbeddingOptions{PaddingIdx: nn.Some(4)}), weight, bias)
	y := g.Forward(x)
	if !y.AllClose(reference) {
		t.Fatal(y, reference)
	}
	sgd := optim.SGD(nn.Parameters(g), 0.5)
	if err := y.Square().Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	if err := reference.Square().Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	if !g.Embed.Weight.Grad().AllClose(weight.Grad()) {
		t.Fatal("the gradient is not the sum of both uses")
	}
	before := g.Embed.Weight.Clone()
	if err := sgd.Step(); err != nil {
		t.Fatal(err)
	}
	if want := before.Sub(weight.Grad().MulScalar(0.5)); !g.Head.Weight.AllClose(want) {
		t.Fatal("the optimizer did not step it once")
	}
	nn.Tie(g, "embed.weight", "head.weight") // they are one already
}

func TestTiedWeightsAreSavedUnderBothNames(t *testing.T) {
	g, path := newGPT(), filepath.Join(t.TempDir(), "gpt")
	if err := nn.Save(path, g); err != nil {
		t.Fatal(err)
	}
	state, _, err := gotorch.Open(path)
	if err != nil || len(state) != 3 || !state["head.weight"].Equal(state["embed.weight"]) {
		t.Fatal(len(state), err)
	}
	for _, name := range []string{"", "head.weight", "embed.weight"} {
		delete(state, name)
		other := newGPT()
		if err := nn.LoadState(other, state); err != nil || !other.Head.Weight.Equal(g.Head.Weight) {
			t.Fatal("without", name, err)
		}
		if name == "head.weight" {
			state[name] = state["embed.weight"]
		}
	}
}

func TestTiedWeightsMoveAndAreReplicated(t *testing.T) {
	g, x := newGPT(), gotorch.From([]int{0, 3, 4, 3})
	want := g.Forward(x)
	parallel := nn.NewDataParallel(g, nn.DataParallelOptions{Replicas: 2})
	defer parallel.Close()
	y := parallel.Forward(x)
	if !y.AllClose(want) {
		t.Fatal("replicas compute something else")
	}
	if err := y.Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	split := g.Embed.Weight.Grad().Clone()
	g.Embed.Weight.SetGrad(nil)
	if err := want.Sum().Backward(); err != nil || !g.Embed.Weight.Grad().AllClose(split) {
		t.Fatal("replicas give another gradient", err)
	}
	nn.ToDType(g.Head, gotorch.Float64) // the embedding's with it
	if got := g.Forward(x).DType(); got != gotorch.Float64 || g.Embed.Weight.DType() != got {
		t.Fatal(got)
	}
}

func TestTiedLayersOfEveryKindThatCanBe(t *testing.T) {
	type pair struct {
		nn.Base
		A, B *nn.Native
	}
	for _, one := range []struct {
		kind  string
		with  map[string]any
		shape []int
	}{
		{"Linear", map[string]any{"in_features": 2, "out_features": 3, "bias": false}, []int{4, 2}},
		{"Conv1d", map[string]any{"in_channels": 2, "out_channels": 4, "kernel_size": 3, "padding": 1, "groups": 2}, []int{1, 2, 7}},
		{"Conv2d", map[string]any{"in_channels": 1, "out_channels": 2, "kernel_size": []int{2, 3}, "stride": []int{2, 1}}, []int{1, 1, 6, 6}},
		{"Conv3d", map[string]any{"in_channels": 1, "out_channels": 2, "kernel_size": 2, "dilation": 2}, []int{1, 1, 4, 4, 4}},
	} {
		p := &pair{A: nn.New(one.kind, one.with), B: nn.New(one.kind, one.with)}
		nn.Tie(p, "b.weight", "a.weight")
		if one.with["bias"] == nil {
			nn.Tie(p, "b.bias", "a.bias")
		}
		x := gotorch.Rand(one.shape)
		if got, want := p.B.Forward(x), p.A.Forward(x); !got.AllClose(want) {
			t.Errorf("%s: got %v, want %v", one.kind, got, want)
		}
	}
	type own struct {
		nn.Base
		Scale *gotorch.Tensor
		List  []*gotorch.Tensor
		Map   map[string]*gotorch.Tensor
	}
	ones := func() *gotorch.Tensor { return gotorch.Ones([]int{2}) }
	o := &own{Scale: ones(), List: []*gotorch.Tensor{ones()}, Map: map[string]*gotorch.Tensor{"x": ones()}}
	nn.Tie(o, "list.0", "scale")
	nn.Tie(o, "map.x", "list.0")
	if o.List[0] != o.Scale || o.Map["x"] != o.Scale || len(nn.Parameters(o)) != 1 {
		t.Fatal("fields of one's own were not tied")
	}
}

// Whichever of the layers is converted, one tensor is, and both compute with it.
func TestTiedWeightsAreConvertedTogether(t *testing.T) {
	for name, part := range map[string]func(*gpt) nn.Module{
		"head": func(g *gpt) nn.Module { return g.Head }, "embed": func(g *gpt) nn.Module { return g.Embed },
		"all": func(g *gpt) nn.Module { return g },
	} {
		g, x := newGPT(), gotorch.From([]int{0, 3, 3})
		sgd := optim.SGD(nn.Parameters(g), 0.5)
		if err := g.Forward(x).Sum().Backward(); err != nil { // a gradient of the type that was
			t.Fatal(err)
		}
		nn.ToDType(part(g), gotorch.Float64)
		nn.ToDType(g.Head, gotorch.Float64) // the bias
		if g.Head.Weight != g.Embed.Weight || g.Embed.Weight.DType() != gotorch.Float64 || len(nn.Parameters(g)) != 2 {
			t.Fatal(name, g.Embed.Weight.DType(), len(nn.Parameters(g)))
		}
		if err := sgd.ZeroGrad(); err != nil {
			t.Fatal(err)
		}
		weight := g.Embed.Weight.Detach().Clone().SetRequiresGrad(true)
		reference := F.Linear(F.Embedding(x, weight, F.EmbeddingOptions{PaddingIdx: nn.Some(4)}), weight, g.Head.Bias.Detach())
		for _, y := range []*gotorch.Tensor{g.Forward(x), reference} {
			if err := y.Square().Sum().Backward(); err != nil {
				t.Fatal(name, err)
			}
		}
		if !g.Embed.Weight.Grad().AllClose(weight.Grad()) {
			t.Error(name, "the gradient is not the sum of both uses")
		}
		if err := sgd.Step(); err != nil {
			t.Fatal(name, err)
		}
		if want := weight.Detach().Sub(weight.Grad().MulScalar(0.5)); !g.Head.Weight.AllClose(want) ||
			!g.Embed.Forward(x).AllClose(want.IndexSelect(0, x)) {
			t.Error(name, "a layer computes with another tensor after the step")
		}
	}
}

// Values that were diverged into NaN are the same under both names.
func TestTiedWeightsOfNaNAreLoaded(t *testing.T) {
	g := newGPT()
	gotorch.NoGrad(func() {
		g.Embed.Weight.SetIndexScalar(math.NaN(), gotorch.At(1))
		g.Embed.Weight.SetIndexScalar(math.Inf(1), gotorch.At(2))
	})
	path := filepath.Join(t.TempDir(), "gpt")
	if err := nn.Save(path, g); err != nil {
		t.Fatal(err)
	}
	other := newGPT()
	if err := nn.Load(path, other); err != nil {
		t.Fatal(err)
	}
	if got := other.Head.Weight.IsNaN().Sum().Item(); got != 3 {
		t.Fatal(got, "NaN")
	}
	state, _, err := gotorch.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	state["head.weight"].SetIndexScalar(math.NaN(), gotorch.At(0), gotorch.At(0))
	failed(t, gotorch.ErrInvalidArgument, "embed.weight head.weight differ", func() {
		if err := nn.LoadState(other, state); err != nil {
			panic(err)
		}
	})
}

func TestTiesReachWhateverHoldsTensors(t *testing.T) {
	type held struct {
		nn.Base
		Scale *gotorch.Tensor
		Pairs map[string][2]*gotorch.Tensor
		Any   map[string]any
		Deep  map[int][1][]*gotorch.Tensor
		One   any
	}
	ones := func() *gotorch.Tensor { return gotorch.Ones([]int{2}) }
	h := &held{Scale: ones(), Pairs: map[string][2]*gotorch.Tensor{"x": {ones(), ones()}},
		Any:  map[string]any{"list": []*gotorch.Tensor{ones()}, "pair": [1]*gotorch.Tensor{ones()}, "text": "text"},
		Deep: map[int][1][]*gotorch.Tensor{7: {{ones()}}}, One: ones()}
	for _, name := range []string{"pairs.x.0", "pairs.x.1", "any.list.0", "any.pair.0", "deep.7.0.0", "one"} {
		nn.Tie(h, name, "scale")
	}
	if got := nn.Parameters(h); len(got) != 1 || got[0] != h.Scale || h.Pairs["x"] != [2]*gotorch.Tensor{h.Scale, h.Scale} ||
		h.One != any(h.Scale) || h.Any["text"] != "text" {
		t.Fatal(len(got), "parameters are left", h)
	}
}

func TestTiesThatCannotBe(t *testing.T) {
	type pair struct {
		nn.Base
		In, Out *nn.Linear
		Norm    *nn.LayerNorm
		Rows    *nn.Embedding
	}
	p := &pair{In: nn.NewLinear(2, 3), Out: nn.NewLinear(3, 3), Norm: nn.NewLayerNorm([]int{3}),
		Rows: nn.NewEmbedding(3, 3, nn.EmbeddingOptions{Sparse: true})}
	failed(t, gotorch.ErrNotFound, "out.wieght out.weight", func() { nn.Tie(p, "out.wieght", "in.weight") })
	failed(t, gotorch.ErrInvalidArgument, "out.weight [3 in.weight 2]", func() { nn.Tie(p, "out.weight", "in.weight") })
	failed(t, gotorch.ErrUnsupported, "norm.bias LayerNorm", func() { nn.Tie(p, "norm.bias", "in.bias") })
	failed(t, gotorch.ErrInvalidArgument, "rows.weight sparse", func() { nn.Tie(p, "out.weight", "rows.weight") })
	if got := len(nn.Parameters(p)); got != 7 {
		t.Fatal("a tie that failed changed something:", got)
	}
}
