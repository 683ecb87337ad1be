package dist

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

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

	fault error // what this rank found wrong
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
	stages []PipelineStage
	flat   *DeviceMesh // of all ranks, where the mesh has not all of its world
}

// A stage may give so many tensors.
const pipelineOutputs = 64

// NewPipeline is called by all ranks of the group, with the stages that the schedule has on each. Close it before the
// group. Errors, on all ranks: gotorch.ErrInvalidArgument naming the rank whose schedule, stages or parameters do not fit
// the others'.
func NewPipeline(group *ProcessGroup, stages []PipelineStage, options PipelineOptions) (*Pipeline, error) {
	p := &Pipeline{group: group, stages: slices.Clone(stages)}
	if err := p.create(options); err != nil {
		return nil, err
	}
	p.watch = leak.Track(p, "dist.Pipeline")
	return p, nil
}

// NewMeshPipeline has the stages along one dimension of a mesh, and replicas of the pipeline along the other, where it has
// two. Of a mesh with more give a sub-mesh of these.
func NewMeshPipeline(mesh *DeviceMesh, dimension string, stages []PipelineStage, options PipelineOptions) (*Pipeline, error) {
	if len(mesh.names) > 2 {
		return nil, &Error{Err: &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.NewMeshPipeline",
			Message: fmt.Sprintf("a pipeline takes a device mesh of its stages and their replicas, not %v; give a sub-mesh", mesh)},
			Rank: mesh.world.Rank()}
	}
	p := &Pipeline{group: mesh.groups[0], stages: slices.Clone(stages)} // who names no dimension tells the others
	options.fault = gotorch.Try(func() { p.group = mesh.Group(dimension) })
	if options.fault != nil && len(mesh.groups) > 1 { // those of its pipeline wait in one of them
		for _, group := range mesh.groups {
			group.Abort()
		}
	}
	if len(mesh.names) == 2 {
		options.Replicas = mesh.groups[1]
		if p.group == options.Replicas {
			options.Replicas = mesh.groups[0]
		}
		options.Everyone = mesh.world
		if mesh.Size() != mesh.world.Size() {
			flat, err := mesh.Flatten(mesh.world.ctx, "pipeline")
			if err != nil {
				return nil, err
			}
			p.flat, options.Everyone = flat, flat.groups[0]
		}
	}
	if err := p.create(options); err != nil {
		if p.flat != nil {
			p.flat.Close()
		}
		return nil, err
	}
	p.watch = leak.Track(p, "dist.Pipeline")
	return p, nil
}

