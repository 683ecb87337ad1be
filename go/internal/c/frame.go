package c

// #include "shim.h"
import "C"
import (
	"encoding/binary"
	"math"
	"sync"
	"unsafe"
)

// Frame collects the arguments of one call of an operator or module, or options with their names. Lists and strings
// lie in its pool, so that what crosses to C is two blocks without addresses of Go memory. A frame is got by NewFrame
// and goes back with Release; calls that take one release it.
type Frame struct {
	values []C.tdm_value
	names  []C.int64_t // of options: offsets in the pool
	pool   []byte
	kept   []unsafe.Pointer
	after  []func() // called with the release
}

var frames = sync.Pool{New: func() any {
	return &Frame{values: make([]C.tdm_value, 0, 16), pool: make([]byte, 0, 256), kept: make([]unsafe.Pointer, 0, 8)}
}}

func NewFrame() *Frame { return frames.Get().(*Frame) }

// Release gives the frame back, once.
func (f *Frame) Release() {
	f.values, f.names, f.pool = f.values[:0], f.names[:0], f.pool[:0]
	if len(f.kept) > 0 {
		clear(f.kept)
		f.kept = f.kept[:0]
	}
	for _, call := range f.after {
		call()
	}
	clear(f.after)
	f.after = f.after[:0]
	frames.Put(f)
}

// After has call called when the frame is released.
func (f *Frame) After(call func()) { f.after = append(f.after, call) }

// Keep has the object at p live, and so the handle that it owns, until the frame is released.
func (f *Frame) Keep(p unsafe.Pointer) { f.kept = append(f.kept, p) }

// Name is the name of the option whose value is added next.
func (f *Frame) Name(name string) {
	f.names = append(f.names, C.int64_t(len(f.pool)))
	f.pool = append(append(f.pool, name...), 0)
}

func (f *Frame) add(tag C.tdm_value_tag) unsafe.Pointer {
	f.values = append(f.values, C.tdm_value{tag: tag})
	return unsafe.Pointer(&f.values[len(f.values)-1].as)
}

func (f *Frame) None()    { f.add(C.TDM_VALUE_NONE) }
func (f *Frame) Default() { f.add(C.TDM_VALUE_DEFAULT) }

// Tensor adds a tensor, None for the zero handle.
func (f *Frame) Tensor(h Tensor) {
	if h == nil {
		f.None()
		return
	}
	*(*uintptr)(f.add(C.TDM_VALUE_TENSOR)) = uintptr(unsafe.Pointer(h))
}

func (f *Frame) Bool(b bool)       { *(*C.int32_t)(f.add(C.TDM_VALUE_BOOL)) = boolean(b) }
func (f *Frame) Int(n int64)       { *(*int64)(f.add(C.TDM_VALUE_INT)) = n }
func (f *Frame) Double(x float64)  { *(*float64)(f.add(C.TDM_VALUE_DOUBLE)) = x }
func (f *Frame) DType(dtype int32) { *(*int32)(f.add(C.TDM_VALUE_DTYPE)) = dtype }
func (f *Frame) Layout(n int32)    { *(*int32)(f.add(C.TDM_VALUE_LAYOUT)) = n }
func (f *Frame) MemoryFormat(n int32) {
	*(*int32)(f.add(C.TDM_VALUE_MEMORY_FORMAT)) = n
}

func (f *Frame) Complex(x complex128) {
	*(*[2]float64)(f.add(C.TDM_VALUE_COMPLEX)) = [2]float64{real(x), imag(x)}
}

func (f *Frame) Device(kind, index int32) {
	*(*[2]int32)(f.add(C.TDM_VALUE_DEVICE)) = [2]int32{kind, index}
}

// Generator adds a generator, None for the zero handle.
func (f *Frame) Generator(g Generator) {
	if g == nil {
		f.None()
		return
	}
	*(*uintptr)(f.add(C.TDM_VALUE_GENERATOR)) = uintptr(unsafe.Pointer(g))
}

// RRef adds a reference, None for the zero handle.
func (f *Frame) RRef(r RRef) {
	if r == nil {
		f.None()
		return
	}
	*(*uintptr)(f.add(C.TDM_VALUE_RREF)) = uintptr(unsafe.Pointer(r))
}

