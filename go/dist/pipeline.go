package dist

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
	"tandem.example/gotorch/nn"
)

// PipelineStage is a part of a model, on the rank that has it.
type PipelineStage struct {
	Index  int       // among the stages of all ranks, from 0
	Module nn.Module // whose parameters it has
	Prefix string    // before their names, so that they are those of the whole model

	// Forward computes one micro-batch: it takes what the stage before gives, the first one the batch's inputs. nil: the
	// module's Forward of one tensor.
	Forward func(inputs []*gotorch.Tensor) []*gotorch.Tensor

	// Tied are parameters that other stages have, too, as an embedding and an output layer that share their weight: the
	// name here (with the prefix), and the one that all of them give it. They begin with the values of the lowest stage,
	// and get the sum of their gradients.
	Tied map[string]string
}

// PipelineOptions of [NewPipeline].
type PipelineOptions struct {
	Schedule      string // "gpipe", "1f1b" or "interleaved1f1b"; "": "1f1b"
	MicroBatches  int    // that a batch is cut into along its first dimension, as by TensorSplit; 0: one
	StagesPerRank int    // rank r has the stages r, r + the group's size, and so on; 0: one

	// Loss, on the rank of the last stage, of one micro-batch: a tensor of one element.
	Loss func(outputs, targets []*gotorch.Tensor) *gotorch.Tensor
	// Losses are means over rows, and gradients those of the mean over the batch; SumLosses: of the sum of the losses.
	SumLosses bool
	Device    gotorch.Device // of the tensors that this rank's stages are given by others; unset: CPU

	// The ranks that have this rank's stages in other pipelines, and all ranks of all of them; nil: there are none. Their
	// gradients are averaged once a step, while the last micro-batches run. [NewMeshPipeline] sets them.
	Replicas, Everyone *ProcessGroup

	// Of the replicas' exchange, as of [DDPOptions].
	BucketCapMB          gotorch.Opt[float64]
	BroadcastBuffers     gotorch.Opt[bool]
	FindUnusedParameters bool
	GradientAsBucketView bool
}

// Pipeline trains a model that is cut into stages, each on a rank of its own, on batches that are cut into micro-batches,
// so that stages compute at the same time. A micro-batch that fails has all ranks fail with the same error, which names
// stage, micro-batch and rank; without replicas the next step can be made. Not for several goroutines at once. Source:
// torch.distributed.pipelining.
type Pipeline struct {
	group  *ProcessGroup
	handle c.Pipeline
	watch  *leak.Watch
	keep   []*gotorch.Tensor // the parameters and buffers
}

// A stage may give so many tensors.
const pipelineOutputs = 64

// NewPipeline is called by all ranks of the group, with the stages that the schedule has on each. Close it before the
// group. Errors, on all ranks: gotorch.ErrInvalidArgument naming the rank whose schedule, stages or parameters do not fit
// the others'.
func NewPipeline(group *ProcessGroup, stages []PipelineStage, options PipelineOptions) (*Pipeline, error) {
	p := &Pipeline{group: group}
	var tensors c.PipelineTensors
	var forwards map[int]func([]*gotorch.Tensor) []*gotorch.Tensor
	if err := gotorch.Try(func() { tensors, forwards = p.tensorsOf(stages) }); err != nil {
		if options.Everyone != nil {
			group = options.Everyone
		}
		return nil, tellFault(group, err)
	}
	if err := p.create(tensors, forwards, options); err != nil {
		return nil, err
	}
	p.watch = leak.Track(p, "dist.Pipeline")
	return p, nil
}

// NewMeshPipeline has the stages along one dimension of a mesh, and replicas of the pipeline along the other, where it has
// two.
func NewMeshPipeline(mesh *DeviceMesh, dimension string, stages []PipelineStage, options PipelineOptions) (*Pipeline, error) {
	var group *ProcessGroup
	if err := gotorch.Try(func() { group = mesh.Group(dimension) }); err != nil {
		everyone := mesh.world
		if len(mesh.groups) == 1 {
			everyone = mesh.groups[0]
		}
		return nil, tellFault(everyone, err)
	}
	if len(mesh.names) > 2 {
		return nil, meshMisuse(mesh.world, "a pipeline takes a device mesh of its stages and their replicas, not %v", mesh)
	}
	for _, name := range mesh.names {
		if name != dimension {
			options.Replicas, options.Everyone = mesh.Group(name), mesh.world
		}
	}
	return NewPipeline(group, stages, options)
}

