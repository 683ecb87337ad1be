package checkpoint_test

import (
	"context"
	"fmt"
	"maps"
	"math"
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

const cutLayers, cutRows = 6, 8

// cutModel has its first weight in its last layer as well.
func cutModel() *nn.Sequential {
	net := nn.NewSequential()
	for i := range cutLayers {
		layer := nn.NewLinear(4, 4)
		nn.ToDType(layer, gotorch.Float64)
		gotorch.NoGrad(func() {
			for k, parameter := range nn.Parameters(layer) {
				parameter.CopyI(numbers(parameter.Numel(), i+k).Reshape(parameter.Shape()...))
			}
		})
		net.Append(layer)
	}
	nn.Tie(net, "5.weight", "0.weight")
	return net
}

func numbers(count, seed int) *gotorch.Tensor {
	values := make([]float64, count)
	for i := range values {
		values[i] = math.Sin(float64(i + seed))
	}
	return gotorch.From(values)
}

func cutBatch(step int) *gotorch.Tensor {
	return numbers(4*cutRows, step).Reshape(cutRows, 4)
}

func cutLoss(outputs, targets []*gotorch.Tensor) *gotorch.Tensor {
	return outputs[0].Sub(targets[0]).Square().Mean()
}

// trainCut goes on from the newest checkpoint, if there is one, with the model on all ranks of a group, and saves.
func trainCut(group *dist.ProcessGroup, path string, first []int, begin, end int) (err error) {
	ctx := context.Background()
	var own []dist.PipelineStage
	for _, stage := range dist.JoinPipelineLayers(dist.PipelineLayers(cutModel()), first) {
		if stage.Index%group.Size() == group.Rank() {
			own = append(own, stage)
		}
	}
	var parameters []*gotorch.Tensor
	for _, stage := range own {
		parameters = append(parameters, stage.Parameters()...)
	}
	slices.Reverse(parameters) // an order of the optimizer's own
	adam := optim.Adam(unique(parameters), 0.01)
	pipeline, err := dist.NewPipeline(group, own, dist.PipelineOptions{Schedule: "interleaved1f1b", MicroBatches: 4,
		StagesPerRank: len(own), Loss: cutLoss})
	if err != nil {
		return err
	}
	defer pipeline.Close()
	folder, err := checkpoint.Open(path, checkpoint.Options{Group: group})
	if err != nil {
		return err
	}
	defer folder.Close()
	step := 0
	state := checkpoint.State{Pipeline: pipeline, Optimizer: adam, Values: &step}
	if _, err := folder.Load(ctx, &state); err != nil {
		return err
	}
	if step != begin {
		return fmt.Errorf("it goes on at %d, not at %d", step, begin)
	}
	for ; step < end; step++ {
		batch := []*gotorch.Tensor{cutBatch(step)}
		if _, err := pipeline.Step(batch, batch); err != nil {
			return err
		}
		if err := adam.Step(); err != nil {
			return err
		}
		adam.ZeroGrad()
	}
	return folder.Save(ctx, step, state)
}

func unique(list []*gotorch.Tensor) (all []*gotorch.Tensor) {
	for _, one := range list {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

func TestAPipelineLoadsAtAnotherNumberOfStages(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "run")
	alone := cutModel()
	adam := optim.Adam(nn.Parameters(alone), 0.01)
	train := func(net *nn.Sequential, adam *optim.Optimizer, begin, end int) {
		for step := begin; step < end; step++ {
			if err := adam.Minimize(cutLoss([]*gotorch.Tensor{net.Forward(cutBatch(step))}, []*gotorch.Tensor{cutBatch(step)})); err != nil {
				t.Fatal(err)
			}
		}
	}
	done := 0
	for _, first := range [][]int{{0, 3}, {0, 1, 4}, {0, 2}} {
		size := len(first)
		if done > 6 { // the last time two stages on one rank
			size = 1
		}
		ranks(t, size, func(rank int, group *dist.ProcessGroup) {
			if err := trainCut(group, path, first, done, done+4); err != nil {
				t.Errorf("%v, rank %d: %v", first, rank, err)
			}
		})
		done += 4
	}
	train(alone, adam, 0, done)
	// Without a pipeline it is a model and its optimizer.
	whole := cutModel()
	again := optim.Adam(nn.Parameters(whole), 0.01)
	folder := open(t, path, checkpoint.Options{})
	defer folder.Close()
	step := 0
	if _, err := folder.Load(ctx, &checkpoint.State{Model: whole, Optimizer: again, Values: &step}); err != nil {
		t.Fatal(err)
	}
	train(alone, adam, done, done+2)
	train(whole, again, step, done+2)
	want := nn.State(alone)
	for name, tensor := range nn.State(whole) {
		if apart := tensor.Sub(want[name]).Abs().Max().Item(); apart > 1e-11 {
			t.Errorf("%s differs by %g", name, apart)
		}
	}
	sections, _, err := folder.LoadTensors(ctx, checkpoint.Selection{Sections: []string{"model"}})
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(sections["model"]))
	wanted := slices.Sorted(maps.Keys(want))
	wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == "5.weight" }) // of the tied ones the first
	if !slices.Equal(names, wanted) {
		t.Errorf("the checkpoint has %q, not %q", names, wanted)
	}
	for _, tensor := range sections["model"] {
		tensor.Close()
	}
	// And what no pipeline saved has an optimizer's state by numbers.
	if err := folder.Save(ctx, done, checkpoint.State{Model: whole, Optimizer: again, Values: done}); err != nil {
		t.Fatal(err)
	}
	ranks(t, 1, func(_ int, group *dist.ProcessGroup) {
		if err := trainCut(group, path, []int{0}, done, done); err == nil || !strings.Contains(err.Error(), "by number") {
			t.Errorf("the load gave %v", err)
		}
	})
}
