package nn_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// tower is a module written in Go, with all that a tree of modules can have.
type tower struct {
	nn.Base
	Embedding *nn.Embedding
	Blocks    []*towerBlock
	Heads     map[string]*nn.Linear
	Scale     *gotorch.Tensor // a parameter
	Shift     *gotorch.Tensor `nn:"buffer"`
	Out       *nn.Sequential
	Tied      *nn.Linear // one of Blocks'
	calls     int
}

type towerBlock struct {
	nn.Base
	FC   *nn.Linear
	Norm *nn.BatchNorm1d
}

func (b *towerBlock) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return b.Norm.Forward(b.FC.Forward(x)).Tanh()
}

func newTower(sparse bool) *tower {
	t := &tower{
		Embedding: nn.NewEmbedding(11, 4, nn.EmbeddingOptions{Sparse: sparse}),
		Blocks:    []*towerBlock{{FC: nn.NewLinear(4, 4), Norm: nn.NewBatchNorm1d(4)}, {FC: nn.NewLinear(4, 4), Norm: nn.NewBatchNorm1d(4)}},
		Heads:     map[string]*nn.Linear{"a": nn.NewLinear(4, 2), "b": nn.NewLinear(4, 3)},
		Scale:     gotorch.Ones([]int{4}).MulScalar(2).SetRequiresGrad(true),
		Shift:     gotorch.Ones([]int{4}),
		Out:       nn.NewSequential(nn.NewLinear(4, 4), nn.NewReLU(), nn.Func(func(x *gotorch.Tensor) *gotorch.Tensor { return x.MulScalar(0.5) })),
	}
	t.Tied = t.Blocks[0].FC
	nn.ToDType(t, gotorch.Float64)
	nn.Eval(t)
	return t
}

// sentence is what tower takes and scores what it gives.
type sentence struct {
	Words, Weights *gotorch.Tensor
	Name           string
	Nothing        *gotorch.Tensor
}

type scores struct {
	Heads map[string]*gotorch.Tensor
	Sums  []*gotorch.Tensor
	Mean  *gotorch.Tensor
	Name  string
}

func (t *tower) Run(s sentence) scores {
	t.calls++
	x := t.Embedding.Forward(s.Words).MeanDim([]int{1})
	for _, block := range t.Blocks {
		x = block.Forward(x)
	}
	x = t.Out.Forward(t.Tied.Forward(x.Mul(t.Scale).Add(t.Shift))).Mul(s.Weights)
	a, b := t.Heads["a"].Forward(x), t.Heads["b"].Forward(x)
	return scores{map[string]*gotorch.Tensor{"a": a, "b": b}, []*gotorch.Tensor{x, nil}, x.Mean(), s.Name}
}

func values(t *testing.T, x *gotorch.Tensor) []float64 {
	t.Helper()
	if x == nil {
		return nil
	}
	if x.Layout() == gotorch.Sparse {
		x = x.ToDense()
	}
	return gotorch.ToSlice[float64](x.Contiguous())
}

func close(t *testing.T, what string, a, b []float64) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%s: %d numbers, want %d", what, len(a), len(b))
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-12 {
			t.Fatalf("%s: %v, want %v", what, a, b)
		}
	}
}

func gradients(t *testing.T, m nn.Module) (all [][]float64) {
	t.Helper()
	for _, p := range nn.Parameters(m) {
		all = append(all, values(t, p.Grad()))
		p.SetGrad(nil)
	}
	return all
}

