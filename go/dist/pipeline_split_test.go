package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// slowLayer takes at least so long, forward alone.
func slowLayer(delay time.Duration) nn.Layer {
	return nn.Func(func(x *gotorch.Tensor) *gotorch.Tensor {
		time.Sleep(delay)
		return x.MulScalar(2)
	})
}

func meanSquare(outputs, targets []*gotorch.Tensor) *gotorch.Tensor {
	return outputs[0].Sub(targets[0]).Square().Mean()
}

// pipelineSplitChild trains a Sequential and a program of torch.export whose stages are found by their time, and one process
// each beside it.
func pipelineSplitChild(ctx context.Context) error {
	group, err := dist.Init(ctx, dist.Options{Backend: "shm"})
	if err != nil {
		return err
	}
	defer group.Close()
	// On rank 0 the last layer is the slow one, on the others another.
	slow := nn.NewSequential()
	for i := range 4 {
		delay := time.Duration(0)
		if (i == 3) == (group.Rank() == 0) && i > 1 {
			delay = 50 * time.Millisecond
		}
		slow.Append(slowLayer(delay))
	}
	x := gotorch.Linspace(-1, 1, 12, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}).Reshape(4, 3)
	stages, err := dist.SplitByTime(ctx, group, dist.PipelineLayers(slow), []*gotorch.Tensor{x}, dist.SplitOptions{Repeats: 1})
	if err != nil {
		return err
	}
	if err := check(len(stages) == 1 && len(stages[0].Layers) == 3-2*group.Rank(), "stages %v", stages); err != nil {
		return err
	}
	newNet := func() *nn.Sequential {
		gotorch.ManualSeed(5)
		net := nn.NewSequential(nn.NewLinear(3, 8), nn.NewTanh(), nn.NewBatchNorm1d(8), nn.NewLinear(8, 8), nn.NewTanh(), nn.NewLinear(8, 2))
		nn.ToDType(net, gotorch.Float64)
		nn.Tie(net, "3.bias", "0.bias")
		nn.Eval(net.Layer(2)) // its statistics would be those of micro-batches
		return net
	}
	y := gotorch.Linspace(-2, 1, 8, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}).Reshape(4, 2)
	net := newNet()
	if err := trainSplit(ctx, group, net, net.Forward, dist.PipelineLayers(newNet()), x, y); err != nil {
		return fmt.Errorf("a Sequential: %w", err)
	}
	path := filepath.Join(environment("ARCHIVES"), "mlp.pt2")
	whole, err := export.Load(path)
	if err != nil {
		return err
	}
	program, err := export.Load(path)
	if err != nil {
		return err
	}
	layers, err := dist.ProgramLayers(program, 4)
	if err != nil {
		return err
	}
	options := gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}
	x, y = gotorch.Linspace(-1, 1, 24, options).Reshape(4, 6), gotorch.Linspace(-2, 1, 12, options).Reshape(4, 3)
	if err := trainSplit(ctx, group, whole, whole.Forward, layers, x, y); err != nil {
		return fmt.Errorf("a program: %w", err)
	}
	_, err = dist.SplitByTime(ctx, group, dist.PipelineLayers(nn.NewSequential(nn.NewTanh())), []*gotorch.Tensor{x})
	var ours *gotorch.Error
	if !errors.As(err, &ours) || !strings.Contains(err.Error(), "1 layers do not divide into 2 stages") {
		return fmt.Errorf("the split gave %w", err)
	}
	// What rank 1 alone cannot give, rank 0 hears of, too.
	row := gotorch.Linspace(-1, 1, 12).Reshape(4, 3)
	twice := []dist.PipelineStage{{Module: nn.NewLinear(3, 3), Prefix: "a."}, {Module: nn.NewLinear(3, 3), Prefix: "b."}}
	if group.Rank() == 1 {
		twice[1].Prefix = "a."
	}
	_, err = dist.SplitByTime(ctx, group, twice, []*gotorch.Tensor{row})
	if !errors.As(err, &ours) || !strings.Contains(err.Error(), `two layers have a tensor "a.weight" of their own`) {
		return fmt.Errorf("the split gave %w", err)
	}
	// A module of one tensor would leave the other one out.
	both := []dist.PipelineStage{{Module: nn.NewLinear(3, 3), Prefix: "a."}, {Module: nn.NewLinear(3, 3), Prefix: "b."}}
	_, err = dist.SplitByTime(ctx, group, both, []*gotorch.Tensor{row, row})
	if !errors.As(err, &ours) || !strings.Contains(err.Error(), "takes one tensor here, not 2") {
		return fmt.Errorf("the split gave %w", err)
	}
	return group.Barrier(ctx)
}