// tellFault takes this rank's part in the comparison of what all ranks give to a pipeline, in which it says that it gives
// none: the others fail with its error, and do not wait for it. It gives the error.
func tellFault(everyone *ProcessGroup, fault error) error {
	code := gotorch.ErrInvalidArgument
	var ours *gotorch.Error
	if errors.As(fault, &ours) {
		code = ours.Code
	}
	var said []byte
	for _, field := range []string{fmt.Sprint(int(code)), fault.Error()} { // as the native side reads them
		said = fmt.Appendf(said, "%d:%s", len(field), field)
	}
	if _, err := everyone.AllGatherBytes(everyone.ctx, said); err != nil {
		return errors.Join(fault, err)
	}
	return fault
}

// tensorsOf panics where a stage is none.
func (p *Pipeline) tensorsOf(stages []PipelineStage) (c.PipelineTensors, map[int]func([]*gotorch.Tensor) []*gotorch.Tensor) {
	const op = "dist.NewPipeline"
	var tensors c.PipelineTensors
	forwards := map[int]func([]*gotorch.Tensor) []*gotorch.Tensor{}
	for _, stage := range stages {
		forwards[stage.Index] = stage.compute()
		stage.checkTied()
		for _, one := range nn.NamedParameters(stage.Module) {
			name, tied := stage.Prefix+one.Name, byte(0)
			if common, ok := stage.Tied[name]; ok {
				name, tied = common, 1
			}
			p.keep = append(p.keep, one.Tensor)
			tensors.Parameters = append(tensors.Parameters, bridge.Handle(one.Tensor, op))
			tensors.Names = append(tensors.Names, name)
			tensors.ParameterStages = append(tensors.ParameterStages, int32(stage.Index))
			tensors.Tied = append(tensors.Tied, tied)
		}
		for _, one := range nn.NamedBuffers(stage.Module) {
			p.keep = append(p.keep, one.Tensor)
			tensors.Buffers = append(tensors.Buffers, bridge.Handle(one.Tensor, op))
			tensors.BufferStages = append(tensors.BufferStages, int32(stage.Index))
		}
	}
	return tensors, forwards
}

func (p *Pipeline) create(tensors c.PipelineTensors, forwards map[int]func([]*gotorch.Tensor) []*gotorch.Tensor,
	o PipelineOptions) error {
	device := o.Device
	if device.Kind == gotorch.CPUDevice {
		device = gotorch.CPU
	}
	native := c.PipelineOptions{Schedule: o.Schedule, MicroBatches: max(o.MicroBatches, 1),
		StagesPerRank: max(o.StagesPerRank, 1), AverageLosses: !o.SumLosses,
		Device:      c.Device{Kind: int32(device.Kind), Index: int32(device.Index)},
		BucketCapMB: o.BucketCapMB.Or(25), BroadcastBuffers: o.BroadcastBuffers.Or(true),
		FindUnusedParameters: o.FindUnusedParameters, GradientAsBucketView: o.GradientAsBucketView}
	compute := func(call c.Invocation) ([]c.Tensor, error) {
		count := len(call.Inputs)
		return bridge.InScopeOf(call, slices.Concat(call.Inputs, call.Saved), func(given []any) ([]any, error) {
			all := make([]*gotorch.Tensor, len(given))
			for i, t := range given {
				all[i], _ = t.(*gotorch.Tensor)
			}
			if call.Replica < 0 {
				return []any{o.Loss(all[:count], all[count:])}, nil
			}
			var results []any
			for _, t := range forwards[call.Replica](all) {
				results = append(results, t)
			}
			return results, nil
		})
	}
	err := p.group.use("pipeline_create", func(group c.ProcessGroup) *c.Failure {
		return heldGroup(o.Replicas, func(replicas c.ProcessGroup) *c.Failure {
			return heldGroup(o.Everyone, func(everyone c.ProcessGroup) (failure *c.Failure) {
				native.Replicas, native.Everyone = replicas, everyone
				p.handle, failure = c.CreatePipeline(group, tensors, native, o.Loss != nil, compute)
				return failure
			})
		})
	})
	runtime.KeepAlive(p.keep)
	return err
}

