package nn

import (
	"strconv"

	"tandem.example/gotorch"
)

// Sequential calls layers one after another.
type Sequential struct {
	Base
	layers []Layer
}

// NewSequential of those layers. Their parameters are named by their place: "0.weight".
func NewSequential(layers ...Layer) *Sequential { return &Sequential{layers: layers} }

// Append adds layers.
func (s *Sequential) Append(layers ...Layer) { s.layers = append(s.layers, layers...) }

// Layer of that place.
func (s *Sequential) Layer(i int) Layer { return s.layers[i] }

// Len is the number of layers.
func (s *Sequential) Len() int { return len(s.layers) }

// Forward gives x to the first layer, its output to the second and so on.
func (s *Sequential) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return withHooks(s.hookSet, x, func(x *gotorch.Tensor) *gotorch.Tensor {
		for _, layer := range s.layers {
			x = Call(layer, x)
		}
		return x
	})
}

func (s *Sequential) parts() parts {
	var has parts
	for i, layer := range s.layers {
		has.children = append(has.children, Child{strconv.Itoa(i), layer})
	}
	return has
}

func (s *Sequential) copyWith(r *replicator) Module {
	copied := &Sequential{Base: s.Base}
	for _, layer := range s.layers {
		copied.layers = append(copied.layers, r.module(layer).(Layer))
	}
	return copied
}