func trainSplit(ctx context.Context, group *dist.ProcessGroup, whole nn.Module, forward func(*gotorch.Tensor) *gotorch.Tensor,
	layers []dist.PipelineStage, x, y *gotorch.Tensor) error {
	stages, err := dist.SplitByTime(ctx, group, layers, []*gotorch.Tensor{x.Narrow(0, 0, 2)}, dist.SplitOptions{Repeats: 1,
		Loss: meanSquare, Targets: []*gotorch.Tensor{y.Narrow(0, 0, 2)}})
	if err != nil {
		return err
	}
	pipeline, err := dist.NewPipeline(group, stages, dist.PipelineOptions{MicroBatches: 2, Loss: meanSquare})
	if err != nil {
		return err
	}
	defer pipeline.Close()
	parameters := stages[0].Parameters()
	sgd, alone := optim.SGD(parameters, 0.1), optim.SGD(nn.Parameters(whole), 0.1)
	for range 5 {
		want := meanSquare([]*gotorch.Tensor{forward(x)}, []*gotorch.Tensor{y})
		if err := alone.Minimize(want); err != nil {
			return err
		}
		var inputs, targets []*gotorch.Tensor
		if group.Rank() == 0 {
			inputs = []*gotorch.Tensor{x}
		}
		if group.Rank() == group.Size()-1 {
			targets = []*gotorch.Tensor{y}
		}
		loss, err := pipeline.Step(inputs, targets)
		if err != nil {
			return err
		}
		if err := check(math.Abs(loss-want.Item()) < 1e-11, "the loss is %g, one process has %g", loss, want.Item()); err != nil {
			return err
		}
		if err := sgd.Step(); err != nil {
			return err
		}
		sgd.ZeroGrad()
	}
	state := nn.State(whole)
	for _, one := range stages[0].NamedParameters() {
		if apart := one.Tensor.Sub(state[one.Name]).Abs().Max().Item(); apart > 1e-11 {
			return fmt.Errorf("%s differs by %g", one.Name, apart)
		}
	}
	return check(len(parameters) > 0, "rank %d has no parameters", group.Rank())
}

func TestPipelinesAreSplitByTime(t *testing.T) {
	succeed(t, ranks(t, 2, "pipeline split", "ARCHIVES="+filepath.Join("..", "..", "tests", "cpp", "exported", "files")))
}

func deviceMeshChild(ctx context.Context) error {
	world, err := dist.Init(ctx, dist.Options{Backend: "shm"})
	if err != nil {
		return err
	}
	defer world.Close()
	mesh, err := dist.NewDeviceMesh(ctx, world, []int{2, 1, 2}, []string{"dp", "one", "pp"})
	if err != nil {
		return err
	}
	defer mesh.Close()
	part := mesh.Submesh("dp", "one")
	flat, err := part.Flatten(ctx, "column")
	if err != nil {
		return err
	}
	defer flat.Close()
	rank := world.Rank()
	all := mesh.Submesh("dp", "pp")
	if err := errors.Join(
		check(mesh.Size() == 4 && mesh.String() == "2 x 1 x 2 (dp, one, pp)", "the mesh is %v", mesh),
		check(part.Size() == 2 && part.Group("dp") == mesh.Group("dp"), "the part is %v", part),
		check(slices.Equal(flat.Group("column").Ranks(), []int{rank % 2, rank%2 + 2}), "flat: %v", flat.Group("column").Ranks()),
		check(flat.LocalRank("column") == rank/2, "the place is %v", flat.Coordinate()),
		check(slices.Equal(all.Coordinate(), []int{rank / 2, rank % 2}), "the place is %v", all.Coordinate())); err != nil {
		return err
	}
	for name, call := range map[string]func(){
		"there is no dimension \"tp\"": func() { mesh.Submesh("tp") },
		"in the mesh's order":          func() { mesh.Submesh("pp", "dp") },
		"at least one dimension":       func() { mesh.Submesh() },
	} {
		if err := gotorch.Try(call); err == nil || !strings.Contains(err.Error(), name) {
			return fmt.Errorf("%s: got %w", name, err)
		}
	}
	// A mesh of three dimensions takes a pipeline along two of them.
	part1 := newPipedPart(rank%2, 2)
	stage := dist.PipelineStage{Index: rank % 2, Module: part1, Prefix: fmt.Sprint(rank%2, "."), Tied: map[string]string{
		fmt.Sprint(rank%2, ".table.weight"): "table"}}
	pipeline, err := dist.NewMeshPipeline(all, "pp", []dist.PipelineStage{stage}, dist.PipelineOptions{MicroBatches: 2, Loss: pipedLoss})
	if err != nil {
		return err
	}
	defer pipeline.Close()
	x, y := pipedBatch(0, 1)
	if _, err := pipeline.Step([]*gotorch.Tensor{x}, []*gotorch.Tensor{y}); err != nil {
		return err
	}
	saves, err := pipeline.Saves("table", false)
	if err := errors.Join(err, check(saves == (rank == 0), "rank %d saves the table: %v", rank, saves)); err != nil {
		return err
	}
	_, err = dist.NewDeviceMesh(ctx, world, []int{2, 2, 1}, []string{"dp", "pp"})
	return errors.Join(check(err != nil && strings.Contains(err.Error(), "a dimension's name is empty"), "the mesh gave %v", err),
		world.Barrier(ctx))
}

func TestDeviceMesh(t *testing.T) { succeed(t, ranks(t, 4, "device mesh")) }
