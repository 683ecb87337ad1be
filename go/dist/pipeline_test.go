package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// pipedPart is a stage of a small language model whose last stage gives logits by the first one's embedding.
type pipedPart struct {
	nn.Base
	Table *nn.Embedding
	Layer *nn.Linear

	first, last bool
}

const pipedWords, pipedWidth, pipedRows = 11, 6, 10

// newPipedPart gives the same numbers to the same part, whoever makes it.
func newPipedPart(index, count int) *pipedPart {
	part := &pipedPart{Layer: nn.NewLinear(pipedWidth, pipedWidth), first: index == 0, last: index == count-1}
	if part.first || part.last {
		part.Table = nn.NewEmbedding(pipedWords, pipedWidth)
	}
	nn.ToDType(part, gotorch.Float64)
	gotorch.NoGrad(func() {
		for _, parameter := range nn.Parameters(part) {
			values := make([]float64, parameter.Numel())
			for i := range values {
				values[i] = math.Sin(float64(i)*1.7 + float64(index))
			}
			parameter.CopyI(gotorch.From(values, parameter.Shape()...))
		}
	})
	return part
}

func (p *pipedPart) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	if p.first {
		x = p.Table.Forward(x)
	}
	x = p.Layer.Forward(x).Tanh()
	if p.last {
		x = x.MatMul(p.Table.Weight.T())
	}
	return x
}

func pipedBatch(step, replicas int) (x, y *gotorch.Tensor) {
	rows, length := replicas*pipedRows, 2+step%2
	words, answers := make([]int, rows*length), make([]int, rows*length)
	for i := range words {
		words[i], answers[i] = (i*7+step*3)%pipedWords, (i*5+step)%pipedWords
	}
	return gotorch.From(words, rows, length), gotorch.From(answers, rows, length)
}

func pipedLoss(outputs, targets []*gotorch.Tensor) *gotorch.Tensor {
	return F.CrossEntropy(outputs[0].Reshape(-1, pipedWords), targets[0].Reshape(-1))
}

// pipedAlone trains the whole model on batches of all replicas, in this process.
func pipedAlone(parts, steps, replicas int) ([]*pipedPart, []float64, error) {
	model := make([]*pipedPart, parts)
	var parameters []*gotorch.Tensor
	for i := range model {
		model[i] = newPipedPart(i, parts)
		if i > 0 && model[i].last {
			model[i].Table = model[0].Table
		}
		parameters = append(parameters, nn.Parameters(model[i].Layer)...)
	}
	sgd := optim.SGD(append(parameters, nn.Parameters(model[0].Table)...), 0.1)
	var losses []float64
	for step := range steps {
		x, y := pipedBatch(step, replicas)
		for _, part := range model {
			x = part.Forward(x)
		}
		loss := pipedLoss([]*gotorch.Tensor{x}, []*gotorch.Tensor{y})
		losses = append(losses, loss.Item())
		if err := sgd.Minimize(loss); err != nil {
			return nil, nil, err
		}
	}
	return model, losses, nil
}

func pipelineChild(ctx context.Context) error {
	const steps = 20
	world, err := dist.Init(ctx, dist.Options{Backend: "shm"})
	if err != nil {
		return err
	}
	defer world.Close()
	replicas := world.Size() / 2
	mesh, err := dist.NewDeviceMesh(ctx, world, []int{replicas, 2}, []string{"dp", "pp"})
	if err != nil {
		return err
	}
	defer mesh.Close()
	group, replica := mesh.Group("pp"), mesh.LocalRank("dp")
	if err := check(group.Rank() == world.Rank()%2 && replica == world.Rank()/2, "the mesh is %v", mesh); err != nil {
		return err
	}
	for _, schedule := range []string{"gpipe", "1f1b", "interleaved1f1b"} {
		each := 1 // stages a rank
		if schedule == "interleaved1f1b" {
			each = 2
		}
		model, losses, err := pipedAlone(2*each, steps, replicas)
		if err != nil {
			return err
		}
		if err := pipelineAgainst(mesh, model, losses, dist.PipelineOptions{Schedule: schedule, StagesPerRank: each,
			MicroBatches: 4, Loss: pipedLoss}); err != nil {
			return fmt.Errorf("%s: %w", schedule, err)
		}
	}
	return world.Barrier(ctx)
}

