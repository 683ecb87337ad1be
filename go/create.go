package gotorch

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"tandem.example/gotorch/internal/c"
)

// TensorOptions of the functions that make tensors. Unset: Float32 (Int64 where all arguments are integers), strided,
// CPU, pageable memory; of functions that make a tensor like another, that one's.
type TensorOptions struct {
	DType     Opt[DType]
	Layout    Opt[Layout]
	Device    Opt[Device]
	PinMemory bool
}

// ToDevice moves the elements; t itself when they are there already.
func (t *Tensor) ToDevice(device Device) *Tensor { return t.ToDeviceDType(device, t.DType()) }

// NewTensor makes a tensor of a number or bool, or of slices and arrays of them, nested as deep as the tensor has
// dimensions: NewTensor([][]float32{{1, 2}, {3, 4}}), NewTensor(0.5). The elements are copied once. Their type follows
// from Go's, as with [From] (float64 for a constant such as 0.5), and is converted where options.DType says so. Slices
// whose lengths differ are ErrInvalidArgument. Source: torch.tensor.
func NewTensor(value any, options ...TensorOptions) *Tensor {
	const op = "new_tensor"
	o := first(options)
	if layout := o.Layout.Or(Strided); layout != Strided {
		panic(invalid(op, "layout %v is made from a dense tensor: ToSparse", layout))
	}
	nested := reflect.ValueOf(value)
	if nested.Kind() == reflect.Array {
		// Only what lies in a variable has an address.
		variable := reflect.New(nested.Type()).Elem()
		variable.Set(nested)
		nested = variable
	}
	shape, element := shapeOf(nested)
	dtype, ok := dtypeOf(element)
	if !ok {
		panic(invalid(op, "a %T holds no numbers that a tensor can: give bools, integers, floats or complex numbers, or "+
			"slices and arrays of these", value))
	}
	t := Empty(shape, EmptyOptions{DType: Some(dtype), PinMemory: o.PinMemory})
	data, err := c.Data(t.handle(op))
	must(err)
	rows := rowCopier{shape: shape, to: unsafe.Slice((*byte)(data), t.NBytes()), size: dtype.Size()}
	rows.copy(nested)
	runtime.KeepAlive(t)
	return t.converted(o.DType.Or(dtype), o.Device.Or(CPU))
}

// converted gives t, or what takes its place.
func (t *Tensor) converted(dtype DType, device Device) *Tensor {
	if dtype == t.DType() && device == CPU {
		return t
	}
	defer t.Close()
	if moved := t.ToDeviceDType(device, dtype); !moved.IsSame(t) {
		return moved
	}
	return t.Share()
}

// shapeOf nested slices, after their first elements, and the type of the innermost.
func shapeOf(v reflect.Value) (shape []int, element reflect.Type) {
	shape = []int{}
	if !v.IsValid() {
		return shape, nil
	}
	element = v.Type()
	for element.Kind() == reflect.Slice || element.Kind() == reflect.Array {
		element = element.Elem()
		if !v.IsValid() {
			continue // below an empty slice there are no dimensions
		}
		shape = append(shape, v.Len())
		if v.Len() > 0 {
			v = v.Index(0)
		} else {
			v = reflect.Value{}
		}
	}
	return shape, element
}

var kindTypes = map[reflect.Kind]DType{reflect.Bool: Bool, reflect.Int: Int64, reflect.Int8: Int8, reflect.Int16: Int16,
	reflect.Int32: Int32, reflect.Int64: Int64, reflect.Uint: Uint64, reflect.Uint8: Uint8, reflect.Uint16: Uint16,
	reflect.Uint32: Uint32, reflect.Uint64: Uint64, reflect.Float32: Float32, reflect.Float64: Float64,
	reflect.Complex64: Complex64, reflect.Complex128: Complex128}

func dtypeOf(element reflect.Type) (dtype DType, ok bool) {
	switch element {
	case nil:
		return 0, false
	case reflect.TypeFor[F16]():
		return Float16, true
	case reflect.TypeFor[BF16]():
		return BFloat16, true
	}
	dtype, ok = kindTypes[element.Kind()]
	return dtype, ok
}

// rowCopier fills a tensor's memory from nested slices, an innermost slice at a time.
type rowCopier struct {
	shape []int
	to    []byte
	size  int
	path  []int // of the slice at hand
}

func (r *rowCopier) copy(v reflect.Value) {
	depth := len(r.path)
	if depth == len(r.shape) { // a number alone
		number := reflect.New(v.Type())
		number.Elem().Set(v)
		r.take(number.UnsafePointer(), 1)
		return
	}
	n := v.Len()
	if n != r.shape[depth] {
		panic(invalid("new_tensor", "%s has %d elements, but the first slice of its depth has %d: rows of a tensor have "+
			"one length", r.name(), n, r.shape[depth]))
	}
	if depth < len(r.shape)-1 {
		for i := range n {
			r.path = append(r.path, i)
			r.copy(v.Index(i))
			r.path = r.path[:depth]
		}
	} else if v.Kind() == reflect.Slice {
		r.take(v.UnsafePointer(), n)
	} else {
		r.take(v.Addr().UnsafePointer(), n)
	}
	runtime.KeepAlive(v)
}

// name of the slice at hand: "value[1][0]".
func (r *rowCopier) name() string {
	name := "value"
	for _, i := range r.path {
		name += fmt.Sprintf("[%d]", i)
	}
	return name
}

func (r *rowCopier) take(from unsafe.Pointer, n int) {
	r.to = r.to[copy(r.to, unsafe.Slice((*byte)(from), n*r.size)):]
}