// block is a {address or offset, count} member of the union.
type block struct{ offset, size uintptr }

func (f *Frame) String(s string) {
	offset := len(f.pool)
	f.pool = append(append(f.pool, s...), 0)
	*(*block)(f.add(C.TDM_VALUE_STRING)) = block{uintptr(offset), uintptr(len(s))}
}

// align pads the pool so that a list of 8-byte numbers can follow. The pool itself is 16-byte aligned, as every
// block of its size is.
func (f *Frame) align() uintptr {
	for len(f.pool)%8 != 0 {
		f.pool = append(f.pool, 0)
	}
	return uintptr(len(f.pool))
}

func (f *Frame) word(n uint64) { f.pool = binary.NativeEndian.AppendUint64(f.pool, n) }

func (f *Frame) Tensors(list []Tensor) {
	offset := f.align()
	for _, h := range list {
		f.word(uint64(uintptr(unsafe.Pointer(h))))
	}
	*(*block)(f.add(C.TDM_VALUE_TENSOR_LIST)) = block{offset, uintptr(len(list))}
}

func (f *Frame) Ints(list []int) {
	offset := f.align()
	for _, n := range list {
		f.word(uint64(n))
	}
	*(*block)(f.add(C.TDM_VALUE_INT_LIST)) = block{offset, uintptr(len(list))}
}

func (f *Frame) Doubles(list []float64) {
	offset := f.align()
	for _, x := range list {
		f.word(math.Float64bits(x))
	}
	*(*block)(f.add(C.TDM_VALUE_DOUBLE_LIST)) = block{offset, uintptr(len(list))}
}

func (f *Frame) Bools(list []bool) {
	offset := f.align()
	for _, b := range list {
		f.pool = append(f.pool, byte(boolean(b)))
	}
	*(*block)(f.add(C.TDM_VALUE_BOOL_LIST)) = block{offset, uintptr(len(list))}
}

// Scalars makes one list of the values that fill adds, which must be numbers.
func (f *Frame) Scalars(fill func()) { f.list(C.TDM_VALUE_SCALAR_LIST, fill) }

// Tuple makes one value of those that fill adds.
func (f *Frame) Tuple(fill func()) { f.list(C.TDM_VALUE_TUPLE, fill) }

// List makes one value of those that fill adds: Python's list, which only files of torch.save tell from a tuple.
func (f *Frame) List(fill func()) { f.list(C.TDM_VALUE_LIST, fill) }

// Dict makes one value of the keys and values that fill adds in turn.
func (f *Frame) Dict(fill func()) { f.list(C.TDM_VALUE_DICT, fill) }

func (f *Frame) list(tag C.tdm_value_tag, fill func()) {
	start := len(f.values)
	fill()
	elements := f.values[start:]
	offset := f.align()
	if len(elements) > 0 {
		size := len(elements) * int(unsafe.Sizeof(elements[0]))
		f.pool = append(f.pool, unsafe.Slice((*byte)(unsafe.Pointer(&elements[0])), size)...)
	}
	count := len(elements)
	f.values = f.values[:start]
	*(*block)(f.add(tag)) = block{offset, uintptr(count)}
}

func (f *Frame) Strings(list []string) {
	offsets := make([]uint64, len(list))
	for i, s := range list {
		offsets[i] = uint64(len(f.pool))
		f.pool = append(append(f.pool, s...), 0)
	}
	offset := f.align()
	for _, at := range offsets {
		f.word(at)
	}
	*(*block)(f.add(C.TDM_VALUE_STRING_LIST)) = block{offset, uintptr(len(list))}
}

func (f *Frame) arguments() (*C.tdm_value, C.size_t, *C.char) {
	if len(f.pool) == 0 {
		f.pool = append(f.pool, 0)
	}
	pool := (*C.char)(unsafe.Pointer(&f.pool[0]))
	if len(f.values) == 0 {
		return nil, 0, pool
	}
	return &f.values[0], C.size_t(len(f.values)), pool
}

func (f *Frame) optionNames() *C.int64_t {
	if len(f.names) == 0 {
		return nil
	}
	return &f.names[0]
}