// pipelineAgainst trains a pipeline like model, and compares.
func pipelineAgainst(mesh *dist.DeviceMesh, model []*pipedPart, losses []float64, options dist.PipelineOptions) error {
	group, replica := mesh.Group("pp"), mesh.LocalRank("dp")
	var stages []dist.PipelineStage
	var parameters []*gotorch.Tensor
	for i := group.Rank(); i < len(model); i += group.Size() {
		part, prefix := newPipedPart(i, len(model)), fmt.Sprintf("part%d.", i)
		stage := dist.PipelineStage{Index: i, Module: part, Prefix: prefix}
		if part.Table != nil {
			stage.Tied = map[string]string{prefix + "table.weight": "table"}
		}
		stages = append(stages, stage)
		parameters = append(parameters, nn.Parameters(part)...)
	}
	pipeline, err := dist.NewMeshPipeline(mesh, "pp", stages, options)
	if err != nil {
		return err
	}
	defer pipeline.Close()
	sgd := optim.SGD(parameters, 0.1)
	batch := func(step int) (inputs, targets []*gotorch.Tensor) {
		x, y := pipedBatch(step, mesh.Shape()[0])
		if group.Rank() == 0 {
			inputs = []*gotorch.Tensor{x.Slice(0, replica*pipedRows, (replica+1)*pipedRows)}
		}
		if group.Rank() == group.Size()-1 {
			targets = []*gotorch.Tensor{y.Slice(0, replica*pipedRows, (replica+1)*pipedRows)}
		}
		return inputs, targets
	}
	for step, want := range losses {
		inputs, targets := batch(step)
		loss, err := pipeline.Step(inputs, targets)
		if err != nil {
			return err
		}
		if math.Abs(loss-want) > 1e-10 {
			return fmt.Errorf("step %d: the loss is %g, one process has %g", step, loss, want)
		}
		if err := sgd.Step(); err != nil {
			return err
		}
		sgd.ZeroGrad()
	}
	for _, stage := range stages {
		want := nn.Parameters(model[stage.Index])
		for i, one := range nn.NamedParameters(stage.Module) {
			if apart := one.Tensor.Sub(want[i]).Abs().Max().Item(); apart > 1e-10 {
				return fmt.Errorf("%s%s differs by %g", stage.Prefix, one.Name, apart)
			}
		}
	}
	inputs, targets := batch(0)
	loss, err := pipeline.Evaluate(inputs, targets)
	if err != nil {
		return err
	}
	outputs, err := pipeline.Forward(inputs)
	if err != nil || len(targets) == 0 {
		return errors.Join(err, check(len(outputs) == 0, "outputs of a rank that does not have the last stage"))
	}
	if mesh.Shape()[0] > 1 {
		return nil
	}
	return check(math.Abs(pipedLoss(outputs, targets).Item()-loss) < 1e-10, "Forward and Evaluate do not agree")
}

func TestPipelineTrainsAsOneProcess(t *testing.T) {
	succeed(t, ranks(t, 2, "pipeline"))
	succeed(t, ranks(t, 4, "pipeline"))
}

// pipelineFailsChild has a stage panic in one micro-batch.
func pipelineFailsChild(ctx context.Context) error {
	group, err := dist.Init(ctx, dist.Options{Backend: "shm"})
	if err != nil {
		return err
	}
	defer group.Close()
	part, count := newPipedPart(group.Rank(), 2), 0
	fails := func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
		if count++; count == 3 && group.Rank() == 1 {
			panic(errors.New("out of luck"))
		}
		return []*gotorch.Tensor{part.Forward(inputs[0])}
	}
	stage := dist.PipelineStage{Index: group.Rank(), Module: part, Prefix: fmt.Sprintf("part%d.", group.Rank()), Forward: fails}
	pipeline, err := dist.NewPipeline(group, []dist.PipelineStage{stage}, dist.PipelineOptions{MicroBatches: 4, Loss: pipedLoss})
	if err != nil {
		return err
	}
	defer pipeline.Close()
	x, y := pipedBatch(0, 1)
	_, err = pipeline.Step([]*gotorch.Tensor{x}, []*gotorch.Tensor{y})
	var ours *gotorch.Error
	if !errors.As(err, &ours) || !strings.Contains(err.Error(), "micro-batch 2 on stage 1 (rank 1)") ||
		!strings.Contains(err.Error(), "out of luck") {
		return fmt.Errorf("the step gave %w", err)
	}
	_, err = pipeline.Step([]*gotorch.Tensor{x}, []*gotorch.Tensor{y})
	return errors.Join(err, group.Barrier(ctx))
}

// pipelineRefusedChild has one rank name a parameter, a dimension and a schedule that are not there.
func pipelineRefusedChild(ctx context.Context) error {
	world, err := dist.Init(ctx, dist.Options{Backend: "shm"})
	if err != nil {
		return err
	}
	defer world.Close()
	mesh, err := dist.NewDeviceMesh(ctx, world, []int{2}, []string{"pp"})
	if err != nil {
		return err
	}
	defer mesh.Close()
	stage := dist.PipelineStage{Index: world.Rank(), Module: newPipedPart(world.Rank(), 2), Prefix: fmt.Sprint(world.Rank(), ".")}
	wrong, dimension := stage, "pp"
	if world.Rank() == 1 {
		wrong.Tied, dimension = map[string]string{"1.tabel": "table"}, "tp"
	}
	options := dist.PipelineOptions{MicroBatches: 4, Loss: pipedLoss}
	refused := func(dimension string, stage dist.PipelineStage, words string) error {
		_, err := dist.NewMeshPipeline(mesh, dimension, []dist.PipelineStage{stage}, options)
		var ours *gotorch.Error
		return check(errors.As(err, &ours) && ours.Code == gotorch.ErrNotFound && strings.Contains(err.Error(), words),
			"rank %d: the pipeline gave %v", world.Rank(), err)
	}
	if err := errors.Join(refused("pp", wrong, "stage 1 has no parameter \"1.tabel\""),
		refused(dimension, stage, "no dimension \"tp\"")); err != nil {
		return err
	}
	if world.Rank() == 1 {
		options.Schedule = "2f2b"
	}
	return errors.Join(refused("pp", stage, "rank 1: there is no pipeline schedule '2f2b'"), world.Barrier(ctx))
}

func TestPipelineRefusalIsOnAllRanks(t *testing.T) {
	succeed(t, ranks(t, 2, "pipeline refused"))
}

func TestPipelineFailureIsOnAllRanks(t *testing.T) {
	succeed(t, ranks(t, 2, "pipeline fails"))
}
