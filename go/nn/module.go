package nn

import "tandem.example/gotorch"

// Module is a node in a tree of modules. A struct is one when it embeds [Base] or another module.
type Module interface {
	// IsTraining tells whether dropout, batch normalization and their like behave as in training; see [Train].
	IsTraining() bool
	setTraining(on bool)
	// hooks are the module's, nil if there are none and none are to come.
	hooks(toAdd bool) *hookSet
	shareHooks(set *hookSet)
}

// Layer is a module with one input and one output.
type Layer interface {
	Module
	Forward(x *gotorch.Tensor) *gotorch.Tensor
}

// Base makes a struct that embeds it a [Module]. Its zero value is a module that trains.
type Base struct {
	evaluates bool
	hookSet   *hookSet
}

// IsTraining tells whether the module is in training mode.
func (b *Base) IsTraining() bool { return !b.evaluates }

func (b *Base) setTraining(on bool) { b.evaluates = !on }

func (b *Base) hooks(toAdd bool) *hookSet {
	if toAdd && b.hookSet == nil {
		b.hookSet = &hookSet{}
	}
	return b.hookSet
}

func (b *Base) shareHooks(set *hookSet) { b.hookSet = set }

// Named is a tensor of a module with its path of names, such as "conv1.weight".
type Named struct {
	Name   string
	Tensor *gotorch.Tensor
}

// Child is a module in another, with its name there.
type Child struct {
	Name   string
	Module Module
}

// Func is a layer without parameters from a function.
func Func(forward func(x *gotorch.Tensor) *gotorch.Tensor) Layer { return &function{forward: forward} }

type function struct {
	Base
	forward func(x *gotorch.Tensor) *gotorch.Tensor
}

func (f *function) Forward(x *gotorch.Tensor) *gotorch.Tensor { return f.forward(x) }
