package gotorch

import (
	"runtime"
	"unsafe"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// call collects the arguments of an operator and runs it: what generated methods and functions are written with.
// internal/call is the same for the other packages. The tensors given live until the operator has returned.
type call struct {
	op    *bridge.Operator
	frame *c.Frame
}

func begin(op *bridge.Operator) call { return call{op, c.NewFrame()} }

// of1, of2 and of3 run an operator that is given so many tensors alone, the usual call, without collecting anything.

func of1(op *bridge.Operator, a *Tensor) *Tensor {
	made := op.OfTensors(1, a.handle(op.Name), nil, nil)
	runtime.KeepAlive(a)
	return wrapOptional(made)
}

func of2(op *bridge.Operator, a, b *Tensor) *Tensor {
	made := op.OfTensors(2, a.handle(op.Name), b.handle(op.Name), nil)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return wrapOptional(made)
}

func of3(op *bridge.Operator, a, b, c *Tensor) *Tensor {
	made := op.OfTensors(3, a.handle(op.Name), b.handle(op.Name), c.handle(op.Name))
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(c)
	return wrapOptional(made)
}

// wrapOptional gives nil for an undefined tensor.
func wrapOptional(made c.Made) *Tensor {
	if made.Handle == nil {
		return nil
	}
	return wrap(made)
}

// tensor is to be given to what runs the operator as well, which keeps it alive; the frame keeps all others.
func (k call) tensor(t *Tensor) call {
	k.frame.Tensor(t.handle(k.op.Name))
	return k
}

func (k call) optTensor(t *Tensor) call {
	if t == nil {
		return k.none()
	}
	k.frame.Keep(unsafe.Pointer(t))
	return k.tensor(t)
}

func (k call) optGenerator(g *Generator) call {
	if g == nil {
		return k.none()
	}
	k.frame.Keep(unsafe.Pointer(g))
	k.frame.Generator(g.native)
	return k
}

func (k call) tensors(list []*Tensor) call {
	return k.handles(list, false)
}

func (k call) optTensors(list []*Tensor) call {
	return k.handles(list, true)
}

func (k call) handles(list []*Tensor, nils bool) call {
	handles := make([]c.Tensor, len(list))
	for i, t := range list {
		if t != nil || !nils {
			handles[i] = t.handle(k.op.Name)
			k.frame.Keep(unsafe.Pointer(t))
		}
	}
	k.frame.Tensors(handles)
	return k
}

func (k call) scalar(s Scalar) call {
	if !addScalar(k.frame, s) {
		if _, isOpt := s.(interface{ isOpt() }); isOpt {
			panic(invalid(k.op.Name, "%v is an Opt, where a number is taken as it is: leave out Some", s))
		}
		panic(invalid(k.op.Name, "%v, a %T, is not a number that an operator takes", s, s))
	}
	return k
}

func (k call) scalars(list []Scalar) call {
	k.frame.Scalars(func() {
		for _, s := range list {
			k.scalar(s)
		}
	})
	return k
}

func (k call) int(v int) call {
	k.frame.Int(int64(v))
	return k
}

func (k call) ints(v []int) call {
	k.frame.Ints(v)
	return k
}

func (k call) double(v float64) call {
	k.frame.Double(v)
	return k
}

func (k call) doubles(v []float64) call {
	k.frame.Doubles(v)
	return k
}

func (k call) bool(v bool) call {
	k.frame.Bool(v)
	return k
}

func (k call) string(v string) call {
	k.frame.String(v)
	return k
}

func (k call) dtype(v DType) call {
	k.frame.DType(int32(v))
	return k
}

func (k call) layout(v Layout) call {
	k.frame.Layout(int32(v))
	return k
}

func (k call) memoryFormat(v MemoryFormat) call {
	k.frame.MemoryFormat(int32(v))
	return k
}

func (k call) device(v Device) call {
	k.frame.Device(int32(v.Kind), int32(v.Index))
	return k
}

func (k call) none() call {
	k.frame.None()
	return k
}

func (k call) unset() call {
	k.frame.Default()
	return k
}

// Options: the schema's default unless they are set.

func (k call) optScalar(v Scalar) call {
	if v == nil {
		return k.unset()
	}
	return k.scalar(v)
}

func (k call) optInt(o Opt[int]) call {
	if v, ok := o.Get(); ok {
		return k.int(v)
	}
	return k.unset()
}

func (k call) optInts(v []int) call {
	if v == nil {
		return k.unset()
	}
	return k.ints(v)
}

func (k call) optDouble(o Opt[float64]) call {
	if v, ok := o.Get(); ok {
		return k.double(v)
	}
	return k.unset()
}

func (k call) optDoubles(v []float64) call {
	if v == nil {
		return k.unset()
	}
	return k.doubles(v)
}

func (k call) optBool(o Opt[bool]) call {
	if v, ok := o.Get(); ok {
		return k.bool(v)
	}
	return k.unset()
}

func (k call) whenTrue(v bool) call {
	if !v {
		return k.unset()
	}
	return k.bool(v)
}

func (k call) optString(v string) call {
	if v == "" {
		return k.unset()
	}
	return k.string(v)
}

func (k call) optDType(o Opt[DType]) call {
	if v, ok := o.Get(); ok {
		return k.dtype(v)
	}
	return k.unset()
}

func (k call) optLayout(o Opt[Layout]) call {
	if v, ok := o.Get(); ok {
		return k.layout(v)
	}
	return k.unset()
}

func (k call) optMemoryFormat(o Opt[MemoryFormat]) call {
	if v, ok := o.Get(); ok {
		return k.memoryFormat(v)
	}
	return k.unset()
}

func (k call) optDevice(o Opt[Device]) call {
	if v, ok := o.Get(); ok {
		return k.device(v)
	}
	return k.unset()
}

// Parameters that may be None.

func (k call) noneInt(o Opt[int]) call {
	if v, ok := o.Get(); ok {
		return k.int(v)
	}
	return k.none()
}

func (k call) noneBool(o Opt[bool]) call {
	if v, ok := o.Get(); ok {
		return k.bool(v)
	}
	return k.none()
}

func (k call) nilScalar(v Scalar) call {
	if v == nil {
		return k.none()
	}
	return k.scalar(v)
}

func (k call) nilInts(v []int) call {
	if v == nil {
		return k.none()
	}
	return k.ints(v)
}

func (k call) emptyString(v string) call {
	if v == "" {
		return k.none()
	}
	return k.string(v)
}

// factory adds dtype, layout, device and pin_memory, which end the schemas of functions that make tensors.
func (k call) factory(o TensorOptions) call {
	return k.optDType(o.DType).optLayout(o.Layout).optDevice(o.Device).whenTrue(o.PinMemory)
}

// one runs an operator whose one result is a tensor; nil when that is undefined.
func (k call) one(keep ...*Tensor) *Tensor {
	made := k.op.One(k.frame)
	runtime.KeepAlive(keep)
	return wrapOptional(made)
}

// into runs an operator that writes to t and returns it.
func (k call) into(t *Tensor, keep ...*Tensor) *Tensor {
	c.Free(k.op.One(k.frame).Handle)
	runtime.KeepAlive(t)
	runtime.KeepAlive(keep)
	return t
}

// results of an operator of any kind.
func (k call) results(keep []*Tensor) []any {
	values := k.op.All(k.frame)
	runtime.KeepAlive(keep)
	results := make([]any, len(values))
	for i, value := range values {
		results[i] = resultOf(value)
	}
	return results
}

func tensorAt(results []any, i int) *Tensor {
	t, _ := results[i].(*Tensor)
	return t
}

func (k call) two(keep ...*Tensor) (_, _ *Tensor) {
	r := k.results(keep)
	return tensorAt(r, 0), tensorAt(r, 1)
}

func (k call) three(keep ...*Tensor) (_, _, _ *Tensor) {
	r := k.results(keep)
	return tensorAt(r, 0), tensorAt(r, 1), tensorAt(r, 2)
}

func (k call) list(keep ...*Tensor) []*Tensor { return k.results(keep)[0].([]*Tensor) }

func (k call) oneAndList(keep ...*Tensor) (*Tensor, []*Tensor) {
	r := k.results(keep)
	return tensorAt(r, 0), r[1].([]*Tensor)
}

func (k call) truth(keep ...*Tensor) bool        { return k.results(keep)[0].(bool) }
func (k call) number(keep ...*Tensor) int        { return k.results(keep)[0].(int) }
func (k call) elementType(keep ...*Tensor) DType { return k.results(keep)[0].(DType) }
