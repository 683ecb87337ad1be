package nn_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// lora embeds a layer and adds parameters of its own.
type lora struct {
	*nn.Linear
	A, B *gotorch.Tensor
}

func newLora() *lora {
	return &lora{nn.NewLinear(3, 2), gotorch.Ones([]int{3, 1}).SetRequiresGrad(true), gotorch.Ones([]int{1, 2}).SetRequiresGrad(true)}
}

func (l *lora) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return l.Linear.Forward(x).Add(x.MatMul(l.A).MatMul(l.B))
}

func TestParametersBesideAnEmbeddedLayerAreFound(t *testing.T) {
	l := newLora()
	if got, want := names(nn.NamedParameters(l)), []string{"a", "b", "weight", "bias"}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	sgd := optim.SGD(nn.Parameters(l), 0.1)
	before := l.A.Clone()
	if err := l.Forward(gotorch.Ones([]int{4, 3})).Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	if err := sgd.Step(); err != nil || l.A.Equal(before) {
		t.Fatal("the step left the parameter as it was", err)
	}
	nn.ToDType(l, gotorch.Float64)
	if l.A.DType() != gotorch.Float64 || l.Weight.DType() != gotorch.Float64 {
		t.Fatal(l.A.DType(), l.Weight.DType())
	}
	parallel := nn.NewDataParallel(newLora(), nn.DataParallelOptions{Replicas: 2})
	defer parallel.Close()
	x := gotorch.Rand([]int{4, 3})
	if !parallel.Forward(x).AllClose(parallel.Module.Forward(x)) {
		t.Fatal("replicas of it compute something else")
	}
}

func TestFrozenTensorsAreParameters(t *testing.T) {
	type scale struct {
		nn.Base
		By   *gotorch.Tensor
		Mask *gotorch.Tensor `nn:"-"`
	}
	s := &scale{By: gotorch.Ones([]int{2}), Mask: gotorch.Ones([]int{2})}
	path := filepath.Join(t.TempDir(), "scale")
	if err := nn.Save(path, s); err != nil {
		t.Fatal(err)
	}
	s.By.ZeroI()
	if err := nn.Load(path, s); err != nil || s.By.Sum().Item() != 2 {
		t.Fatal("a frozen tensor was not saved", err)
	}
	if got := names(nn.NamedParameters(s)); !slices.Equal(got, []string{"by"}) {
		t.Fatal(got)
	}
}

func TestMapsByNumber(t *testing.T) {
	type heads struct {
		nn.Base
		ByClass map[int]*nn.Linear
	}
	h := &heads{ByClass: map[int]*nn.Linear{10: nn.NewLinear(1, 1), 9: nn.NewLinear(1, 1)}}
	if got, want := names(nn.NamedParameters(h)), []string{"by_class.9.weight", "by_class.9.bias", "by_class.10.weight",
		"by_class.10.bias"}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestWhatWouldBePassedOverIsNamed(t *testing.T) {
	type block struct{ Conv *nn.Conv2d } // without nn.Base
	type outer struct {
		nn.Base
		Blocks []*block
	}
	failed(t, gotorch.ErrInvalidArgument, "Blocks[0].Conv outer nn.Base", func() {
		nn.Parameters(&outer{Blocks: []*block{{nn.NewConv2d(1, 1, 1)}}})
	})
	nn.Parameters(&outer{Blocks: []*block{{}}}) // nothing there
	type byPair struct {
		nn.Base
		Heads map[[2]int]*nn.Linear
	}
	failed(t, gotorch.ErrInvalidArgument, "Heads byPair", func() {
		nn.Parameters(&byPair{Heads: map[[2]int]*nn.Linear{{1, 2}: nn.NewLinear(1, 1)}})
	})
	type private struct {
		nn.Base
		mask *gotorch.Tensor
	}
	failed(t, gotorch.ErrInvalidArgument, "mask private capital", func() { nn.Parameters(&private{mask: gotorch.Ones([]int{1})}) })
	type cached struct {
		nn.Base
		Last *gotorch.Tensor
	}
	failed(t, gotorch.ErrInvalidArgument, "Last cached", func() {
		nn.Parameters(&cached{Last: gotorch.Ones([]int{1}).SetRequiresGrad(true).MulScalar(2)})
	})
	type twice struct {
		nn.Base
		A *gotorch.Tensor
		B *gotorch.Tensor `nn:"name=a"`
	}
	failed(t, gotorch.ErrInvalidArgument, "two name=", func() {
		nn.Parameters(&twice{A: gotorch.Ones([]int{1}), B: gotorch.Ones([]int{1})})
	})
	head, embed := nn.NewLinear(2, 3), nn.NewEmbedding(3, 2)
	head.Weight = embed.Weight
	failed(t, gotorch.ErrInvalidArgument, "Weight nn.Linear", func() { nn.Parameters(nn.NewSequential(head)) })
}

func TestAModuleUnderTwoNames(t *testing.T) {
	type tied struct {
		nn.Base
		In, Out *nn.Linear
	}
	shared := nn.NewLinear(2, 2)
	m := &tied{In: shared, Out: shared}
	if len(nn.Parameters(m)) != 2 {
		t.Fatal(names(nn.NamedParameters(m)))
	}
	state := nn.State(m)
	if len(state) != 4 || !state["in.weight"].Equal(state["out.weight"]) {
		t.Fatal(len(state))
	}
	given := map[string]*gotorch.Tensor{}
	for name, one := range state {
		given[name] = one.Clone().Detach().AddScalar(1)
	}
	if err := nn.LoadState(m, given); err != nil || !shared.Weight.Equal(given["in.weight"]) {
		t.Fatal(err)
	}
	delete(given, "out.weight")
	if err := nn.LoadState(m, given); err != nil {
		t.Fatal("one of its names is enough:", err)
	}
	given["out.weight"] = given["in.weight"].AddScalar(1)
	if err := nn.LoadState(m, given); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal("names of one tensor with different values:", err)
	}
}

func TestOptionsAreGivenOnce(t *testing.T) {
	one, other := nn.ConvOptions{Stride: []int{2}}, nn.ConvOptions{Padding: []int{1}}
	failed(t, gotorch.ErrInvalidArgument, "2 structs", func() { nn.NewConv2d(1, 1, 3, one, other) })
	failed(t, gotorch.ErrInvalidArgument, "2 structs", func() {
		gotorch.Ones([]int{1}, gotorch.TensorOptions{}, gotorch.TensorOptions{})
	})
	if err := gotorch.Ones([]int{1}).Backward(gotorch.BackwardOptions{}, gotorch.BackwardOptions{}); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal("a function that returns errors returns this one:", err)
	}
	failed(t, gotorch.ErrInvalidArgument, "parameters empty", func() { optim.SGD(nil, 0.1) })
}

func TestAMissingFileIsOneOfGos(t *testing.T) {
	if err := nn.Load(filepath.Join(t.TempDir(), "nothing"), nn.NewLinear(1, 1)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
