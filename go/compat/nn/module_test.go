package nn_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	core "tandem.example/gotorch"
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn"
	"tandem.example/gotorch/compat/nn/initializer"
	corenn "tandem.example/gotorch/nn"
)

type net struct {
	nn.Module
	W       torch.Tensor
	Missing torch.Tensor
	Mean    torch.Tensor `gotorch:"buffer"`
	FC      *nn.LinearModule
	None    *nn.LinearModule
	List    []*nn.LinearModule
	Any     nn.IModule
	Scales  [2]torch.Tensor
	Seen    []torch.Tensor `gotorch:"buffer"`
	count   int
}

func newNet() *net {
	one := func() torch.Tensor { return torch.Ones([]int64{1}, true) }
	n := &net{W: one(), Mean: torch.Ones([]int64{1}, false), FC: nn.Linear(2, 1, true),
		List: []*nn.LinearModule{nn.Linear(1, 1, false), nil, nn.Linear(1, 1, false)}, Any: nn.Sequential(nn.Linear(1, 1, false)),
		Scales: [2]torch.Tensor{one(), one()}, Seen: []torch.Tensor{torch.Ones([]int64{2}, false)}, count: 1}
	n.Init(n)
	return n
}

func TestNames(t *testing.T) {
	n := newNet()
	parameters := []string{"net.Any.Modules[0].Weight", "net.FC.Bias", "net.FC.Weight", "net.List[0].Weight",
		"net.List[2].Weight", "net.Scales[0]", "net.Scales[1]", "net.W"}
	buffers := []string{"net.Mean", "net.Seen[0]"}
	if got := slices.Sorted(maps.Keys(n.NamedParameters())); !slices.Equal(got, parameters) {
		t.Error(got)
	}
	if got := slices.Sorted(maps.Keys(n.NamedBuffers())); !slices.Equal(got, buffers) {
		t.Error(got)
	}
	if got := len(n.StateDict()); got != 10 || len(n.Parameters()) != 8 || len(n.Buffers()) != 2 {
		t.Error(got)
	}
	if n.Name() != "nn_test.net" || n.FC.Name() != "nn.LinearModule" || n.Outer() != nn.IModule(n) || n.FC.Outer() != nn.IModule(n.FC) {
		t.Error(n.Name(), n.FC.Name())
	}
}

func TestTrainAndApply(t *testing.T) {
	n := newNet()
	all := []nn.IModule{n, n.FC, n.List[0], n.List[2], n.Any, n.Any.(*nn.SequentialModule).Modules[0]}
	for _, on := range []bool{true, false} {
		n.Train(on)
		for _, m := range all {
			if m.IsTraining() != on {
				t.Error(m.Name())
			}
		}
	}
	var visited []nn.IModule
	n.Apply(func(m nn.IModule) { visited = append(visited, m.(*nn.Module).Outer()) })
	if !slices.Equal(visited, all) {
		t.Error(visited)
	}
}

func TestTo(t *testing.T) {
	n := newNet()
	weight := n.FC.Weight
	n.To(torch.NewDevice("cpu"), torch.Double)
	if weight.Dtype() != torch.Double || n.Mean.Dtype() != torch.Double || !weight.Unwrap().RequiresGrad() {
		t.Error("the tensors were replaced or not converted")
	}
	n.To(torch.NewDevice("cpu"))
	if weight.Dtype() != torch.Double {
		t.Error("a device alone changed the type")
	}
}

func TestSetStateDict(t *testing.T) {
	from, to := newNet(), newNet()
	state := from.StateDict()
	if err := to.SetStateDict(state); err != nil || to.FC.Weight != from.FC.Weight || to.Scales[1] != from.Scales[1] {
		t.Error(err)
	}
	fresh := newNet()
	before := fresh.FC.Weight
	delete(state, "net.W")
	if err := fresh.SetStateDict(state); err == nil || !strings.Contains(err.Error(), "net.W") {
		t.Error(err)
	}
	state = from.StateDict()
	state["net.More"] = from.W
	if err := fresh.SetStateDict(state); err == nil || !strings.Contains(err.Error(), "net.More") || fresh.FC.Weight != before {
		t.Error(err)
	}
}

type private struct {
	nn.Module
	fc *nn.LinearModule
}

type byPointer struct{ *nn.Module }

func wantPanic(t *testing.T, part string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, ok := recover().(string); !ok || !strings.Contains(text, part) {
			t.Errorf("the panic is %q, without %q", text, part)
		}
	}()
	f()
}

