package dist

import (
	"fmt"
	"maps"
	"slices"

	"tandem.example/gotorch"
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

	// Layers, instead of Module and Forward, are what it consists of, one after the other: modules with their prefixes. See
	// [JoinPipelineLayers].
	Layers []PipelineStage
}

func (s PipelineStage) layers() []PipelineStage {
	if s.Layers != nil {
		return s.Layers
	}
	return []PipelineStage{s}
}

// NamedParameters are its parameters, each once, under the names that they have in the whole model and its checkpoints.
func (s PipelineStage) NamedParameters() []nn.Named { return s.named(nn.NamedParameters) }

// NamedBuffers are its buffers likewise.
func (s PipelineStage) NamedBuffers() []nn.Named { return s.named(nn.NamedBuffers) }

// Parameters are those of [PipelineStage.NamedParameters], for an optimizer.
func (s PipelineStage) Parameters() []*gotorch.Tensor {
	var list []*gotorch.Tensor
	for _, one := range s.NamedParameters() {
		list = append(list, one.Tensor)
	}
	return list
}

func (s PipelineStage) named(of func(nn.Module) []nn.Named) (all []nn.Named) {
	seen, names := map[*gotorch.Tensor]bool{}, map[string]*gotorch.Tensor{}
	for _, layer := range s.layers() {
		for _, one := range of(layer.Module) {
			name := layer.Prefix + one.Name
			if common, ok := s.Tied[name]; ok {
				name = common
			}
			// Parts of a program have references of their own to a tensor.
			if other := names[name]; seen[one.Tensor] || other != nil && other.IsSame(one.Tensor) {
				continue
			}
			seen[one.Tensor], names[name] = true, one.Tensor
			all = append(all, nn.Named{Name: name, Tensor: one.Tensor})
		}
	}
	return all
}

func (s PipelineStage) sparse() map[*gotorch.Tensor]bool {
	all := map[*gotorch.Tensor]bool{}
	for _, layer := range s.layers() {
		for _, one := range nn.SparseParameters(layer.Module) {
			all[one] = true
		}
	}
	return all
}

// tiedNames are the common ones.
func (s PipelineStage) tiedNames() map[string]bool {
	all := map[string]bool{}
	for _, common := range s.Tied {
		all[common] = true
	}
	return all
}

// checkTied panics where a parameter that is to be tied does not exist.
func (s PipelineStage) checkTied() {
	names := map[string]bool{}
	for _, layer := range s.layers() {
		for _, one := range slices.Concat(nn.NamedParameters(layer.Module), nn.NamedBuffers(layer.Module)) {
			names[layer.Prefix+one.Name] = true
		}
	}
	for name := range s.Tied {
		if !names[name] {
			panic(&gotorch.Error{Code: gotorch.ErrNotFound, Op: "dist.NewPipeline", Message: fmt.Sprintf(
				"stage %d has no parameter %q, which is to be tied; it has %q", s.Index, name, slices.Sorted(maps.Keys(names)))})
		}
	}
}

// compute panics where a module has no Forward.
func (s PipelineStage) compute() func([]*gotorch.Tensor) []*gotorch.Tensor {
	if s.Layers != nil {
		var forwards []func([]*gotorch.Tensor) []*gotorch.Tensor
		for _, layer := range s.Layers {
			forwards = append(forwards, layer.compute())
		}
		return func(values []*gotorch.Tensor) []*gotorch.Tensor {
			for _, forward := range forwards {
				values = forward(values)
			}
			return values
		}
	}
	if s.Forward != nil {
		return s.Forward
	}
	layer, ok := s.Module.(nn.Layer)
	if !ok {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.NewPipeline",
			Message: fmt.Sprintf("%T of stage %d has no Forward of one input and one output; set Forward", s.Module, s.Index)})
	}
	return func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
		if len(inputs) != 1 {
			panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.Pipeline", Message: fmt.Sprintf(
				"%T takes one tensor here, not %d; set Forward, which says what becomes of each", s.Module, len(inputs))})
		}
		return []*gotorch.Tensor{nn.Call(layer, inputs[0])}
	}
}
