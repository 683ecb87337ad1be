package checkpoint_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// reload gives what an optimizer of another model remembers once it has loaded what the first one did.
func reload(t *testing.T, net *nn.Sequential, before, after *optim.Optimizer) {
	t.Helper()
	ctx := context.Background()
	folder := open(t, filepath.Join(t.TempDir(), "run"))
	if err := folder.Save(ctx, 1, checkpoint.State{Model: net, Optimizer: before}); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Load(ctx, &checkpoint.State{Model: net, Optimizer: after}); err != nil {
		t.Fatal(err)
	}
	want, err := before.State()
	if err != nil {
		t.Fatal(err)
	}
	got, err := after.State()
	if err != nil {
		t.Fatal(err)
	}
	if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, slices.Sorted(maps.Keys(want))) {
		t.Fatalf("it remembers %q, not %q", keys, slices.Sorted(maps.Keys(want)))
	}
	for key, tensor := range want {
		if !got[key].Equal(tensor) {
			t.Errorf("%s is %v, not %v", key, got[key], tensor)
		}
	}
}

// What an optimizer remembers under other keys than a parameter's number and one word is all loaded.
func TestOptimizersLoadAllThatTheyRemember(t *testing.T) {
	net := cutModel()
	lbfgs := func() *optim.Optimizer { return optim.LBFGS(nn.Parameters(net), 0.01) }
	trained := lbfgs()
	for range 3 {
		if _, err := trained.StepClosure(func() (*gotorch.Tensor, error) {
			trained.ZeroGrad()
			loss := cutLoss([]*gotorch.Tensor{net.Forward(cutBatch(0))}, []*gotorch.Tensor{cutBatch(1)})
			return loss, loss.Backward()
		}); err != nil {
			t.Fatal(err)
		}
	}
	state, err := trained.State()
	if err != nil || state["0.old_dirs.0"] == nil {
		t.Fatalf("L-BFGS remembers %q, %v", slices.Sorted(maps.Keys(state)), err)
	}
	reload(t, net, trained, lbfgs())

	ranks(t, 1, func(_ int, group *dist.ProcessGroup) {
		var averagers []*dist.ModelAverager
		defer func() {
			for _, one := range averagers {
				one.Close()
			}
		}()
		local := func() *optim.Optimizer {
			averager, err := dist.NewPeriodicModelAverager(group, 2, 1)
			if err != nil {
				t.Fatal(err)
			}
			averagers = append(averagers, averager)
			made, err := dist.NewPostLocalSGDOptimizer(optim.SGD(nn.Parameters(net), 0.1), averager)
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		trained := local()
		for range 3 {
			loss := cutLoss([]*gotorch.Tensor{net.Forward(cutBatch(0))}, []*gotorch.Tensor{cutBatch(1)})
			if err := trained.Minimize(loss); err != nil {
				t.Fatal(err)
			}
		}
		reload(t, net, trained, local())
	})
}

func TestAPipelineRefusesWhatItCannotKeep(t *testing.T) {
	ctx := context.Background()
	ranks(t, 1, func(_ int, group *dist.ProcessGroup) {
		net := cutModel()
		frozen := nn.Parameters(net)[0]
		frozen.SetRequiresGrad(false)
		stages := dist.JoinPipelineLayers(dist.PipelineLayers(net), []int{0})
		pipeline, err := dist.NewPipeline(group, stages, dist.PipelineOptions{MicroBatches: 1, Loss: cutLoss})
		if err != nil {
			t.Fatal(err)
		}
		defer pipeline.Close()
		folder := open(t, filepath.Join(t.TempDir(), "run"))
		refused := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%q: got %v", what, err)
			}
		}
		state := checkpoint.State{Pipeline: pipeline, Averages: optim.EMA(stages[0].Parameters(), nil, 0.9)}
		refused("Averages of a Pipeline's stages are not kept", folder.Save(ctx, 1, state))
		step := func(optimizer *optim.Optimizer) {
			t.Helper()
			if _, err := optimizer.StepClosure(func() (*gotorch.Tensor, error) {
				loss := cutLoss([]*gotorch.Tensor{net.Forward(cutBatch(0))}, []*gotorch.Tensor{cutBatch(1)})
				return loss, loss.Backward()
			}); err != nil {
				t.Fatal(err)
			}
		}
		lbfgs := optim.LBFGS(stages[0].Parameters()[1:], 0.01)
		step(lbfgs)
		refused("leave the Optimizer out", folder.Save(ctx, 1, checkpoint.State{Pipeline: pipeline, Optimizer: lbfgs}))

		// By number, and nothing of parameter 0.
		adam := optim.Adam(stages[0].Parameters(), 0.01)
		step(adam)
		if err := folder.Save(ctx, 1, checkpoint.State{Model: net, Optimizer: adam}); err != nil {
			t.Fatal(err)
		}
		_, err = folder.Load(ctx, &checkpoint.State{Pipeline: pipeline, Optimizer: adam})
		refused("remembers by number", err)
		if err := folder.Save(ctx, 2, checkpoint.State{Pipeline: pipeline, Optimizer: adam}); err != nil {
			t.Fatal(err)
		}
		if _, err = folder.Load(ctx, &checkpoint.State{Pipeline: pipeline, Optimizer: adam}); err != nil {
			t.Error(err)
		}
		other := optim.Adam(nn.Parameters(cutModel()), 0.01)
		_, err = folder.Load(ctx, &checkpoint.State{Pipeline: pipeline, Optimizer: other})
		refused("parameter 0 is of no stage of this rank", err)
	})
}