// heldGroup calls with a group's handle, nil for nil, which is not freed meanwhile.
func heldGroup(g *ProcessGroup, call func(c.ProcessGroup) *c.Failure) *c.Failure {
	if g == nil {
		return call(nil)
	}
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	return call(g.handle)
}

// checkTied panics where a parameter that is to be tied does not exist.
func (s PipelineStage) checkTied() {
	names := map[string]bool{}
	for _, one := range nn.NamedParameters(s.Module) {
		names[s.Prefix+one.Name] = true
	}
	for name := range s.Tied {
		if !names[name] {
			panic(&gotorch.Error{Code: gotorch.ErrNotFound, Op: "dist.NewPipeline", Message: fmt.Sprintf(
				"stage %d has no parameter %q, which is to be tied; it has %q", s.Index, name, slices.Sorted(maps.Keys(names)))})
		}
	}
}

func (s PipelineStage) compute() func([]*gotorch.Tensor) []*gotorch.Tensor {
	if s.Forward != nil {
		return s.Forward
	}
	layer, ok := s.Module.(nn.Layer)
	if !ok {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.NewPipeline",
			Message: fmt.Sprintf("%T of stage %d has no Forward of one input and one output; set Forward", s.Module, s.Index)})
	}
	return func(inputs []*gotorch.Tensor) []*gotorch.Tensor { return []*gotorch.Tensor{layer.Forward(inputs[0])} }
}

// Step is forward and backward of a batch: it adds to the gradients of the stages' parameters those of one process on the
// whole batch, and gives the batch's loss on all ranks, with replicas the mean of theirs. inputs are the first stage's,
// targets the last one's; other ranks give nil.
func (p *Pipeline) Step(inputs, targets []*gotorch.Tensor) (loss float64, err error) {
	err = p.call("step", inputs, targets, func(x, y []c.Tensor) (failure *c.Failure) {
		loss, failure = c.StepPipeline(p.handle, x, y)
		return failure
	})
	return loss, err
}

// Evaluate is the loss alone, without gradients.
func (p *Pipeline) Evaluate(inputs, targets []*gotorch.Tensor) (loss float64, err error) {
	err = p.call("evaluate", inputs, targets, func(x, y []c.Tensor) (failure *c.Failure) {
		loss, failure = c.EvaluatePipeline(p.handle, x, y)
		return failure
	})
	return loss, err
}

// Forward computes without gradients: on the rank of the last stage it gives the outputs for the batch, elsewhere nothing.
func (p *Pipeline) Forward(inputs []*gotorch.Tensor) (outputs []*gotorch.Tensor, err error) {
	err = p.call("forward", inputs, nil, func(x, _ []c.Tensor) *c.Failure {
		made, failure := c.ForwardPipeline(p.handle, x, pipelineOutputs)
		for _, one := range made {
			outputs = append(outputs, bridge.Wrap(one).(*gotorch.Tensor))
		}
		return failure
	})
	return outputs, err
}

func (p *Pipeline) call(op string, inputs, targets []*gotorch.Tensor, call func(x, y []c.Tensor) *c.Failure) error {
	if p.watch.Closed() {
		return closed("dist.Pipeline", "pipeline")
	}
	var x, y []c.Tensor
	if err := gotorch.Try(func() {
		for _, t := range inputs {
			x = append(x, bridge.Handle(t, "dist.Pipeline"))
		}
		for _, t := range targets {
			y = append(y, bridge.Handle(t, "dist.Pipeline"))
		}
	}); err != nil {
		return err
	}
	failure := call(x, y)
	runtime.KeepAlive(inputs)
	runtime.KeepAlive(targets)
	runtime.KeepAlive(p)
	if failure == nil {
		return nil
	}
	return errorOf(p.group.ctx, p.group.rank, failure)
}

// Close frees the pipeline; modules and groups stay. A second Close does nothing.
func (p *Pipeline) Close() error {
	if p.watch.Done() {
		c.FreePipeline(p.handle)
		p.handle = nil
	}
	return nil
}
