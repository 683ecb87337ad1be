package gotorch

import (
	"fmt"
	"math/bits"
	"runtime"
	"unsafe"

	"tandem.example/gotorch/internal/c"
)

// From copies values, in C order, into a new CPU tensor of that shape; without a shape it has one dimension, and of an empty
// one that is not nil, as a file may have it, none. The
// elements have values' type: [DTypeOf]. [NewTensor] takes nested slices and single numbers.
func From[T Element](values []T, shape ...int) *Tensor {
	if shape == nil {
		shape = []int{len(values)}
	}
	if elements := count("from", shape); elements != len(values) {
		panic(invalid("from", "%d values do not fill a tensor of shape %v, which has %d elements", len(values), shape,
			elements))
	}
	var zero T
	return fromMemory(unsafe.Pointer(unsafe.SliceData(values)), len(values)*int(unsafe.Sizeof(zero)), DTypeOf[T](), shape)
}

// FromBytes copies elements of any type from their bytes, in C order and in the machine's byte order, into a new CPU
// tensor of that shape; without a shape it has one dimension. It is the other way around of [Tensor.Bytes].
func FromBytes(raw []byte, dtype DType, shape ...int) *Tensor {
	size := dtype.Size()
	if size == 0 {
		panic(invalid("from_bytes", "%v is no element type", dtype))
	}
	if shape == nil {
		shape = []int{len(raw) / size}
	}
	if elements := count("from_bytes", shape); len(raw)%size != 0 || len(raw)/size != elements {
		panic(invalid("from_bytes", "%d bytes do not fill a tensor of shape %v, which has %d elements of %d bytes (%v)",
			len(raw), shape, elements, size, dtype))
	}
	return fromMemory(unsafe.Pointer(unsafe.SliceData(raw)), len(raw), dtype, shape)
}

func fromMemory(data unsafe.Pointer, bytes int, dtype DType, shape []int) *Tensor {
	made, err := c.FromData(data, bytes, int32(dtype), shape)
	must(err)
	return wrap(made)
}

// count of the elements of a shape; panics on one that no tensor has.
func count(op string, shape []int) int {
	elements, err := checkedCount(shape)
	if err != nil {
		panic(&Error{ErrInvalidArgument, op, err.Error()})
	}
	return elements
}

func checkedCount(shape []int) (int, error) {
	elements, empty := uint64(1), false
	for i, n := range shape {
		if n < 0 {
			return 0, fmt.Errorf("dimension %d of shape %v is negative", i, shape)
		}
		empty = empty || n == 0 // which does not excuse the other dimensions
		high, product := bits.Mul64(elements, uint64(max(n, 1)))
		if high != 0 || product > 1<<60 {
			return 0, fmt.Errorf("a tensor of shape %v has more elements than memory can", shape)
		}
		elements = product
	}
	if empty {
		return 0, nil
	}
	return int(elements), nil
}

// Data gives the elements of a contiguous CPU tensor themselves, in C order, without a copy. T must be the tensor's
// element type. Writing to the slice writes to the tensor, and to all that share its memory, behind autograd's back:
// where a backward pass is still to come that needs the old values it computes wrong gradients, which [CopyFrom]
// would make an error.
//
// The memory is the tensor's, which Go's collector does not know of. The slice must not be used once the tensor was
// closed, once its [Scope] returned, or, outside of scopes, once the tensor is unreachable: keep it alive
// (runtime.KeepAlive(t) after the slice's last use, or a variable that outlives the slice). [WithData] does that by
// itself, and [ToSlice] copies.
func Data[T Element](t *Tensor) []T {
	const op = "data"
	native := checkElements[T](t, -1, op)
	if device := t.Device(); device.Kind != CPUDevice {
		panic(invalid(op, "the elements lie on %v, where Go cannot reach them; copy them with ToSlice", device))
	}
	if layout := t.Layout(); layout != Strided {
		panic(invalid(op, "a tensor of layout %v has no plain elements; make it dense first (ToDense)", layout))
	}
	if !c.IsContiguous(native) {
		panic(invalid(op, "a tensor of strides %v is not contiguous; call Contiguous first, or copy with ToSlice",
			t.Strides()))
	}
	n := c.Numel(native)
	if n == 0 {
		return nil
	}
	data, err := c.Data(native)
	runtime.KeepAlive(t)
	must(err)
	return unsafe.Slice((*T)(data), n)
}

// WithData calls use with the elements as [Data] gives them, and keeps the tensor alive meanwhile. use must not let
// the slice out, or close the tensor.
func WithData[T Element](t *Tensor, use func(elements []T)) {
	use(Data[T](t))
	runtime.KeepAlive(t)
}

// ToSlice copies the elements out in C order, whatever the strides and the device. T must be the tensor's element
// type.
func ToSlice[T Element](t *Tensor) []T {
	values := make([]T, t.Numel())
	CopyTo(t, values)
	return values
}

// CopyTo copies the elements, in C order and from any device, into values, which has one for each.
func CopyTo[T Element](t *Tensor, values []T) {
	native := checkElements[T](t, len(values), "copy_to")
	if len(values) > 0 {
		err := c.CopyTo(native, unsafe.Pointer(&values[0]), c.NBytes(native))
		runtime.KeepAlive(t)
		must(err)
	}
}

// CopyFrom overwrites the elements with values, in C order, on any device. Autograd does not record it, but notices it
// where a backward pass needs the old values.
func CopyFrom[T Element](t *Tensor, values []T) {
	native := checkElements[T](t, len(values), "copy_from")
	if len(values) > 0 {
		err := c.CopyFrom(native, unsafe.Pointer(&values[0]), c.NBytes(native))
		runtime.KeepAlive(t)
		must(err)
	}
}

func checkElements[T Element](t *Tensor, n int, op string) c.Tensor {
	native := t.handle(op)
	if want, have := DTypeOf[T](), DType(c.TypeOf(native)); want != have {
		panic(invalid(op, "the tensor has elements of type %v, not %v; convert it with To first", have, want))
	}
	if have := c.Numel(native); n >= 0 && n != have {
		panic(invalid(op, "the tensor of shape %v has %d elements, the slice %d", t.Shape(), have, n))
	}
	return native
}

// Bytes copies the elements out, in C order and in the machine's byte order, whatever their type, from any device.
func (t *Tensor) Bytes() []byte {
	native := t.handle("Tensor.Bytes")
	raw := make([]byte, c.NBytes(native))
	if len(raw) > 0 {
		err := c.CopyTo(native, unsafe.Pointer(&raw[0]), len(raw))
		runtime.KeepAlive(t)
		must(err)
	}
	return raw
}
