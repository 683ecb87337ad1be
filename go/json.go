package gotorch

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// JSON of a tensor is {"dtype":"float32","shape":[2,2],"data":[[1,2],[3,4]]}, with "requires_grad":true where that is
// so. Elements are nested as deep as the tensor has dimensions; those that JSON has no numbers for are the strings
// "NaN", "Infinity" and "-Infinity", and complex ones are [re, im]. Numbers are exact: the shortest decimals that are
// read back as the same.

// MarshalJSON writes a dense tensor, from any device. gob and safetensors files ([Save]) are smaller and faster.
func (t *Tensor) MarshalJSON() (text []byte, err error) {
	err = Try(func() {
		t.encodable("marshal_json")
		dtype, shape := t.DType(), t.Shape()
		text = fmt.Appendf(nil, `{"dtype":"%v","shape":[`, dtype)
		for i, n := range shape {
			if i > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(text, int64(n), 10)
		}
		text = append(text, `],"data":`...)
		Scope(func() {
			NoGrad(func() {
				carrier := carrierOf(dtype)
				w := jsonWriter{text: text, raw: t.Detach().To(carrier).Bytes(), carrier: carrier}
				w.nested(shape)
				text = w.text
			})
		})
		if t.RequiresGrad() {
			text = append(text, `,"requires_grad":true`...)
		}
		text = append(text, '}')
	})
	return text, err
}

// carrierOf the elements of a type on their way to and from text: the type itself, or one that holds all its numbers.
func carrierOf(dtype DType) DType {
	switch dtype {
	case Float16, BFloat16, Float8E5M2, Float8E4M3FN:
		return Float32
	case Complex32:
		return Complex64
	}
	return dtype
}

type jsonWriter struct {
	text    []byte
	raw     []byte
	carrier DType
}

func (w *jsonWriter) nested(shape []int) {
	if len(shape) == 0 {
		w.element()
		return
	}
	w.text = append(w.text, '[')
	for i := range shape[0] {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.nested(shape[1:])
	}
	w.text = append(w.text, ']')
}

func (w *jsonWriter) element() {
	raw, size := w.raw, w.carrier.Size()
	w.raw = raw[size:]
	switch w.carrier {
	case Bool:
		w.text = strconv.AppendBool(w.text, raw[0] != 0)
	case Float32:
		w.float(single(raw), 32)
	case Float64:
		w.float(double(raw), 64)
	case Complex64:
		w.pair(single(raw), single(raw[4:]), 32)
	case Complex128:
		w.pair(double(raw), double(raw[8:]), 64)
	case Uint8, Uint16, Uint32, Uint64:
		w.text = strconv.AppendUint(w.text, unsignedOf(raw, size), 10)
	default:
		shift := 64 - 8*size
		w.text = strconv.AppendInt(w.text, int64(unsignedOf(raw, size)<<shift)>>shift, 10)
	}
}

func unsignedOf(raw []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(raw[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(raw))
	case 4:
		return uint64(binary.NativeEndian.Uint32(raw))
	}
	return binary.NativeEndian.Uint64(raw)
}

func (w *jsonWriter) float(x float64, bits int) {
	switch {
	case math.IsNaN(x):
		w.text = append(w.text, `"NaN"`...)
	case math.IsInf(x, 1):
		w.text = append(w.text, `"Infinity"`...)
	case math.IsInf(x, -1):
		w.text = append(w.text, `"-Infinity"`...)
	default:
		w.text = strconv.AppendFloat(w.text, x, 'g', -1, bits)
	}
}

func (w *jsonWriter) pair(re, im float64, bits int) {
	w.text = append(w.text, '[')
	w.float(re, bits)
	w.text = append(w.text, ',')
	w.float(im, bits)
	w.text = append(w.text, ']')
}