func TestMisuse(t *testing.T) {
	var n net
	cpu := torch.NewDevice("cpu")
	for _, use := range []func(){func() { n.Train(true) }, func() { n.To(cpu) }, func() { n.NamedParameters() }, func() { n.Buffers() },
		func() { n.StateDict() }, func() { _ = n.SetStateDict(nil) }, func() { n.Apply(func(nn.IModule) {}) }} {
		wantPanic(t, "Init", use)
	}
	p := &private{fc: nn.Linear(1, 1, false)}
	p.Init(p)
	wantPanic(t, "fc", func() { p.Parameters() })
	wantPanic(t, "fc", func() { p.Train(true) })
	wrong := &byPointer{&nn.Module{}}
	wantPanic(t, "embed", func() { wrong.Init(wrong) })
	other := &net{}
	wantPanic(t, "embed", func() { n.Init(other) })
}

// Seeded alike, layers begin as Tandem's, and so as Python's.
func TestStartingValues(t *testing.T) {
	weights := func(m corenn.Module) []*core.Tensor { return corenn.Parameters(m) }
	for i, c := range []struct {
		compat func() (weight, bias torch.Tensor)
		native func() []*core.Tensor
	}{
		{func() (w, b torch.Tensor) { l := nn.Linear(3, 4, true); return l.Weight, l.Bias },
			func() []*core.Tensor { return weights(corenn.NewLinear(3, 4)) }},
		{func() (w, b torch.Tensor) {
			l := nn.Conv2d(4, 6, 3, 1, 0, 1, 2, true, "zeros")
			return l.Weight, l.Bias
		}, func() []*core.Tensor { return weights(corenn.NewConv2d(4, 6, 3, corenn.ConvOptions{Groups: 2})) }},
		{func() (w, b torch.Tensor) {
			l := nn.ConvTranspose2d(4, 6, 3, 1, 0, 0, 2, true, 1, "zeros")
			return l.Weight, l.Bias
		}, func() []*core.Tensor {
			return weights(corenn.NewConvTranspose2d(4, 6, 3, corenn.ConvTransposeOptions{Groups: 2}))
		}},
	} {
		initializer.ManualSeed(7)
		weight, bias := c.compat()
		initializer.ManualSeed(7)
		native := c.native()
		if !weight.Unwrap().Equal(native[0]) || !bias.Unwrap().Equal(native[1]) {
			t.Error(i, weight, native)
		}
	}
}

func TestLayers(t *testing.T) {
	initializer.ManualSeed(1)
	x := torch.RandN([]int64{2, 4, 7, 7}, false)
	for want, y := range map[string]torch.Tensor{
		"[2 6 3 3]":   nn.Conv2d(4, 6, 3, 2, 0, 1, 2, false, "zeros").Forward(x),
		"[2 6 16 16]": nn.ConvTranspose2d(4, 6, 3, 2, 0, 1, 1, true, 1, "zeros").Forward(x),
		"[2 4 7 5]":   nn.Linear(7, 5, true).Forward(x),
	} {
		if got := fmt.Sprint(y.Shape()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	compat, native := nn.BatchNorm2d(4, 1e-5, 0.1, true, true), corenn.NewBatchNorm2d(4)
	for _, training := range []bool{true, true, false} {
		compat.Train(training)
		if !training {
			corenn.Eval(native)
		}
		if y, z := compat.Forward(x), native.Forward(x.Unwrap()); !y.Unwrap().Equal(z) {
			t.Error(training, y, z)
		}
	}
	if len(compat.Buffers()) != 2 || torch.Equal(compat.RunningMean, torch.Full([]int64{4}, 0, false)) {
		t.Error(compat.RunningMean)
	}
	plain := nn.BatchNorm2d(4, 1e-5, 0.1, false, false)
	plain.Train(false)
	if y := plain.Forward(x); len(plain.StateDict()) != 0 || torch.Equal(y, x) {
		t.Error("without running numbers a batch has its own, in evaluation, too")
	}
}

type add struct{ nn.Module }

func (*add) Forward(x, y int) (sum, difference int) { return x + y, x - y }

type join struct{ nn.Module }

func (*join) Forward(x, y int) string { return strconv.Itoa(x) + strconv.Itoa(y) }

func TestSequential(t *testing.T) {
	if got := nn.Sequential(nn.Sequential(&add{}, &join{})).Forward(3, 2); got != "51" {
		t.Error(got)
	}
	double := nn.Functional(func(x torch.Tensor) torch.Tensor { return torch.Add(x, x, 1) })
	if got := nn.Sequential(double, double).Forward(torch.Ones([]int64{1}, false)).(torch.Tensor).Item(); got != float32(4) {
		t.Error(got)
	}
	wantPanic(t, "no modules", func() { nn.Sequential().Forward(1) })
	wantPanic(t, "must give one", func() { nn.Sequential(&add{}).Forward(1, 2) })
	wantPanic(t, "Forward", func() { nn.Sequential(&byPointer{}).Forward(1) })
}
