package gotorch

import (
	"log"
	"reflect"

	core "tandem.example/gotorch"
	"tandem.example/gotorch/compat/internal/panics"
	"tandem.example/gotorch/compat/variadic"
)

// Equal tells whether both have one shape and the same elements. Source: torch.equal.
func Equal(a, b Tensor) bool {
	defer panics.AsText()
	return a.unwrap("Equal").Equal(b.unwrap("Equal"))
}

// AllClose tells whether all elements are about the same. Source: torch.allclose.
func AllClose(a, b Tensor) bool {
	defer panics.AsText()
	return a.unwrap("AllClose").AllClose(b.unwrap("AllClose"))
}

// Item is the only element: a byte, bool, int8, int16, int32, int64, float32 (of Half and Float) or float64.
func (a Tensor) Item() any {
	defer panics.AsText()
	t := a.unwrap("Item")
	switch dtype := a.Dtype(); dtype {
	case Byte:
		return byte(t.ItemInt())
	case Bool:
		return t.ItemInt() != 0
	case Char:
		return int8(t.ItemInt())
	case Short:
		return int16(t.ItemInt())
	case Int:
		return int32(t.ItemInt())
	case Long:
		return int64(t.ItemInt())
	case Half, Float:
		return float32(t.Item())
	case Double:
		return t.Item()
	default:
		log.Panicf("Item: elements of type %v have no number here; CastTo another type", core.DType(dtype))
		return nil
	}
}

// Mean of all elements. Source: torch.mean.
func Mean(t Tensor) Tensor { return t.Mean() }

// Mean of all elements.
func (a Tensor) Mean() Tensor {
	return one("Mean", a, func(t *core.Tensor) *core.Tensor { return t.Mean() })
}

// Sum of all elements, or over the dimension that the option "dim", an int, gives, which the option "keepDim", a bool, has
// stay with size one. Source: torch.sum.
func Sum(a Tensor, opt ...map[string]any) Tensor {
	return one("Sum", a, func(t *core.Tensor) *core.Tensor {
		if !variadic.Has(opt, "dim") {
			return t.Sum()
		}
		keep := variadic.Get(opt, "keepDim", false).(bool)
		return t.SumDim([]int{variadic.Get(opt, "dim").(int)}, core.SumDimOptions{KeepDim: keep})
	})
}

// Sum is [Sum].
func (a Tensor) Sum(opt ...map[string]any) Tensor { return Sum(a, opt...) }

// TopK are the k largest elements along dim, or the smallest, and where they are. Source: torch.topk.
func TopK(a Tensor, k, dim int64, largest, sorted bool) (Tensor, Tensor) {
	defer panics.AsText()
	values, indices := a.unwrap("TopK").TopK(int(k), core.TopKOptions{Dim: core.Some(int(dim)), Largest: core.Some(largest),
		Sorted: core.Some(sorted)})
	return Wrap(values), Wrap(indices)
}

// Argmin is where the smallest element is, of all or, with an integer for one, along a dimension, which a bool after it
// has stay with size one. Source: torch.argmin.
func (a Tensor) Argmin(opts ...any) Tensor { return a.arg("Argmin", "aten::argmin", opts) }

// Argmax is where the largest element is; its options are those of [Tensor.Argmin]. Source: torch.argmax.
func (a Tensor) Argmax(opts ...any) Tensor { return a.arg("Argmax", "aten::argmax", opts) }

func (a Tensor) arg(name, operator string, opts []any) Tensor {
	var dim any
	keep := false
	if len(opts) > 0 {
		given := reflect.ValueOf(opts[0])
		if !given.CanInt() {
			log.Panicf("%s: the dimension is a %T; give an integer", name, opts[0])
		}
		dim = int(given.Int())
	}
	if len(opts) > 1 {
		given := reflect.ValueOf(opts[1])
		if given.Kind() != reflect.Bool {
			log.Panicf("%s: whether to keep the dimension is a %T; give a bool", name, opts[1])
		}
		keep = given.Bool()
	}
	return one(name, a, func(t *core.Tensor) *core.Tensor { return core.Call(operator, "", t, dim, keep)[0].(*core.Tensor) })
}
