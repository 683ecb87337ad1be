package nn_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

func TestNamedModulesAndApply(t *testing.T) {
	n := newNet()
	var paths, visited []string
	types := map[nn.Module]string{}
	for _, child := range nn.NamedModules(n) {
		paths = append(paths, child.Name)
		types[child.Module] = child.Name
	}
	want := []string{"", "blocks.0", "blocks.0.conv", "blocks.0.bn1", "blocks.1", "blocks.1.conv", "heads.a", "heads.b",
		"classifier", "classifier.0", "classifier.1"}
	if !slices.Equal(paths, want) {
		t.Fatalf("got %q, want %q", paths, want)
	}
	nn.Apply(n, func(m nn.Module) { visited = append(visited, types[m]) })
	if len(visited) != len(want) || visited[0] != "blocks.0.conv" || visited[2] != "blocks.0" || visited[len(visited)-1] != "" {
		t.Fatalf("parts do not come first: %q", visited)
	}
}

func TestContainers(t *testing.T) {
	type stack struct {
		nn.Base
		Layers *nn.ModuleList[*nn.Linear]
		Heads  *nn.ModuleDict[nn.Layer]
	}
	s := &stack{Layers: nn.NewModuleList(nn.NewLinear(2, 2), nn.NewLinear(2, 2)),
		Heads: nn.NewModuleDict[nn.Layer]().Set("z", nn.NewLinear(2, 1)).Set("a", nn.NewReLU())}
	s.Layers.Append(nn.NewLinear(2, 3, nn.LinearOptions{Bias: nn.Some(false)}))
	s.Layers.Insert(0, nn.NewLinear(1, 2))
	want := []string{"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.2.weight", "layers.2.bias",
		"layers.3.weight", "heads.z.weight", "heads.z.bias"}
	if got := names(nn.NamedParameters(s)); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	copied := nn.Clone(s)
	if copied.Layers.At(1) == s.Layers.At(1) || copied.Heads.Get("z") == s.Heads.Get("z") {
		t.Fatal("the copy has modules of the original")
	}
	if copied.Layers.At(1).Weight == s.Layers.At(1).Weight || !copied.Layers.At(1).Weight.Equal(s.Layers.At(1).Weight) {
		t.Fatal("the copy's weight is not one of its own with the same values")
	}
	s.Layers.Set(0, s.Layers.At(1))
	s.Heads.Delete("z")
	if s.Heads.Has("z") || s.Heads.Len() != 1 || s.Layers.Len() != 4 || len(nn.Parameters(s)) != 5 {
		t.Fatal(s.Heads.Len(), s.Layers.Len(), names(nn.NamedParameters(s)))
	}
	failed(t, gotorch.ErrNotFound, "\"z\" \"a\"", func() { s.Heads.Get("z") })
	failed(t, gotorch.ErrInvalidArgument, "has a dot", func() { s.Heads.Set("a.b", nn.NewReLU()) })
	failed(t, gotorch.ErrInvalidArgument, "floating-point dtype", func() { nn.ToDType(s, gotorch.Int64) })
}

func TestFreezing(t *testing.T) {
	n := newNet()
	all := nn.TrainableParameterCount(n)
	if all != nn.ParameterCount(n) {
		t.Fatal(all)
	}
	nn.SetRequiresGrad(n.Blocks[0], false)
	if got, want := nn.TrainableParameterCount(n), all-nn.ParameterCount(n.Blocks[0]); got != want {
		t.Fatal(got, want)
	}
	copied := nn.Clone(n)
	if got := nn.TrainableParameterCount(copied); got != nn.TrainableParameterCount(n) {
		t.Fatal("the copy does not keep what is frozen", got)
	}
	nn.SetRequiresGrad(n, true)
	if nn.TrainableParameterCount(n) != all || nn.TrainableParameterCount(copied) == all {
		t.Fatal("not free again, or the copy with it")
	}
}

func TestClone(t *testing.T) {
	n := newNet()
	nn.Eval(n)
	copied := nn.Clone(n)
	if copied.IsTraining() || nn.Fingerprint(copied) != nn.Fingerprint(n) {
		t.Fatal("the copy is another model")
	}
	gotorch.NoGrad(func() {
		for _, p := range append(nn.Parameters(n), nn.Buffers(n)...) {
			if p.DType().IsFloat() {
				p.AddScalarI(1)
			}
		}
	})
	if copied.Scale.Item() != 1 || nn.Fingerprint(copied) == nn.Fingerprint(n) || !copied.Scale.RequiresGrad() {
		t.Fatal("the copy shares tensors with the original")
	}
	type tied struct {
		nn.Base
		Embed *nn.Embedding
		Head  *nn.Linear
	}
	one := &tied{Embed: nn.NewEmbedding(4, 3), Head: nn.NewLinear(3, 4)}
	nn.Tie(one, "head.weight", "embed.weight")
	if other := nn.Clone(one); other.Head.Weight != other.Embed.Weight || other.Head.Weight == one.Head.Weight {
		t.Fatal("the copy is not tied as the original is")
	}
}