func settled(t *testing.T, kind string, want int) {
	t.Helper()
	for range 200 {
		if gotorch.LiveCounts()[kind] == want {
			return
		}
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d %ss, want %d", gotorch.LiveCounts()[kind], kind, want)
}

// collected is how many of a kind are alive once what nobody refers to, of earlier tests too, has been freed: the number that
// many collections leave as it is.
func collected(kind string) int {
	alive := gotorch.LiveCounts()[kind]
	for same := 0; same < 10; same++ {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
		if now := gotorch.LiveCounts()[kind]; now != alive {
			alive, same = now, 0
		}
	}
	return alive
}

func TestDataParallelGivesWhatTheModuleGives(t *testing.T) {
	words := make([]int, 6*3)
	for i := range words {
		words[i] = i * 7 % 11
	}
	for _, sparse := range []bool{false, true} {
		for _, count := range []int{1, 2, 4} {
			module := newTower(sparse)
			parallel := nn.NewDataParallel(module, nn.DataParallelOptions{Replicas: count})
			if parallel.Replicas() != count {
				t.Fatal(parallel.Replicas())
			}
			run := func(in func(sentence) scores) (numbers [][]float64) {
				gotorch.Scope(func() {
					weights := gotorch.Arange(6, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}).Unsqueeze(1)
					weights.SetRequiresGrad(true)
					out := in(sentence{gotorch.From(words, 6, 3), weights, "a name", nil})
					if out.Name != "a name" || out.Sums[1] != nil {
						t.Error(out.Name, out.Sums[1])
					}
					loss := out.Mean.Mean().Add(out.Heads["a"].Mul(out.Heads["a"]).Sum()).Add(out.Heads["b"].Sum())
					loss = loss.Add(out.Sums[0].Mul(out.Sums[0]).Sum())
					if err := loss.Backward(); err != nil {
						t.Fatal(err)
					}
					// Rows in pieces of equal size: 3 for 4 replicas.
					if out.Mean.Numel() != 1 && out.Mean.Numel() != min(count, 3) {
						t.Error(out.Mean)
					}
					numbers = append(gradients(t, module), values(t, weights.Grad()), values(t, out.Heads["a"].Detach()),
						values(t, out.Heads["b"].Detach()), values(t, out.Sums[0].Detach()), []float64{loss.Item()})
				})
				return numbers
			}
			want := run(module.Run)
			for range 2 {
				got := run(func(s sentence) scores {
					return nn.ParallelApply(parallel, s, (*tower).Run)
				})
				for i := range want {
					close(t, "number", got[i], want[i])
				}
			}
			if count > 1 && module.calls != 1 {
				t.Errorf("the module itself was called %d times", module.calls)
			}
			parallel.Close()
			parallel.Close()
		}
	}
}

func TestDataParallelFollowsTheModule(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(4, 4), nn.NewBatchNorm1d(4), nn.NewDropout(0.5))
	parallel := nn.NewDataParallel(net, nn.DataParallelOptions{Replicas: 2})
	defer parallel.Close()
	x := gotorch.Rand([]int{8, 4})
	forward := func() *gotorch.Tensor { return parallel.Forward(x).Detach() }
	forward()
	means := nn.State(net)["1.running_mean"]
	if means.Abs().Sum().Item() == 0 {
		t.Error("the first replica's running means are not the module's")
	}
	nn.Eval(parallel)
	if parallel.IsTraining() || !forward().AllClose(net.Forward(x)) {
		t.Error("replicas do not evaluate")
	}
	gotorch.NoGrad(func() { nn.Parameters(net)[0].MulScalarI(3) })
	means.FillScalarI(2)
	if !forward().AllClose(net.Forward(x)) {
		t.Error("replicas have other parameters or buffers")
	}
	nn.Train(parallel)
	draw := func() *gotorch.Tensor {
		if err := gotorch.ManualSeed(5); err != nil {
			t.Fatal(err)
		}
		return forward()
	}
	if first, second, third := draw(), draw(), draw(); !first.Equal(second) || !first.Equal(third) {
		t.Error("the same seed gives other numbers")
	}
	if names := names(nn.NamedParameters(parallel)); !slices.Contains(names, "module.0.weight") {
		t.Error(names)
	}
	gotorch.NoGrad(func() {
		if forward().RequiresGrad() || parallel.Forward(x).RequiresGrad() {
			t.Error("recorded in NoGrad")
		}
	})
}