// tensorsOf panics where a stage is none.
func (p *Pipeline) tensorsOf() (c.PipelineTensors, map[int]func([]*gotorch.Tensor) []*gotorch.Tensor) {
	const op = "dist.NewPipeline"
	var tensors c.PipelineTensors
	forwards := map[int]func([]*gotorch.Tensor) []*gotorch.Tensor{}
	for _, stage := range p.stages {
		forwards[stage.Index] = stage.compute()
		stage.checkTied()
		sparse, tied := stage.sparse(), stage.tiedNames()
		for _, one := range stage.NamedParameters() {
			p.keep = append(p.keep, one.Tensor)
			tensors.Parameters = append(tensors.Parameters, bridge.Handle(one.Tensor, op))
			tensors.Names = append(tensors.Names, one.Name)
			tensors.ParameterStages = append(tensors.ParameterStages, int32(stage.Index))
			tensors.Tied = append(tensors.Tied, flag(tied[one.Name]))
			tensors.Sparse = append(tensors.Sparse, flag(sparse[one.Tensor]))
		}
		for _, one := range stage.NamedBuffers() {
			p.keep = append(p.keep, one.Tensor)
			tensors.Buffers = append(tensors.Buffers, bridge.Handle(one.Tensor, op))
			tensors.BufferNames = append(tensors.BufferNames, one.Name)
			tensors.BufferStages = append(tensors.BufferStages, int32(stage.Index))
			tensors.TiedBuffers = append(tensors.TiedBuffers, flag(tied[one.Name]))
		}
	}
	return tensors, forwards
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

func (p *Pipeline) create(o PipelineOptions) error {
	var tensors c.PipelineTensors
	var forwards map[int]func([]*gotorch.Tensor) []*gotorch.Tensor
	if o.fault == nil {
		o.fault = gotorch.Try(func() { tensors, forwards = p.tensorsOf() })
	}
	var gone error // of a group in which this rank cannot tell the others
	for _, group := range []*ProcessGroup{o.Replicas, o.Everyone} {
		if group != nil && group.watch.Closed() && o.fault == nil {
			gone = closed("dist.NewPipeline", "process group")
			o.fault = gone
		}
	}
	device := o.Device
	if device.Kind == gotorch.CPUDevice {
		device = gotorch.CPU
	}
	native := c.PipelineOptions{Schedule: o.Schedule, MicroBatches: max(o.MicroBatches, 1),
		StagesPerRank: max(o.StagesPerRank, 1), AverageLosses: !o.SumLosses,
		Device:      c.Device{Kind: int32(device.Kind), Index: int32(device.Index)},
		BucketCapMB: o.BucketCapMB.Or(25), BroadcastBuffers: o.BroadcastBuffers.Or(true),
		FindUnusedParameters: o.FindUnusedParameters, GradientAsBucketView: o.GradientAsBucketView}
	native.Fault, native.FaultCode = told(o.fault)
	compute := microBatch(func(stage int) func([]*gotorch.Tensor) []*gotorch.Tensor { return forwards[stage] }, o.Loss)
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
	return cmp.Or(gone, err)
}

// told is an error of this rank as the others hear of it, which fail with it and do not wait; nil: nothing.
func told(fault error) (message string, code int32) {
	if fault == nil {
		return "", 0
	}
	var ours *gotorch.Error
	if errors.As(fault, &ours) {
		return ours.Message, int32(ours.Code)
	}
	return fault.Error(), int32(gotorch.ErrInvalidArgument)
}

// microBatch is what native code calls: forward gives the function of a stage.
func microBatch(forward func(stage int) func([]*gotorch.Tensor) []*gotorch.Tensor,
	loss func(outputs, targets []*gotorch.Tensor) *gotorch.Tensor) c.Callback {
	return func(call c.Invocation) ([]c.Tensor, error) {
		count := len(call.Inputs)
		return bridge.InScopeOf(call, slices.Concat(call.Inputs, call.Saved), func(given []any) ([]any, error) {
			all := make([]*gotorch.Tensor, len(given))
			for i, t := range given {
				all[i], _ = t.(*gotorch.Tensor)
			}
			if call.Replica < 0 {
				return []any{loss(all[:count], all[count:])}, nil
			}
			var results []any
			for _, t := range forward(call.Replica)(all) {
				results = append(results, t)
			}
			return results, nil
		})
	}
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

// Stages are this rank's, as [NewPipeline] was given them.
func (p *Pipeline) Stages() []PipelineStage { return slices.Clone(p.stages) }

// Saves tells whether this rank is the one that writes a parameter or buffer of its stages to a checkpoint: of a tied one
// the lowest stage's rank does, and of replicas the first; with isSpread, of what each replica has a part of, as of what
// [NewZeroRedundancyOptimizer]'s remembers, all of them. Package checkpoint asks for it.
func (p *Pipeline) Saves(name string, isSpread bool) (bool, error) {
	if p.watch.Closed() {
		return false, closed("dist.Pipeline.Saves", "pipeline")
	}
	saves, failure := c.PipelineSaves(p.handle, name, isSpread)
	runtime.KeepAlive(p)
	return saves, bridge.Error(failure)
}

// Close frees the pipeline; modules and groups stay. A second Close does nothing.
func (p *Pipeline) Close() error {
	if !p.watch.Done() {
		return nil
	}
	c.FreePipeline(p.handle)
	p.handle = nil
	if p.flat != nil {
		return p.flat.Close()
	}
	return nil
}
