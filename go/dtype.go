package gotorch

import (
	"fmt"
	"strconv"
	"strings"
)

// DType is the type of a tensor's elements. The numbers are those of tandem.h.
type DType int32

// The element types.
const (
	Uint8        DType = 0
	Int8         DType = 1
	Int16        DType = 2
	Int32        DType = 3
	Int64        DType = 4
	Float16      DType = 5
	Float32      DType = 6
	Float64      DType = 7
	Complex32    DType = 8
	Complex64    DType = 9
	Complex128   DType = 10
	Bool         DType = 11
	BFloat16     DType = 15
	Float8E5M2   DType = 23
	Float8E4M3FN DType = 24
	Uint16       DType = 27
	Uint32       DType = 28
	Uint64       DType = 29
)

var dtypeNames = map[DType]string{Uint8: "uint8", Int8: "int8", Int16: "int16", Int32: "int32", Int64: "int64",
	Float16: "float16", Float32: "float32", Float64: "float64", Complex32: "complex32", Complex64: "complex64",
	Complex128: "complex128", Bool: "bool", BFloat16: "bfloat16", Float8E5M2: "float8_e5m2",
	Float8E4M3FN: "float8_e4m3fn", Uint16: "uint16", Uint32: "uint32", Uint64: "uint64"}

// String is PyTorch's name, such as "float32".
func (d DType) String() string {
	if name, ok := dtypeNames[d]; ok {
		return name
	}
	return fmt.Sprintf("dtype(%d)", int32(d))
}

// Size of an element in bytes; 0 for what is no element type.
func (d DType) Size() int {
	switch d {
	case Uint8, Int8, Bool, Float8E5M2, Float8E4M3FN:
		return 1
	case Int16, Uint16, Float16, BFloat16:
		return 2
	case Int32, Uint32, Float32, Complex32:
		return 4
	case Int64, Uint64, Float64, Complex64:
		return 8
	case Complex128:
		return 16
	}
	return 0
}

// Element is the set of Go types that tensors are made from and read into.
type Element interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128 | bool | uint16 | uint32 |
		uint64 | int | F16 | BF16
}

// DTypeOf is the element type that holds a T: Int64 for int.
func DTypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case uint8:
		return Uint8
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64, int:
		return Int64
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	case complex128:
		return Complex128
	case bool:
		return Bool
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case F16:
		return Float16
	case BF16:
		return BFloat16
	}
	return Uint64
}

// DeviceKind is a kind of device. The numbers are those of tandem.h.
type DeviceKind int32

// The kinds of devices.
const (
	CPUDevice  DeviceKind = 0
	CUDADevice DeviceKind = 1
	MetaDevice DeviceKind = 14
	// An accelerator that is not LibTorch's own, but of a library that [LoadLibrary] has loaded.
	PrivateUse1Device DeviceKind = 20
)

// Device is where a tensor's elements lie. Index -1 is the current device of its kind.
type Device struct {
	Kind  DeviceKind
	Index int
}

// CPU is the main memory.
var CPU = Device{CPUDevice, -1}

// CUDA is the GPU of that number.
func CUDA(index int) Device { return Device{CUDADevice, index} }

// String is PyTorch's name, such as "cuda:0".
func (d Device) String() string {
	name := map[DeviceKind]string{CPUDevice: "cpu", CUDADevice: "cuda", MetaDevice: "meta", PrivateUse1Device: "privateuseone"}[d.Kind]
	if name == "" {
		name = fmt.Sprintf("device(%d)", int32(d.Kind))
	}
	if d.Index >= 0 && d.Kind != CPUDevice {
		name += ":" + strconv.Itoa(d.Index)
	}
	return name
}

// ParseDevice reads "cpu", "cuda" or "cuda:1"; "privateuseone:1" is a [PrivateUse1Device].
func ParseDevice(text string) (Device, error) {
	kind, index, numbered := strings.Cut(text, ":")
	device := Device{Index: -1}
	switch kind {
	case "cpu":
	case "cuda":
		device.Kind = CUDADevice
	case "meta":
		device.Kind = MetaDevice
	case "privateuseone":
		device.Kind = PrivateUse1Device
	default:
		return device, invalid("device", "%q is no device; use cpu, cuda or cuda:N", text)
	}
	if numbered {
		n, err := strconv.Atoi(index)
		if err != nil || n < 0 {
			return device, invalid("device", "%q is no device; use cpu, cuda or cuda:N", text)
		}
		device.Index = n
	}
	return device, nil
}

// IsFloat tells whether the elements are real floating-point numbers.
func (d DType) IsFloat() bool {
	switch d {
	case Float16, Float32, Float64, BFloat16, Float8E5M2, Float8E4M3FN:
		return true
	}
	return false
}

// IsComplex tells whether the elements are complex numbers.
func (d DType) IsComplex() bool { return d == Complex32 || d == Complex64 || d == Complex128 }
