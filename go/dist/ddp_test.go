package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

const globalBatch, steps = 64, 50

func newModel() nn.Layer {
	return nn.NewSequential(nn.NewLinear(20, 50), nn.NewTanh(), nn.NewLinear(50, 4))
}

// sample is the global batch of a step: the same in every process.
func sample(step int) (x, y *gotorch.Tensor) {
	values, labels := make([]float32, globalBatch*20), make([]int, globalBatch)
	for i := range values {
		values[i] = float32(math.Sin(float64(i*7919+step*104729) * 0.37))
	}
	for i := range labels {
		labels[i] = (i*31 + step*17) % 4
	}
	return gotorch.From(values, globalBatch, 20), gotorch.From(labels)
}

// train makes 50 steps on samples [from, to) of each global batch.
func train(forward func(*gotorch.Tensor) *gotorch.Tensor, model nn.Module, from, to int) error {
	sgd := optim.SGD(nn.Parameters(model), 0.1, optim.SGDOptions{Momentum: 0.9})
	for step := range steps {
		var err error
		gotorch.Scope(func() {
			x, y := sample(step)
			err = sgd.Minimize(F.CrossEntropy(forward(x.Slice(0, from, to)), y.Slice(0, from, to)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func ddpChild(ctx context.Context) error {
	backend := environment("BACKEND")
	group, err := dist.Init(ctx, dist.Options{Backend: backend})
	if err != nil {
		return err
	}
	defer group.Close()
	if err := check(backend == "" || group.Backend() == backend, "the backend is %s", group.Backend()); err != nil {
		return err
	}
	// Ranks begin with different weights: DDP has to make them rank 0's.
	if err := gotorch.ManualSeed(uint64(100 + group.Rank())); err != nil {
		return err
	}
	model := newModel()
	folder := environment("FOLDER")
	if group.Rank() == 0 {
		if err := nn.Save(filepath.Join(folder, "first.safetensors"), model); err != nil {
			return err
		}
	}
	wrapped := nn.Module(model)
	if environment("REPLICAS") != "" {
		parallel := nn.NewDataParallel(model, nn.DataParallelOptions{Replicas: 2})
		defer parallel.Close()
		wrapped = parallel
	}
	ddp, err := dist.NewDDP(group, wrapped, dist.DDPOptions{GradientAsBucketView: environment("VIEWS") != "",
		BucketCapMB: gotorch.Some(0.001)})
	if err != nil {
		return err
	}
	defer ddp.Close()
	half := globalBatch / 2
	if err := train(ddp.Forward, model, group.Rank()*half, (group.Rank()+1)*half); err != nil {
		return err
	}
	if group.Rank() == 0 {
		if err := nn.Save(filepath.Join(folder, "last.safetensors"), model); err != nil {
			return err
		}
	}
	equal, err := group.AllEqual(ctx, []byte(nn.Fingerprint(model)))
	return errors.Join(err, check(equal, "the ranks' parameters differ"))
}

func TestTwoRanksTrainAsOne(t *testing.T) {
	for _, option := range []string{"VIEWS=", "VIEWS=1", "REPLICAS=2"} {
		folder := t.TempDir()
		succeed(t, ranks(t, 2, "ddp", "FOLDER="+folder, option))
		model := newModel()
		if err := nn.Load(filepath.Join(folder, "first.safetensors"), model); err != nil {
			t.Fatal(err)
		}
		before := nn.Fingerprint(model)
		if err := train(model.Forward, model, 0, globalBatch); err != nil {
			t.Fatal(err)
		}
		if nn.Fingerprint(model) == before {
			t.Fatal("nothing was trained")
		}
		last, _, err := gotorch.Open(filepath.Join(folder, "last.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range nn.State(model) {
			if !last[name].AllClose(want, gotorch.AllCloseOptions{RTol: gotorch.Some(1e-4), ATol: gotorch.Some(1e-5)}) {
				t.Errorf("%s: %s differs by up to %g", option, name, last[name].Sub(want).Abs().Max().Item())
			}
		}
	}
}

func TestSharedMemoryTrainsToTheBitsOfGloo(t *testing.T) {
	trained := map[string]map[string]*gotorch.Tensor{}
	for _, backend := range []string{"gloo", "shm"} {
		folder := t.TempDir()
		succeed(t, ranks(t, 2, "ddp", "FOLDER="+folder, "VIEWS=1", "BACKEND="+backend))
		last, _, err := gotorch.Open(filepath.Join(folder, "last.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		trained[backend] = last
	}
	for name, want := range trained["gloo"] {
		if got := trained["shm"][name]; got == nil || !got.Equal(want) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestNoSyncAccumulates(t *testing.T) {
	noSyncAccumulates(t, func(ddp *dist.DDP, backward func() error) error { return ddp.NoSync(backward) })
}

// The inner one's end does not end the outer one.
func TestNoSyncInsideOfNoSync(t *testing.T) {
	noSyncAccumulates(t, func(ddp *dist.DDP, backward func() error) error {
		return ddp.NoSync(func() error {
			if err := ddp.NoSync(func() error { return nil }); err != nil {
				return err
			}
			return backward()
		})
	})
}

func noSyncAccumulates(t *testing.T, noSync func(ddp *dist.DDP, backward func() error) error) {
	t.Helper()
	threads(t, 2, func(_ context.Context, group *dist.ProcessGroup) error {
		layer := nn.NewLinear(1, 1, nn.LinearOptions{Bias: nn.Some(false)})
		ddp, err := dist.NewDDP(group, layer)
		if err != nil {
			return err
		}
		defer ddp.Close()
		x := gotorch.From([]float32{float32(group.Rank() + 1)}, 1, 1)
		backward := func() error { return ddp.Forward(x).Sum().Backward() }
		if err := noSync(ddp, backward); err != nil {
			return err
		}
		if got, want := layer.Weight.Grad().Item(), float64(group.Rank()+1); got != want {
			return fmt.Errorf("in NoSync the gradient is %v, want this rank's %v", got, want)
		}
		if err := backward(); err != nil {
			return err
		}
		if got := layer.Weight.Grad().Item(); got != 3 {
			return fmt.Errorf("after NoSync the gradient is %v, want the mean of 2 and 4", got)
		}
		return nil
	})
}

func TestDDPNamesWhatDiffers(t *testing.T) {
	var messages [2]string
	threads(t, 2, func(_ context.Context, group *dist.ProcessGroup) error {
		_, err := dist.NewDDP(group, nn.NewSequential(nn.NewLinear(2, 2), nn.NewLinear(2, 3+group.Rank())))
		if !errors.Is(err, gotorch.ErrInvalidArgument) {
			return fmt.Errorf("NewDDP of different shapes: %v", err)
		}
		messages[group.Rank()] = err.Error()
		return nil
	})
	if !slices.ContainsFunc(messages[:], func(s string) bool { return strings.Contains(s, "1.weight") }) {
		t.Fatal(messages)
	}
}

func TestDDPAfterClose(t *testing.T) {
	threads(t, 1, func(_ context.Context, group *dist.ProcessGroup) error {
		ddp, err := dist.NewDDP(group, nn.NewLinear(1, 1))
		if err != nil {
			return err
		}
		nn.Eval(ddp)
		if ddp.IsTraining() || ddp.Module.IsTraining() || nn.NamedParameters(ddp)[0].Name != "module.weight" {
			return fmt.Errorf("a DDP wrapper is no module like others: %v", nn.NamedParameters(ddp))
		}
		ddp.Close()
		ddp.Close()
		err = gotorch.Try(func() { ddp.Forward(gotorch.Ones([]int{1, 1})) })
		return check(errors.Is(err, gotorch.ErrClosed), "Forward after Close: %v", err)
	})
}

// lostWhileTraining has rank 0 die after two steps; rank 1 must notice in its next forward, where buffers come from rank
// 0, or without buffers in its next backward.
func lostWhileTraining(ctx context.Context) error {
	group, err := dist.Init(ctx)
	if err != nil {
		return err
	}
	defer group.Close()
	model := nn.NewSequential(nn.NewLinear(4, 4))
	if environment("WHERE") == "forward" {
		model.Append(nn.NewBatchNorm1d(4))
	}
	ddp, err := dist.NewDDP(group, model)
	if err != nil {
		return err
	}
	defer ddp.Close()
	x := gotorch.Rand([]int{8, 4})
	for range 2 { // the second forward still exchanges the order of buckets
		if err := ddp.Forward(x).Sum().Backward(); err != nil {
			return err
		}
	}
	if group.Rank() == 0 {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	var y *gotorch.Tensor
	err = gotorch.Try(func() { y = ddp.Forward(x) })
	if environment("WHERE") == "forward" {
		var ours *dist.Error
		return check(errors.As(err, &ours) && ours.Rank == 1 && errors.Is(err, gotorch.ErrPeerLost), "Forward gives %v", err)
	}
	if err != nil {
		return err
	}
	err = y.Sum().Backward()
	return check(errors.Is(err, gotorch.ErrPeerLost), "Backward gives %v", err)
}

func TestPeerLostWhileTraining(t *testing.T) {
	for _, where := range []string{"forward", "backward"} {
		all := ranks(t, 2, "lost while training", "WHERE="+where)
		all[0].wait(t)
		if code := all[1].wait(t); code != 0 {
			t.Errorf("%s: exit code %d: %s", where, code, all[1].output.String())
		}
	}
}

// tiedNet has one weight in two places.
type tiedNet struct {
	nn.Base
	Embed *nn.Embedding
	Head  *nn.Linear
}

func (n *tiedNet) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return n.Head.Forward(n.Embed.Forward(x))
}

func TestDDPAveragesTiedWeightsOnce(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		model := &tiedNet{Embed: nn.NewEmbedding(4, 2), Head: nn.NewLinear(2, 4)}
		nn.Tie(model, "head.weight", "embed.weight")
		nn.ToDType(model, gotorch.Float64)
		ddp, err := dist.NewDDP(group, model)
		if err != nil {
			return err
		}
		defer ddp.Close()
		if err := ddp.Forward(gotorch.From([]int{group.Rank(), 3})).Square().Sum().Backward(); err != nil {
			return err
		}
		got := model.Embed.Weight.Grad().Clone()
		// Both ranks' samples on one: twice the average.
		model.Embed.Weight.SetGrad(nil)
		if err := model.Forward(gotorch.From([]int{0, 3, 1, 3})).Square().Sum().Backward(); err != nil {
			return err
		}
		return near(got, model.Embed.Weight.Grad().DivScalar(2), 1e-10)
	})
}
