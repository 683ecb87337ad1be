// Package call is the builder that functions of packages beside gotorch call operators with.
package call

import (
	"runtime"
	"unsafe"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Call collects the arguments of an operator and runs it. The tensors given live until the operator has returned.
type Call struct {
	op    *bridge.Operator
	frame *c.Frame
}

// Begin a call of op.
func Begin(op *bridge.Operator) Call { return Call{op, c.NewFrame()} }

// Given tells whether a function's options were given; panics when they were more than once.
func Given(count int) bool { return bridge.Given(count) }

// First of a function's optional options.
func First[T any](options []T) T { return bridge.First(options) }

// Tensor is to be given to what runs the operator as well, which keeps it alive; the frame keeps all others.
func (k Call) Tensor(t *gotorch.Tensor) Call {
	k.frame.Tensor(bridge.Handle(t, k.op.Name))
	return k
}

func (k Call) OptTensor(t *gotorch.Tensor) Call {
	if t == nil {
		return k.None()
	}
	k.frame.Keep(unsafe.Pointer(t))
	return k.Tensor(t)
}

func (k Call) OptGenerator(g *gotorch.Generator) Call {
	if g == nil {
		return k.None()
	}
	k.frame.Keep(unsafe.Pointer(g))
	k.frame.Generator(bridge.Generator(g))
	return k
}

func (k Call) Tensors(list []*gotorch.Tensor) Call {
	return k.handles(list, false)
}

func (k Call) OptTensors(list []*gotorch.Tensor) Call {
	return k.handles(list, true)
}

func (k Call) handles(list []*gotorch.Tensor, nils bool) Call {
	handles := make([]c.Tensor, len(list))
	for i, t := range list {
		if t != nil || !nils {
			handles[i] = bridge.Handle(t, k.op.Name)
			k.frame.Keep(unsafe.Pointer(t))
		}
	}
	k.frame.Tensors(handles)
	return k
}

func (k Call) Scalar(s gotorch.Scalar) Call {
	bridge.Scalar(k.frame, s, k.op.Name)
	return k
}

func (k Call) Int(v int) Call {
	k.frame.Int(int64(v))
	return k
}

func (k Call) Ints(v []int) Call {
	k.frame.Ints(v)
	return k
}

func (k Call) Double(v float64) Call {
	k.frame.Double(v)
	return k
}

func (k Call) Doubles(v []float64) Call {
	k.frame.Doubles(v)
	return k
}

func (k Call) Bool(v bool) Call {
	k.frame.Bool(v)
	return k
}

func (k Call) String(v string) Call {
	k.frame.String(v)
	return k
}

func (k Call) DType(v gotorch.DType) Call {
	k.frame.DType(int32(v))
	return k
}

func (k Call) Layout(v gotorch.Layout) Call {
	k.frame.Layout(int32(v))
	return k
}

func (k Call) MemoryFormat(v gotorch.MemoryFormat) Call {
	k.frame.MemoryFormat(int32(v))
	return k
}

func (k Call) Device(v gotorch.Device) Call {
	k.frame.Device(int32(v.Kind), int32(v.Index))
	return k
}

func (k Call) None() Call {
	k.frame.None()
	return k
}

func (k Call) Unset() Call {
	k.frame.Default()
	return k
}

// Options: the schema's default unless they are set.

func (k Call) OptScalar(v gotorch.Scalar) Call {
	if v == nil {
		return k.Unset()
	}
	return k.Scalar(v)
}

func (k Call) OptInt(o gotorch.Opt[int]) Call {
	if v, ok := o.Get(); ok {
		return k.Int(v)
	}
	return k.Unset()
}

func (k Call) OptInts(v []int) Call {
	if v == nil {
		return k.Unset()
	}
	return k.Ints(v)
}

// Number of an option that is one of several.
func Number[T ~int](o gotorch.Opt[T]) gotorch.Opt[int] {
	if v, ok := o.Get(); ok {
		return gotorch.Some(int(v))
	}
	return gotorch.Opt[int]{}
}

// Positive is an option of 1 or more: 0 is the schema's default.
func (k Call) Positive(v int) Call {
	if v == 0 {
		return k.Unset()
	}
	return k.Int(v)
}

func (k Call) OptDouble(o gotorch.Opt[float64]) Call {
	if v, ok := o.Get(); ok {
		return k.Double(v)
	}
	return k.Unset()
}

func (k Call) OptDoubles(v []float64) Call {
	if v == nil {
		return k.Unset()
	}
	return k.Doubles(v)
}

func (k Call) OptBool(o gotorch.Opt[bool]) Call {
	if v, ok := o.Get(); ok {
		return k.Bool(v)
	}
	return k.Unset()
}

func (k Call) WhenTrue(v bool) Call {
	if !v {
		return k.Unset()
	}
	return k.Bool(v)
}

func (k Call) OptString(v string) Call {
	if v == "" {
		return k.Unset()
	}
	return k.String(v)
}

func (k Call) OptDType(o gotorch.Opt[gotorch.DType]) Call {
	if v, ok := o.Get(); ok {
		return k.DType(v)
	}
	return k.Unset()
}

func (k Call) OptLayout(o gotorch.Opt[gotorch.Layout]) Call {
	if v, ok := o.Get(); ok {
		return k.Layout(v)
	}
	return k.Unset()
}

func (k Call) OptMemoryFormat(o gotorch.Opt[gotorch.MemoryFormat]) Call {
	if v, ok := o.Get(); ok {
		return k.MemoryFormat(v)
	}
	return k.Unset()
}

func (k Call) OptDevice(o gotorch.Opt[gotorch.Device]) Call {
	if v, ok := o.Get(); ok {
		return k.Device(v)
	}
	return k.Unset()
}

// Parameters that may be None.

func (k Call) NoneInt(o gotorch.Opt[int]) Call {
	if v, ok := o.Get(); ok {
		return k.Int(v)
	}
	return k.None()
}

func (k Call) NoneBool(o gotorch.Opt[bool]) Call {
	if v, ok := o.Get(); ok {
		return k.Bool(v)
	}
	return k.None()
}

func (k Call) NilScalar(v gotorch.Scalar) Call {
	if v == nil {
		return k.None()
	}
	return k.Scalar(v)
}

func (k Call) NilInts(v []int) Call {
	if v == nil {
		return k.None()
	}
	return k.Ints(v)
}

func (k Call) NilDoubles(v []float64) Call {
	if v == nil {
		return k.None()
	}
	return k.Doubles(v)
}

func (k Call) EmptyString(v string) Call {
	if v == "" {
		return k.None()
	}
	return k.String(v)
}

// One runs an operator whose one result is a tensor; nil when that is undefined.
func (k Call) One(keep ...*gotorch.Tensor) *gotorch.Tensor {
	made := k.op.One(k.frame)
	runtime.KeepAlive(keep)
	if made.Handle == nil {
		return nil
	}
	return bridge.Wrap(made).(*gotorch.Tensor)
}

// Into runs an operator that writes to t and returns it.
func (k Call) Into(t *gotorch.Tensor, keep ...*gotorch.Tensor) *gotorch.Tensor {
	c.Free(k.op.One(k.frame).Handle)
	runtime.KeepAlive(t)
	runtime.KeepAlive(keep)
	return t
}

// results of an operator of any kind.
func (k Call) results(keep []*gotorch.Tensor) []any {
	values := k.op.All(k.frame)
	runtime.KeepAlive(keep)
	results := make([]any, len(values))
	for i, value := range values {
		results[i] = bridge.Result(value)
	}
	return results
}

// Done runs an operator whose results are tensors that were given.
func (k Call) Done(keep ...*gotorch.Tensor) {
	for _, value := range k.op.All(k.frame) {
		if made, ok := value.(c.Made); ok {
			c.Free(made.Handle)
		}
	}
	runtime.KeepAlive(keep)
}

func tensorAt(results []any, i int) *gotorch.Tensor {
	t, _ := results[i].(*gotorch.Tensor)
	return t
}

func (k Call) Two(keep ...*gotorch.Tensor) (_, _ *gotorch.Tensor) {
	r := k.results(keep)
	return tensorAt(r, 0), tensorAt(r, 1)
}

func (k Call) Three(keep ...*gotorch.Tensor) (_, _, _ *gotorch.Tensor) {
	r := k.results(keep)
	return tensorAt(r, 0), tensorAt(r, 1), tensorAt(r, 2)
}

func (k Call) Four(keep ...*gotorch.Tensor) (_, _, _, _ *gotorch.Tensor) {
	r := k.results(keep)
	return tensorAt(r, 0), tensorAt(r, 1), tensorAt(r, 2), tensorAt(r, 3)
}

func (k Call) List(keep ...*gotorch.Tensor) []*gotorch.Tensor {
	return k.results(keep)[0].([]*gotorch.Tensor)
}

func (k Call) Real(keep ...*gotorch.Tensor) float64 { return k.results(keep)[0].(float64) }
