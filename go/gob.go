package gotorch

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"tandem.example/gotorch/internal/c"
)

// What GobEncode writes: the version, the element type, flags, the number of dimensions, the sizes, all as varints; then
// the elements, in C order and little-endian.
const (
	gobVersion      = 1
	gobRequiresGrad = 1  // a flag
	mostDimensions  = 64 // that are read
)

// GobEncode writes a dense tensor for encoding/gob: element type, shape, elements, whether it requires a gradient. The
// device, gradients and what autograd recorded are left out.
func (t *Tensor) GobEncode() (data []byte, err error) {
	err = Try(func() {
		native := t.encodable("gob_encode")
		data = binary.AppendVarint([]byte{gobVersion}, int64(t.DType()))
		flags := uint64(0)
		if t.RequiresGrad() {
			flags |= gobRequiresGrad
		}
		data = binary.AppendUvarint(data, flags)
		data = binary.AppendUvarint(data, uint64(t.Dim()))
		for _, n := range t.Shape() {
			data = binary.AppendUvarint(data, uint64(n))
		}
		header, bytes := len(data), t.NBytes()
		data = append(make([]byte, 0, header+bytes), data...)[:header+bytes]
		if bytes > 0 {
			err := c.CopyTo(native, unsafe.Pointer(&data[header]), bytes)
			runtime.KeepAlive(t)
			must(err)
		}
	})
	return data, err
}

// encodable refuses tensors without plain elements.
func (t *Tensor) encodable(op string) c.Tensor {
	native := t.handle(op)
	if layout := t.Layout(); layout != Strided {
		panic(invalid(op, "a tensor of layout %v is not written; make it dense (ToDense), or write its parts", layout))
	}
	if device := t.Device(); device.Kind == MetaDevice {
		panic(invalid(op, "a tensor on %v has no elements to write", device))
	}
	return native
}

// GobDecode reads what GobEncode wrote, onto the CPU. It takes the place of what t was before; inside a [Scope] it
// belongs to that. [ErrDataLoss] for bytes that are not a tensor's; no memory is taken for what they do not hold.
func (t *Tensor) GobDecode(data []byte) error {
	dtype, shape, flags, raw, err := readGob(data)
	if err != nil {
		return &Error{ErrDataLoss, "gob_decode", err.Error()}
	}
	return Try(func() { t.become(raw, dtype, shape, flags&gobRequiresGrad != 0) })
}

func readGob(data []byte) (dtype DType, shape []int, flags uint64, raw []byte, err error) {
	fail := func(format string, arguments ...any) (DType, []int, uint64, []byte, error) {
		return 0, nil, 0, nil, fmt.Errorf(format, arguments...)
	}
	if len(data) == 0 || data[0] != gobVersion {
		return fail("the bytes do not begin with version %d of a tensor", gobVersion)
	}
	data = data[1:]
	number, n := binary.Varint(data)
	dtype = DType(number)
	if n <= 0 || int64(dtype) != number || dtype.Size() == 0 {
		return fail("the element type's number, %d, is unknown", number)
	}
	data = data[n:]
	next := func() (value uint64, ok bool) {
		value, n := binary.Uvarint(data)
		if n <= 0 {
			return 0, false
		}
		data = data[n:]
		return value, true
	}
	flags, ok := next()
	if !ok || flags&^gobRequiresGrad != 0 {
		return fail("the flags are %#x, which has unknown ones", flags)
	}
	dims, ok := next()
	if !ok || dims > mostDimensions {
		return fail("%d dimensions; at most %d are read", dims, mostDimensions)
	}
	shape = make([]int, dims)
	for i := range shape {
		size, ok := next()
		if shape[i] = int(size); !ok || shape[i] < 0 {
			return fail("the bytes end within the shape, or its size %d is out of range", size)
		}
	}
	elements, err := checkedCount(shape)
	if err != nil {
		return fail("%v", err)
	}
	if len(data)%dtype.Size() != 0 || len(data)/dtype.Size() != elements {
		return fail("%d bytes are left for a tensor of shape %v and type %v, which has %d elements of %d", len(data), shape,
			dtype, elements, dtype.Size())
	}
	if flags&gobRequiresGrad != 0 && !dtype.IsFloat() && !dtype.IsComplex() {
		return fail("a tensor of type %v cannot require a gradient", dtype)
	}
	if dtype == Bool {
		for _, b := range data {
			if b > 1 {
				return fail("a bool is %d, not 0 or 1", b)
			}
		}
	}
	return dtype, shape, flags, data, nil
}

// become gives t new elements, a shape and a type; what it was is closed.
func (t *Tensor) become(raw []byte, dtype DType, shape []int, requiresGrad bool) {
	made, err := c.FromData(unsafe.Pointer(unsafe.SliceData(raw)), len(raw), int32(dtype), shape)
	must(err)
	t.replace(made)
	if requiresGrad {
		t.SetRequiresGrad(true)
	}
}

// replace closes what t refers to and takes a new handle.
func (t *Tensor) replace(m c.Made) {
	t.Close()
	t.native, t.scope, t.guarded = m.Handle, m.Scope, nil
	if m.Scope == 0 {
		t.guard(m.Bytes)
	}
}
