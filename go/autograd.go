package gotorch

import (
	"runtime"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// BackwardOptions of [Tensor.Backward] and [Backward].
type BackwardOptions struct {
	Gradients   []*Tensor // of the tensors; nil: ones, for tensors of one element
	RetainGraph bool      // keep what a second pass needs
	CreateGraph bool      // record the pass itself, for derivatives of higher order
}

// Backward adds t's derivatives to the gradients of the tensors it was computed from. Under DistributedDataParallel
// gradients are averaged over all ranks on the way: a lost peer is ErrPeerLost, a late one ErrTimeout.
// Source: torch.Tensor.backward.
func (t *Tensor) Backward(options ...BackwardOptions) error {
	if len(options) != 0 {
		return Backward([]*Tensor{t}, options...)
	}
	return Try(func() {
		err := c.BackwardOne(t.handle("Tensor.Backward"), nil, false, false)
		runtime.KeepAlive(t)
		must(err)
	})
}

// Backward is [Tensor.Backward] from several tensors. Source: torch.autograd.backward.
func Backward(tensors []*Tensor, options ...BackwardOptions) error {
	o, err := bridge.One(options)
	if err != nil {
		return err
	}
	return Try(func() {
		if len(o.Gradients) != 0 && len(o.Gradients) != len(tensors) {
			panic(invalid("backward", "%d gradients for %d tensors", len(o.Gradients), len(tensors)))
		}
		err := c.Backward(handles(tensors, "backward"), handles(o.Gradients, "backward"), o.RetainGraph, o.CreateGraph)
		runtime.KeepAlive(tensors)
		runtime.KeepAlive(o)
		must(err)
	})
}

// handles of tensors, the zero handle for nil ones.
func handles(tensors []*Tensor, op string) []c.Tensor {
	if len(tensors) == 0 {
		return nil
	}
	list := make([]c.Tensor, len(tensors))
	for i, t := range tensors {
		if t != nil {
			list[i] = t.handle(op)
		}
	}
	return list
}

// RequiresGrad tells whether operations on t are recorded for Backward.
func (t *Tensor) RequiresGrad() bool { return ask(t, "requires_grad", c.RequiresGrad) }

// IsLeaf tells whether t was made by the program and not by an operation that is recorded.
func (t *Tensor) IsLeaf() bool { return ask(t, "is_leaf", c.IsLeaf) }

// SetRequiresGrad switches the recording of operations on t on or off, and returns t.
func (t *Tensor) SetRequiresGrad(on bool) *Tensor {
	err := c.SetRequiresGrad(t.handle("Tensor.SetRequiresGrad"), on)
	runtime.KeepAlive(t)
	must(err)
	return t
}

// Grad is the gradient that Backward added to, nil when there is none.
func (t *Tensor) Grad() *Tensor {
	made, err := c.Grad(t.handle("Tensor.Grad"))
	runtime.KeepAlive(t)
	must(err)
	if made.Handle == nil {
		return nil
	}
	return wrap(made)
}

// SetGrad replaces the gradient; nil removes it.
func (t *Tensor) SetGrad(grad *Tensor) {
	var native c.Tensor
	if grad != nil {
		native = grad.handle("Tensor.SetGrad")
	}
	err := c.SetGrad(t.handle("Tensor.SetGrad"), native)
	runtime.KeepAlive(t)
	runtime.KeepAlive(grad)
	must(err)
}

// GradOptions of [Grad].
type GradOptions struct {
	GradOutputs []*Tensor // of the outputs; nil: ones, for outputs of one element
	RetainGraph bool      // keep what a second pass needs
	CreateGraph bool      // record the pass itself, for derivatives of higher order
	AllowUnused bool      // nil for an input that no output was computed from, instead of an error
}

// Grad is the gradient of the outputs' sum by each input, without touching any tensor's own gradient. Post-accumulate
// hooks do not run. Source: torch.autograd.grad.
func Grad(outputs, inputs []*Tensor, options ...GradOptions) (gradients []*Tensor, err error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	err = Try(func() {
		if len(o.GradOutputs) != 0 && len(o.GradOutputs) != len(outputs) {
			panic(invalid("grad", "%d gradients for %d outputs", len(o.GradOutputs), len(outputs)))
		}
		made, err := c.AutogradGrad(handles(outputs, "grad"), handles(o.GradOutputs, "grad"), handles(inputs, "grad"),
			o.RetainGraph, o.CreateGraph, o.AllowUnused)
		runtime.KeepAlive(outputs)
		runtime.KeepAlive(inputs)
		runtime.KeepAlive(o)
		must(err)
		gradients = wrapAll(made)
	})
	return gradients, err
}
