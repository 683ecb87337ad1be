package gotorch

import (
	"log"
	"reflect"

	core "tandem.example/gotorch"
	"tandem.example/gotorch/compat/variadic"
)

// The types of elements, by LibTorch's numbers. There are no tensors of the quantized ones (QInt8 and so on) here.
const (
	Byte          int8 = iota // uint8
	Char                      // int8
	Short                     // int16
	Int                       // int32
	Long                      // int64
	Half                      // float16
	Float                     // float32
	Double                    // float64
	ComplexHalf               // two of float16
	ComplexFloat              // two of float32
	ComplexDouble             // two of float64
	Bool
	QInt8
	QUInt8
	QInt32
	BFloat16
	Invalid = -1 // no type
)

// kinds are the Go types that slices may be of, with the elements that they become.
var kinds = map[reflect.Kind]int8{reflect.Bool: Bool, reflect.Uint8: Byte, reflect.Int8: Char, reflect.Int16: Short,
	reflect.Int32: Int, reflect.Int64: Long, reflect.Uint16: Half, reflect.Float32: Float, reflect.Float64: Double}

// NewTensor copies a slice, or slices of slices, of bool, uint8, int8, int16, int32, int64, uint16 (the bits of a Half),
// float32 or float64. The option "dtype" gives the elements' bytes another type of the same size:
//
//	bits := gotorch.NewTensor([]uint16{0x3f80}, map[string]any{"dtype": gotorch.BFloat16})
func NewTensor(data any, options ...map[string]any) Tensor {
	t := reflect.TypeOf(data)
	if t == nil || t.Kind() != reflect.Slice {
		log.Panicf("NewTensor: data is a %T; give a slice", data)
	}
	for t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	dtype, ok := kinds[t.Kind()]
	if !ok {
		log.Panicf("NewTensor: elements cannot be of kind %v; give bool, uint8, int8, int16, int32, int64, uint16, float32 or "+
			"float64", t.Kind())
	}
	if asked, ok := variadic.Lookup(options, "dtype"); ok {
		if have, want := core.DType(dtype).Size(), core.DType(asked.(int8)).Size(); have != want {
			log.Panicf("NewTensor: dtype %d has elements of %d bytes, and %v of %d", asked, want, t.Kind(), have)
		}
		dtype = asked.(int8)
	}
	return made(func() *core.Tensor {
		copied := core.NewTensor(data)
		if copied.DType() == core.DType(dtype) {
			return copied
		}
		defer copied.Close()
		return core.FromBytes(copied.Bytes(), core.DType(dtype)).View(copied.Shape()...)
	})
}