type picky struct {
	nn.Base
	FC    *nn.Linear
	fails error
}

func (p *picky) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	if x.Slice(0, 0, 1).Sum().Item() > 100 {
		panic(p.fails)
	}
	return p.FC.Forward(x)
}

func TestDataParallelSaysWhichReplicaFailed(t *testing.T) {
	reason := errors.New("the program's own reason")
	parallel := nn.NewDataParallel(&picky{FC: nn.NewLinear(1, 1), fails: reason}, nn.DataParallelOptions{Replicas: 2})
	defer parallel.Close()
	settled(t, "callback", 0)
	err := gotorch.Try(func() { parallel.Forward(gotorch.From([]float32{1, 2, 300, 4}, 4, 1)) })
	var failure *gotorch.CallbackError
	if !errors.Is(err, reason) || !errors.As(err, &failure) || !strings.Contains(err.Error(), "replica 1 of 2, which was given Float[2, 1]") {
		t.Error(err)
	}
	if y := parallel.Forward(gotorch.From([]float32{1, 2, 3, 4}, 4, 1)); y.Size(0) != 4 {
		t.Error(y)
	}
	failed(t, gotorch.ErrInvalidArgument, "-1 replicas", func() {
		nn.NewDataParallel(nn.NewLinear(1, 1), nn.DataParallelOptions{Replicas: -1})
	})
	captured := gotorch.Ones([]int{1}).SetRequiresGrad(true)
	lost := nn.NewDataParallel(nn.NewLinear(1, 1), nn.DataParallelOptions{Replicas: 2})
	failed(t, gotorch.ErrInvalidArgument, "neither parameter input", func() {
		nn.ParallelApply(lost, gotorch.Ones([]int{4, 1}), func(m *nn.Linear, x *gotorch.Tensor) *gotorch.Tensor {
			return m.Forward(x).Mul(captured)
		})
	})
	failed(t, gotorch.ErrInvalidArgument, "a replica called the DataParallel that it belongs to", func() {
		nn.ParallelApply(lost, gotorch.Ones([]int{4, 1}), func(_ *nn.Linear, x *gotorch.Tensor) *gotorch.Tensor {
			return lost.Forward(x)
		})
	})
	lost.Close()
	failed(t, gotorch.ErrClosed, "closed", func() { lost.Forward(gotorch.Ones([]int{4, 1})) })
}

// Graphs that go give their replicas back, and the threads end.
func TestDataParallelLetsGoOfItsReplicas(t *testing.T) {
	settled(t, "callback", 0)
	module := nn.NewLinear(4, 2)
	modules := collected("module")
	parallel := nn.NewDataParallel(module, nn.DataParallelOptions{Replicas: 3})
	x := gotorch.Rand([]int{6, 4})
	for range 50 {
		gotorch.Scope(func() {
			loss := parallel.Forward(x).Sum().Add(parallel.Forward(x).Sum())
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
		})
	}
	// Two forwards were alive at once.
	if now := gotorch.LiveCounts()["module"] - modules; now != 6 {
		t.Errorf("%d modules are replicas, want 6", now)
	}
	if n := gotorch.LiveCounts()["callback"]; n != 0 {
		t.Errorf("%d callbacks are left", n)
	}
	parallel.Close()
	runtime.KeepAlive(module)
}

func TestDataParallelByManyGoroutines(t *testing.T) {
	module := nn.NewLinear(4, 2)
	parallel := nn.NewDataParallel(module, nn.DataParallelOptions{Replicas: 2})
	defer parallel.Close()
	x := gotorch.Rand([]int{6, 4})
	want := module.Forward(x).Detach()
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for range 20 {
				gotorch.Scope(func() {
					if !parallel.Forward(x).AllClose(want) {
						t.Error("another result")
					}
				})
			}
		})
	}
	done.Wait()
}
