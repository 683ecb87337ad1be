package gotorch

import (
	"fmt"
	"runtime"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Scalar is a number where an operator takes one: a bool, an integer, a float or a complex number of Go. As in
// PyTorch, an integer keeps an integer tensor's type and a float does not.
type Scalar any

// Op is an operator of LibTorch's dispatcher.
type Op struct{ operator *bridge.Operator }

// FindOp looks an operator up by name ("aten::add") and overload ("Tensor", "" for none). ErrNotFound names the
// LibTorch that lacks it. Look each operator up once.
func FindOp(name, overload string) (*Op, error) {
	operator := bridge.NewOperator(name, overload)
	_, err := operator.Find()
	if err != nil {
		return nil, errorOf(err)
	}
	return &Op{operator}, nil
}

// Schema is "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
func (op *Op) Schema() string {
	native, err := op.operator.Find()
	must(err)
	return c.Schema(native)
}

// Default as an argument of [Call] is the schema's default.
var Default = defaultArgument{}

type defaultArgument struct{}

// Call calls the operator. Arguments are in the schema's order; fewer than it has mean defaults for the rest. nil is
// None; a Tensor? is nil or a *Tensor, int and int64 are ints, []int is a list of them, and so on for float64, bool,
// string, complex128, DType, Device, []*Tensor, []float64, []bool and []string. Results are nil, *Tensor, bool, int,
// float64, complex128, string, DType, Device, []*Tensor, []int, []float64 or []bool.
func (op *Op) Call(arguments ...any) []any {
	f := c.NewFrame()
	for i, argument := range arguments {
		if !addArgument(f, argument, op.operator.Name) {
			panic(invalid(op.operator.Name, "argument %d is a %T, which no operator takes", i, argument))
		}
	}
	values := op.operator.All(f)
	runtime.KeepAlive(arguments)
	results := make([]any, len(values))
	for i, value := range values {
		results[i] = resultOf(value)
	}
	return results
}

// Call finds and calls an operator; see [Op.Call]. It panics with *[Error].
func Call(name, overload string, arguments ...any) []any {
	op, err := FindOp(name, overload)
	if err != nil {
		panic(err)
	}
	return op.Call(arguments...)
}

func addArgument(f *c.Frame, argument any, op string) bool {
	switch v := argument.(type) {
	case nil:
		f.None()
	case defaultArgument:
		f.Default()
	case *Tensor:
		if v == nil {
			f.None()
		} else {
			f.Tensor(v.handle(op))
		}
	case string:
		f.String(v)
	case DType:
		f.DType(int32(v))
	case Device:
		f.Device(int32(v.Kind), int32(v.Index))
	case []*Tensor:
		list := make([]c.Tensor, len(v))
		for i, t := range v {
			if t != nil {
				list[i] = t.handle(op)
			}
		}
		f.Tensors(list)
	case []int:
		f.Ints(v)
	case []float64:
		f.Doubles(v)
	case []bool:
		f.Bools(v)
	case []string:
		f.Strings(v)
	default:
		return addScalar(f, argument)
	}
	return true
}

func addScalar(f *c.Frame, number Scalar) bool {
	switch v := number.(type) {
	case bool:
		f.Bool(v)
	case int:
		f.Int(int64(v))
	case int8:
		f.Int(int64(v))
	case int16:
		f.Int(int64(v))
	case int32:
		f.Int(int64(v))
	case int64:
		f.Int(v)
	case uint8:
		f.Int(int64(v))
	case uint16:
		f.Int(int64(v))
	case uint32:
		f.Int(int64(v))
	case float32:
		f.Double(float64(v))
	case float64:
		f.Double(v)
	case complex64:
		f.Complex(complex128(v))
	case complex128:
		f.Complex(v)
	default:
		return false
	}
	return true
}

func resultOf(value c.Value) any {
	switch v := value.(type) {
	case c.Made:
		return wrap(v)
	case []c.Made:
		list := make([]*Tensor, len(v))
		for i, m := range v {
			if m.Handle != nil {
				list[i] = wrap(m)
			}
		}
		return list
	case int64:
		return int(v)
	case c.DType:
		return DType(v)
	case c.Device:
		return Device{DeviceKind(v.Kind), int(v.Index)}
	}
	return value
}

// call builds the arguments of an operator whose one result is a tensor: the form that hand-written and generated
// methods use, without boxing.
type call struct {
	op    *bridge.Operator
	frame *c.Frame
}

func begin(op *bridge.Operator) call { return call{op, c.NewFrame()} }

func (k call) tensor(t *Tensor) call { k.frame.Tensor(t.handle(k.op.Name)); return k }
func (k call) int(n int) call        { k.frame.Int(int64(n)); return k }
func (k call) ints(list []int) call  { k.frame.Ints(list); return k }
func (k call) bool(b bool) call      { k.frame.Bool(b); return k }
func (k call) double(x float64) call { k.frame.Double(x); return k }
func (k call) dtype(d DType) call    { k.frame.DType(int32(d)); return k }
func (k call) none() call            { k.frame.None(); return k }
func (k call) unset() call           { k.frame.Default(); return k }
func (k call) device(d Device) call  { k.frame.Device(int32(d.Kind), int32(d.Index)); return k }

func (k call) scalar(s Scalar) call {
	if !addScalar(k.frame, s) {
		panic(invalid(k.op.Name, "%v, a %T, is not a number that an operator takes", s, s))
	}
	return k
}

func (k call) tensors(list []*Tensor) call {
	handles := make([]c.Tensor, len(list))
	for i, t := range list {
		handles[i] = t.handle(k.op.Name)
	}
	k.frame.Tensors(handles)
	return k
}

// one runs the call; the tensors given are those whose Go side has to live until it returned.
func (k call) one(a, b *Tensor) *Tensor {
	made := k.op.One(k.frame)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return wrap(made)
}

func outOfRange(dim, n int) string {
	return fmt.Sprintf("dimension %d of a tensor that has %d", dim, n)
}
