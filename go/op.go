package gotorch

import (
	"fmt"
	"math"
	"reflect"
	"runtime"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Scalar is a number where an operator takes one: a bool, an integer up to 2⁶³-1, a float or a complex number of Go, of
// named types, too. As in PyTorch, an integer keeps an integer tensor's type and a float does not.
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
// None; a Tensor? is nil or a *Tensor, a Generator? nil or a *Generator, int and int64 are ints, []int is a list of
// them, and so on for float64, bool, string, complex128, DType, Layout, MemoryFormat, Device, []*Tensor, []float64,
// []bool, []string and []Scalar. Results are nil, *Tensor, bool, int, float64, complex128, string, DType, Layout,
// MemoryFormat, Device, []*Tensor, []int, []float64 or []bool.
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
	case Layout:
		f.Layout(int32(v))
	case MemoryFormat:
		f.MemoryFormat(int32(v))
	case Device:
		f.Device(int32(v.Kind), int32(v.Index))
	case *Generator:
		if v == nil {
			f.None()
		} else {
			f.Generator(v.native)
		}
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
	case []Scalar:
		ok := true
		f.Scalars(func() {
			for _, number := range v {
				ok = addScalar(f, number) && ok
			}
		})
		return ok
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
		return addNamedScalar(f, reflect.ValueOf(number))
	}
	return true
}

// addNamedScalar adds numbers of the remaining types: uint, uint64, and named ones.
func addNamedScalar(f *c.Frame, number reflect.Value) bool {
	switch {
	case number.Kind() == reflect.Bool:
		f.Bool(number.Bool())
	case number.CanInt():
		f.Int(number.Int())
	case number.CanUint() && number.Uint() <= math.MaxInt64:
		f.Int(int64(number.Uint()))
	case number.CanFloat():
		f.Double(number.Float())
	case number.CanComplex():
		f.Complex(number.Complex())
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
	case c.Layout:
		return Layout(v)
	case c.MemoryFormat:
		return MemoryFormat(v)
	case c.Device:
		return Device{DeviceKind(v.Kind), int(v.Index)}
	}
	return value
}

func outOfRange(dim, n int) string {
	return fmt.Sprintf("dimension %d of a tensor that has %d", dim, n)
}
