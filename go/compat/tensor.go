package gotorch

import (
	"fmt"
	"log"
	"unsafe"

	core "tandem.example/gotorch"
	"tandem.example/gotorch/compat/internal/panics"
)

// Tensor refers to a tensor. The zero Tensor is none, as an optional weight or bias may be. Methods panic with a string
// on it, on shapes that do not fit, and on whatever else fails.
type Tensor struct {
	// T is nil for none. It leads to a *gotorch.Tensor of Tandem, nil where a gradient is not there: see Unwrap.
	T *unsafe.Pointer
}

// Wrap makes a Tensor of Tandem's; both are the same tensor.
func Wrap(t *core.Tensor) Tensor {
	p := unsafe.Pointer(t)
	return Tensor{&p}
}

// Unwrap is Tandem's tensor, nil for none.
func (a Tensor) Unwrap() *core.Tensor {
	if a.T == nil {
		return nil
	}
	return (*core.Tensor)(*a.T)
}

// made wraps what op computes.
func made(op func() *core.Tensor) Tensor {
	defer panics.AsText()
	return Wrap(op())
}

// unwrap is Unwrap for what op cannot do without.
func (a Tensor) unwrap(op string) *core.Tensor {
	t := a.Unwrap()
	if t == nil {
		panic(fmt.Sprintf("%s: the tensor is not defined; it is the zero Tensor, or a gradient before Backward", op))
	}
	return t
}

// ints are dimensions and sizes as Tandem has them.
func ints(values []int64) []int {
	list := make([]int, len(values))
	for i, v := range values {
		list[i] = int(v)
	}
	return list
}

// Detach is the same elements without what autograd recorded.
func (a *Tensor) Detach() Tensor {
	return made(func() *core.Tensor { return a.unwrap("Detach").Detach() })
}

// Print prints the tensor to the standard output.
func (a Tensor) Print() { fmt.Println(a.String()) }

// Save writes the tensor to a file of Python's torch.save.
func (a Tensor) Save(path string) { panics.Must(core.SavePt(path, a.unwrap("Save"))) }

// Load reads a tensor from a file of [Tensor.Save], or of Python's torch.save.
func Load(path string) Tensor {
	value, err := core.LoadPt(path, core.PtOptions{Copy: true})
	panics.Must(err)
	t, ok := value.(*core.Tensor)
	if !ok {
		panic(fmt.Sprintf("Load: %s holds a %T and not a tensor", path, value))
	}
	return Wrap(t)
}

// Dim is the number of dimensions.
func (a Tensor) Dim() int64 {
	defer panics.AsText()
	return int64(a.unwrap("Dim").Dim())
}

// Shape has the size of each dimension.
func (a Tensor) Shape() []int64 {
	defer panics.AsText()
	shape := a.unwrap("Shape").Shape()
	sizes := make([]int64, len(shape))
	for i, n := range shape {
		sizes[i] = int64(n)
	}
	return sizes
}

// Dtype is the type of the elements, such as [Float].
func (a Tensor) Dtype() int8 {
	defer panics.AsText()
	return int8(a.unwrap("Dtype").DType())
}

// Backward adds the tensor's derivatives to the gradients of what it was computed from.
func (a Tensor) Backward() { panics.Must(a.unwrap("Backward").Backward()) }

// Grad is the gradient; its T is never nil, but there is no tensor behind it before Backward.
func (a Tensor) Grad() Tensor { return made(func() *core.Tensor { return a.unwrap("Grad").Grad() }) }

// To is the tensor on the device and, where one is given, with elements of that type; the tensor itself where it is so
// already.
func (a Tensor) To(device Device, dtype ...int8) Tensor {
	return made(func() *core.Tensor {
		t := a.unwrap("To")
		if len(dtype) == 0 {
			return t.ToDevice(device.T)
		}
		return t.ToDeviceDType(device.T, core.DType(dtype[0]))
	})
}

// To is [Tensor.To].
func To(a Tensor, device Device, dtype int8) Tensor { return a.To(device, dtype) }

// CUDA is the tensor on a GPU. It panics where device is none.
func (a Tensor) CUDA(device Device, nonBlocking bool) Tensor {
	return made(func() *core.Tensor {
		if device.T.Kind != core.CUDADevice {
			panic(fmt.Sprintf("CUDA: the device is %v; it must be a CUDA device", device.T))
		}
		t := a.unwrap("CUDA")
		return t.ToDeviceDType(device.T, t.DType(), core.ToDeviceDTypeOptions{NonBlocking: nonBlocking})
	})
}

// CastTo is the tensor with elements of another type.
func (a Tensor) CastTo(dtype int8) Tensor {
	return made(func() *core.Tensor { return a.unwrap("CastTo").To(core.DType(dtype)) })
}

// CopyTo is the tensor on the device.
func (a Tensor) CopyTo(device Device) Tensor {
	return made(func() *core.Tensor { return a.unwrap("CopyTo").ToDevice(device.T) })
}

// PinMemory is the tensor in memory that GPUs read directly; without a GPU the tensor itself.
func (a Tensor) PinMemory() Tensor {
	if !IsCUDAAvailable() {
		return a
	}
	return made(func() *core.Tensor { return a.unwrap("PinMemory").PinMemory() })
}

// SetData gives the tensor b's elements, which both share from then on; gradients and the optimizers that have the tensor
// stay with it.
func (a Tensor) SetData(b Tensor) {
	defer panics.AsText()
	core.Call("aten::set_data", "", a.unwrap("SetData"), b.unwrap("SetData"))
}

// FromBlob copies elements of that type and shape from memory.
func FromBlob(data unsafe.Pointer, dtype int8, sizes []int64) Tensor {
	return made(func() *core.Tensor {
		count := 1
		for _, n := range sizes {
			if n < 0 || n > 0 && count > maxElements/int(n) {
				panic(fmt.Sprintf("FromBlob: the shape %v is out of range", sizes))
			}
			count *= int(n)
		}
		size := core.DType(dtype).Size()
		if size == 0 {
			panic(fmt.Sprintf("FromBlob: %d is no element type; give Float or another of the constants", dtype))
		}
		return core.FromBytes(unsafe.Slice((*byte)(data), count*size), core.DType(dtype)).View(ints(sizes)...)
	})
}

const maxElements = 1 << 58

// Index is the element there, a tensor without dimensions. It takes an index for each dimension.
func (a Tensor) Index(index ...int64) Tensor {
	if n := a.Dim(); int64(len(index)) != n {
		log.Panicf("Index: %v has %d indices, but the tensor has %d dimensions", index, len(index), n)
	}
	return made(func() *core.Tensor {
		at := make([]core.Index, len(index))
		for i, n := range index {
			at[i] = core.At(int(n))
		}
		return a.unwrap("Index").Index(at...)
	})
}