func TestForwardHooks(t *testing.T) {
	layer := nn.NewLinear(2, 2)
	n := nn.NewSequential(layer, nn.Func((*gotorch.Tensor).Neg))
	owner := nn.Module(layer) // whose hook is called
	var seen []string
	removeBefore := nn.RegisterForwardPreHook(n, func(m nn.Module, inputs []any) []any {
		seen = append(seen, "before")
		return []any{gotorch.Zeros([]int{1, 2})}
	})
	removeAfter := nn.RegisterForwardHook(layer, func(m nn.Module, inputs []any, outputs []*gotorch.Tensor) []*gotorch.Tensor {
		if m != owner || inputs[0].(*gotorch.Tensor).Sum().Item() != 0 {
			t.Error("another module or input", m, inputs)
		}
		seen = append(seen, "linear")
		return []*gotorch.Tensor{outputs[0].Add(gotorch.Ones([]int{2}))}
	})
	removeFunc := nn.RegisterForwardHook(n.Layer(1), func(nn.Module, []any, []*gotorch.Tensor) []*gotorch.Tensor {
		seen = append(seen, "func")
		return nil
	})
	y := n.Forward(gotorch.Rand([]int{1, 2}))
	if want := layer.Bias.Add(gotorch.Ones([]int{2})).Neg().Reshape(1, 2); !y.AllClose(want) {
		t.Fatal("hooks' values do not count", y, want)
	}
	if got := strings.Join(seen, " "); got != "before linear func" {
		t.Fatal(got)
	}
	copied := nn.Clone(n)
	removeBefore()
	removeAfter()
	removeFunc()
	removeFunc()
	seen = nil
	if n.Forward(gotorch.Rand([]int{1, 2})); len(seen) != 0 {
		t.Fatal("hooks that were removed are called", seen)
	}
	owner = copied.Layer(0)
	copied.Forward(gotorch.Rand([]int{1, 2}))
	if got := strings.Join(seen, " "); got != "before linear func" {
		t.Fatal("the copy calls", got)
	}
	lstm := nn.NewLSTM(2, 3)
	count := 0
	defer nn.RegisterForwardHook(lstm, func(_ nn.Module, _ []any, outputs []*gotorch.Tensor) []*gotorch.Tensor {
		count = len(outputs)
		return nil
	})()
	if lstm.Forward(gotorch.Rand([]int{4, 1, 2})); count != 3 {
		t.Fatal("a hook of an LSTM sees", count, "tensors, not output and states")
	}
}

func TestSummary(t *testing.T) {
	n := nn.NewSequential(nn.NewConv2d(1, 2, 3), nn.NewBatchNorm2d(2), nn.NewFlatten(), nn.NewLinear(8, 1000))
	nn.SetRequiresGrad(n.Layer(0), false)
	calls := 0
	got := nn.Summarize(n, func() {
		calls++
		n.Forward(gotorch.Zeros([]int{1, 1, 4, 4}))
	}).String()
	want := `Module             Output shape  Parameters
===========================================
Sequential         [1, 1000]             --
  Conv2d (0)       [1, 2, 2, 2]          20
  BatchNorm2d (1)  [1, 2, 2, 2]           4
  Flatten (2)      [1, 8]                --
  Linear (3)       [1, 1000]          9,000
===========================================
Parameters: 9,024, of which 9,004 are trained. Parameters and buffers: 0.04 MB
`
	if got != want || calls != 1 {
		t.Fatalf("got\n%s", got)
	}
	if !n.IsTraining() || !n.Layer(1).IsTraining() {
		t.Fatal("the model is left in evaluation mode")
	}
	if again := nn.Summarize(n, nil); again.Rows[0].Outputs != nil || again.Parameters != 9024 {
		t.Fatal(again)
	}
}

func TestReplicasCallHooks(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(2, 2))
	parallel := nn.NewDataParallel(net, nn.DataParallelOptions{Replicas: 2})
	defer parallel.Close()
	x := gotorch.Rand([]int{4, 2})
	parallel.Forward(x) // replicas are there before the hook
	var calls atomic.Int64
	remove := nn.RegisterForwardHook(net.Layer(0), func(nn.Module, []any, []*gotorch.Tensor) []*gotorch.Tensor {
		calls.Add(1)
		return nil
	})
	parallel.Forward(x)
	if calls.Load() != 2 {
		t.Fatal("called", calls.Load(), "times by two replicas")
	}
	remove()
	if parallel.Forward(x); calls.Load() != 2 {
		t.Fatal("called after it was removed")
	}
}
