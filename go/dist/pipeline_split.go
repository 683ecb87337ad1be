package dist

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"tandem.example/gotorch"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
)

// PipelineLayers are the layers of a model, each as if it were a stage: with the names that it has there, "2.weight".
func PipelineLayers(model *nn.Sequential) []PipelineStage {
	var layers []PipelineStage
	for i := range model.Len() {
		layers = append(layers, PipelineStage{Index: i, Module: model.Layer(i), Prefix: strconv.Itoa(i) + "."})
	}
	return layers
}

// ProgramLayers are the parts of an exported program, at least so many or as many as there are, each as if it were a stage; see
// [export.Program.Parts].
func ProgramLayers(program *export.Program, least int) ([]PipelineStage, error) {
	parts, err := program.Parts(least)
	if err != nil {
		return nil, err
	}
	var layers []PipelineStage
	for i, part := range parts {
		forward := func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
			given := make([]any, len(inputs))
			for i, one := range inputs {
				given[i] = one
			}
			return part.ForwardAll(given...)
		}
		layers = append(layers, PipelineStage{Index: i, Module: part, Forward: forward})
	}
	return layers, nil
}

// JoinPipelineLayers makes stages of layers in a row: first are the first layers of each, so that 0, 3, 5 are three stages.
// A parameter that several layers have gets the name of the first; where they come to be in several stages it is tied in
// these. It panics with *gotorch.Error where first does not begin with 0 and rise, where two tensors have one name (give layers
// their Prefix), and for layers with Tied: it is the tensor itself that layers share.
func JoinPipelineLayers(layers []PipelineStage, first []int) []PipelineStage {
	var stages []PipelineStage
	for i, begin := range first {
		end := len(layers)
		if i+1 < len(first) {
			end = first[i+1]
		}
		if i == 0 && begin != 0 || begin >= end || end > len(layers) {
			panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.JoinPipelineLayers", Message: fmt.Sprintf(
				"stages of %d layers begin with %v; give 0, and then rising numbers of layers", len(layers), first)})
		}
		stages = append(stages, PipelineStage{Index: i, Layers: slices.Clone(layers[begin:end]), Tied: map[string]string{}})
	}
	tieStages(stages)
	return stages
}

// tieStages ties what several of them have. Parts of a program have references of their own to a tensor, under one name.
func tieStages(stages []PipelineStage) {
	type use struct {
		stage int
		name  string
	}
	names, tensors := map[*gotorch.Tensor]string{}, map[string]*gotorch.Tensor{}
	uses := map[string][]use{} // by the first name
	for i, stage := range stages {
		for _, layer := range stage.Layers {
			checkLayer(layer)
			for _, one := range append(nn.NamedParameters(layer.Module), nn.NamedBuffers(layer.Module)...) {
				name := layer.Prefix + one.Name
				common, known := names[one.Tensor]
				if !known {
					common = name
					names[one.Tensor] = name
					if other := tensors[name]; other != nil && !other.IsSame(one.Tensor) {
						panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.JoinPipelineLayers", Message: fmt.Sprintf(
							"two layers have a tensor %q of their own; give each its name in the whole model with Prefix", name)})
					}
					tensors[name] = one.Tensor
				}
				uses[common] = append(uses[common], use{i, name})
			}
		}
	}
	for common, all := range uses {
		for _, one := range all {
			if all[0].stage != all[len(all)-1].stage {
				stages[one.stage].Tied[one.name] = common
			}
		}
	}
}

func checkLayer(layer PipelineStage) {
	for name := range layer.Tied {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.JoinPipelineLayers", Message: fmt.Sprintf(
			"a layer ties %q, which stages do; have the layers share the tensor itself", name)})
	}
}

// SplitOptions of [SplitByTime].
type SplitOptions struct {
	StagesPerRank int // rank r gets the stages r, r + the group's size, and so on; 0: one
	Repeats       int // measurements, of which the median counts; one more goes before them; 0: five

	// Loss has the last layer's time have that of the loss, too, for the micro-batch's Targets.
	Loss    func(outputs, targets []*gotorch.Tensor) *gotorch.Tensor
	Targets []*gotorch.Tensor

	Everyone *ProcessGroup // all ranks of all replicas of the pipeline, which are cut alike; nil: there are none
}

// SplitByTime gives this rank's stages of those that take about the same time, forward and backward. All ranks call it with
// the layers of the whole model, of [PipelineLayers] or [ProgramLayers]; rank 0 of all, which alone needs inputs, a
// micro-batch, measures each layer, and all take its answer. Inputs, gradients, buffers and the CPU's random numbers are
// afterwards what they were. When ctx ends the group is aborted, and Everyone. Errors, on all ranks: what a layer fails of, with its number, and
// gotorch.ErrInvalidArgument for fewer layers than stages, and for ranks with other numbers of them.
// Source: torchgpipe's balance_by_time.
func SplitByTime(ctx context.Context, group *ProcessGroup, layers []PipelineStage, inputs []*gotorch.Tensor,
	options ...SplitOptions) ([]PipelineStage, error) {
	const op = "dist.SplitByTime"
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	of := c.PipelineSplit{Layers: len(layers), StagesPerRank: cmp.Or(o.StagesPerRank, 1), Repeats: cmp.Or(o.Repeats, 5)}
	var forwards []func([]*gotorch.Tensor) []*gotorch.Tensor
	unable := gotorch.Try(func() {
		if len(layers) > 0 {
			JoinPipelineLayers(layers, []int{0})
		}
		for _, layer := range layers {
			forwards = append(forwards, layer.compute())
			for _, one := range append(nn.Parameters(layer.Module), nn.Buffers(layer.Module)...) {
				of.Tensors = append(of.Tensors, bridge.Handle(one, op))
			}
		}
		for _, one := range inputs {
			of.Inputs = append(of.Inputs, bridge.Handle(one, op))
		}
		for _, one := range o.Targets {
			of.Targets = append(of.Targets, bridge.Handle(one, op))
		}
	})
	of.Fault, of.FaultCode = told(unable)
	if unable != nil {
		of.Tensors, of.Inputs, of.Targets = nil, nil, nil
	}
	compute := microBatch(func(layer int) func([]*gotorch.Tensor) []*gotorch.Tensor { return forwards[layer] }, o.Loss)
	var first []int
	if o.Everyone != nil { // in which ranks wait, too
		defer context.AfterFunc(ctx, func() { o.Everyone.Abort() })()
	}
	err = group.blocking(ctx, "pipeline_split_by_time", func(native c.ProcessGroup) *c.Failure {
		return heldGroup(o.Everyone, func(everyone c.ProcessGroup) *c.Failure {
			of.Everyone = everyone
			found, failure := c.SplitPipelineByTime(native, of, o.Loss != nil, compute)
			for _, one := range found {
				first = append(first, int(one))
			}
			return failure
		})
	})
	runtime.KeepAlive(layers)
	runtime.KeepAlive(inputs)
	runtime.KeepAlive(o.Targets)
	if err = cmp.Or(unable, err); err != nil {
		return nil, err
	}
	var own []PipelineStage
	for _, stage := range JoinPipelineLayers(layers, first) {
		if stage.Index%group.Size() == group.Rank() {
			own = append(own, stage)
		}
	}
	return own, nil
}
