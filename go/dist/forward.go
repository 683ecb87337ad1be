package dist

import (
	"reflect"
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
)

// Forward calls forward, a method of d's module or a function that calls the module once, as a pass through d:
//
//	type batch struct{ Source, Target, Mask *gotorch.Tensor }
//	type translation struct {
//		Logits  *gotorch.Tensor
//		Weights []*gotorch.Tensor
//	}
//
//	func (m *Translator) Translate(b batch) translation
//
//	out := dist.Forward(ddp, batch{source, target, nil}, model.Translate)
//	err := loss(out.Logits).Backward()
//
// In and Out are tensors, or structs, pointers to such, slices, arrays and maps of them, at any depth; nil where one is
// not there. What leads to a tensor that is replaced is copied, all references to one object to references to one copy;
// the rest is handed on as it is. The loss is computed from what Forward gives, all of it or some: [DDPOptions].FindUnusedParameters then finds
// the parameters that only lead to the rest. Inputs are cast for [MixedPrecision], and AverageBySamples counts the first
// dimension of the first tensor among them.
//
// It panics with *[Error] on a lost or late peer, and with *[gotorch.Error] when forward gives no tensor while gradients
// are on.
func Forward[In, Out any](d *DDP, inputs In, forward func(inputs In) Out) Out {
	if given := reflect.TypeFor[Out](); !bridge.MayHoldTensor(given) {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.Forward",
			Message: "forward gives " + given.String() + ", which holds no tensor; have it give what the loss is computed from"})
	}
	looks, casts := d.looksAtInputs()
	if looks {
		given := tensorsIn(&inputs)
		made := d.prepareForward(given, casts)
		if casts {
			inputs = withTensors(&inputs, replacing(given, made))
		}
	} else {
		d.prepareForward(nil, false)
	}
	pass := pass{ddp: d, casts: casts}
	defer pass.end()
	output := forward(inputs)
	tensors := tensorsIn(&output)
	made, failure := c.PrepareBackward(d.handle, handlesOf(tensors, "dist.Forward"))
	pass.returned = true
	d.check(failure)
	return withTensors(&output, replacing(tensors, made))
}

// Forward calls the module, which must have one input and one output; see the function [Forward] for others. It panics
// with *[Error] on a lost or late peer.
func (d *DDP) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	layer, ok := d.Module.(nn.Layer)
	if !ok {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.DDP.Forward",
			Message: "the module has no Forward of one input and one output; use dist.Forward"})
	}
	looks, casts := d.looksAtInputs()
	if looks {
		made := d.prepareForward([]*gotorch.Tensor{x}, casts)
		if casts {
			x = bridge.Wrap(made[0]).(*gotorch.Tensor)
		}
	} else {
		d.prepareForward(nil, false)
	}
	pass := pass{ddp: d, casts: casts}
	defer pass.end()
	y := layer.Forward(x)
	made, failure := c.PrepareBackwardOne(d.handle, bridge.Handle(y, "dist.DDP.Forward"))
	pass.returned = true
	runtime.KeepAlive(y)
	d.check(failure)
	return bridge.Wrap(made).(*gotorch.Tensor)
}

// pass is a call of the module, whose parameters are of another dtype meanwhile where it casts.
type pass struct {
	ddp             *DDP
	casts, returned bool
}

// end gives the parameters of a module that panicked, or gave what cannot be trained, their own dtype again.
func (p *pass) end() {
	if p.casts && !p.returned {
		c.CancelForward(p.ddp.handle)
	}
}

// looksAtInputs tells whether inputs matter to the core, and whether it casts them.
func (d *DDP) looksAtInputs() (looks, casts bool) {
	_, casts = d.options.MixedPrecision.Param.Get()
	return casts || d.options.AverageBySamples, casts
}

func (d *DDP) prepareForward(inputs []*gotorch.Tensor, casts bool) []c.Made {
	if d.watch.Closed() {
		panic(closed("dist.DDP.Forward", "DDP wrapper"))
	}
	d.refreshBuffers()
	made, failure := c.PrepareForward(d.handle, d.Module.IsTraining(), handlesOf(inputs, "dist.DDP.Forward"), casts)
	runtime.KeepAlive(inputs)
	d.check(failure)
	if len(made) < len(inputs) {
		made = make([]c.Made, len(inputs))
	}
	return made
}

// handlesOf gives none for a tensor that is not there.
func handlesOf(tensors []*gotorch.Tensor, op string) []c.Tensor {
	handles := make([]c.Tensor, len(tensors))
	for i, t := range tensors {
		if t != nil {
			handles[i] = bridge.Handle(t, op)
		}
	}
	return handles
}

// replacing gives what the core made of tensors: the given one where that is the same.
func replacing(given []*gotorch.Tensor, made []c.Made) []*gotorch.Tensor {
	tensors := make([]*gotorch.Tensor, len(made))
	for i, one := range made {
		switch {
		case one.Handle == nil:
		case c.IsSame(one.Handle, bridge.Handle(given[i], "dist.Forward")):
			tensors[i] = given[i]
			c.Free(one.Handle)
		default:
			tensors[i] = bridge.Wrap(one).(*gotorch.Tensor)
		}
	}
	runtime.KeepAlive(given)
	return tensors
}

// tensorsIn lists the tensors in a value, at any depth.
func tensorsIn[T any](value *T) (list []*gotorch.Tensor) {
	bridge.MapTensors(reflect.ValueOf(value).Elem(), func(t any) any {
		list = append(list, t.(*gotorch.Tensor))
		return t
	})
	return list
}

// withTensors is a value with those tensors, in the order of tensorsIn.
func withTensors[T any](value *T, tensors []*gotorch.Tensor) (copied T) {
	reflect.ValueOf(&copied).Elem().Set(bridge.MapTensors(reflect.ValueOf(value).Elem(), func(any) any {
		next := tensors[0]
		tensors = tensors[1:]
		return next
	}))
	return copied
}
