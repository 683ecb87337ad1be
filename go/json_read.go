package gotorch

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// UnmarshalJSON reads what MarshalJSON wrote, onto the CPU, or bare nested arrays such as [[1,2],[3,4]], whose element
// type is Bool, Int64, or Float32 where a number has a point or an exponent. It takes the place of what t was before;
// inside a [Scope] it belongs to that. [ErrInvalidArgument] for what is no tensor: rows of different lengths, numbers
// that the element type does not hold, data that has another shape than "shape" says.
func (t *Tensor) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	if string(text) == "null" {
		return nil
	}
	var given struct {
		DType        *DType          `json:"dtype"`
		Shape        *[]int          `json:"shape"`
		Data         json.RawMessage `json:"data"`
		RequiresGrad bool            `json:"requires_grad"`
	}
	given.Data = text
	if len(text) > 0 && text[0] == '{' {
		given.Data = nil
		if err := json.Unmarshal(text, &given); err != nil {
			return invalid("unmarshal_json", "%v", err)
		}
		if given.Data == nil {
			return invalid("unmarshal_json", `the object has no "data"; a tensor is {"dtype":…,"shape":…,"data":…}`)
		}
	}
	dtype, err := Bool, error(nil)
	if given.DType != nil {
		dtype = *given.DType
	} else if dtype, err = inferDType(given.Data); err != nil {
		return invalid("unmarshal_json", "%v", err)
	}
	r := jsonReader{tokens: tokensOf(given.Data), dtype: dtype, carrier: carrierOf(dtype)}
	shape, err := r.read()
	if err == nil && given.Shape != nil {
		err = checkShape(*given.Shape, shape)
		shape = *given.Shape
	}
	if err == nil && given.RequiresGrad && !dtype.IsFloat() && !dtype.IsComplex() {
		err = fmt.Errorf("a tensor of type %v cannot require a gradient", dtype)
	}
	if err != nil {
		return invalid("unmarshal_json", "%v", err)
	}
	return Try(func() {
		if r.carrier == dtype {
			t.become(r.raw, dtype, shape, given.RequiresGrad)
			return
		}
		var raw []byte
		Scope(func() { raw = FromBytes(r.raw, r.carrier, shape...).To(dtype).Bytes() })
		t.become(raw, dtype, shape, given.RequiresGrad)
	})
}

func tokensOf(text []byte) *json.Decoder {
	tokens := json.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	return tokens
}

// inferDType of bare arrays.
func inferDType(text []byte) (DType, error) {
	tokens := tokensOf(text)
	var bools, numbers, floats bool
	for {
		token, err := tokens.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			return 0, err
		}
		switch token := token.(type) {
		case bool:
			bools = true
		case json.Number:
			numbers = true
			floats = floats || bytes.ContainsAny([]byte(token), ".eE")
		case string:
			floats = true
		}
	}
	switch {
	case bools && (numbers || floats):
		return 0, fmt.Errorf("bools stand beside numbers")
	case bools:
		return Bool, nil
	case floats || !numbers:
		return Float32, nil
	}
	return Int64, nil
}

// checkShape of the data against the one that was told: below a dimension of size 0 the data has none.
func checkShape(told, found []int) error {
	if _, err := checkedCount(told); err != nil {
		return err
	}
	if len(told) > mostDimensions {
		return fmt.Errorf("%d dimensions; at most %d are read", len(told), mostDimensions)
	}
	if empty := slices.Index(found, 0); !slices.Equal(told, found) &&
		(empty < 0 || len(told) < len(found) || !slices.Equal(told[:len(found)], found)) {
		return fmt.Errorf("the data has shape %v, not %v", found, told)
	}
	return nil
}

// jsonReader reads nested arrays into the bytes of their elements. What it takes grows with what it reads.
type jsonReader struct {
	tokens  *json.Decoder
	dtype   DType
	carrier DType
	raw     []byte
	shape   []int // -1: not known yet
	leaf    int   // the depth of elements; -1: not known yet
}

func (r *jsonReader) read() (shape []int, err error) {
	r.leaf = -1
	if err := r.nested(0); err != nil {
		return nil, err
	}
	if _, err := r.tokens.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the elements")
	}
	if r.carrier.IsComplex() && !slices.Contains(r.shape, 0) {
		if len(r.shape) == 0 || r.shape[len(r.shape)-1] != 2 {
			return nil, fmt.Errorf("a complex number is written [re, im]")
		}
		return r.shape[:len(r.shape)-1], nil
	}
	return r.shape, nil
}

func (r *jsonReader) nested(depth int) error {
	token, err := r.tokens.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('[') {
		if r.leaf < 0 {
			r.leaf = depth
		}
		if r.leaf != depth || len(r.shape) > depth {
			return fmt.Errorf("%v stands where there are arrays elsewhere", token)
		}
		return r.element(token)
	}
	if r.leaf >= 0 && depth >= r.leaf {
		return fmt.Errorf("an array stands where there are numbers elsewhere")
	}
	if depth > mostDimensions {
		return fmt.Errorf("arrays are nested more than %d deep", mostDimensions)
	}
	if len(r.shape) == depth {
		r.shape = append(r.shape, -1)
	}
	n := 0
	for ; r.tokens.More(); n++ {
		if err := r.nested(depth + 1); err != nil {
			return err
		}
	}
	if _, err := r.tokens.Token(); err != nil {
		return err
	}
	if r.shape[depth] < 0 {
		r.shape[depth] = n
	}
	if r.shape[depth] != n {
		return fmt.Errorf("an array has %d elements, but the first of its depth has %d", n, r.shape[depth])
	}
	return nil
}

func (r *jsonReader) element(token json.Token) error {
	text := ""
	switch token := token.(type) {
	case json.Number:
		text = token.String()
	case bool:
		if r.carrier != Bool {
			return fmt.Errorf("%v is no %v", token, r.dtype)
		}
		r.raw = append(r.raw, 0)
		if token {
			r.raw[len(r.raw)-1] = 1
		}
		return nil
	case string:
		switch token {
		case "NaN", "Infinity", "-Infinity":
			text = token
		default:
			return fmt.Errorf("the text %q is no number; there are \"NaN\", \"Infinity\" and \"-Infinity\"", token)
		}
	default:
		return fmt.Errorf("%v is no number", token)
	}
	var err error
	bits := 8 * r.carrier.Size()
	switch r.carrier {
	case Bool:
		return fmt.Errorf("%s is no bool", text)
	case Float32, Complex64:
		var x float64
		x, err = strconv.ParseFloat(text, 32)
		if largest, ok := largestOf[r.dtype]; ok && math.Abs(x) > largest && !math.IsInf(x, 0) {
			err = strconv.ErrRange
		}
		r.raw = binary.NativeEndian.AppendUint32(r.raw, math.Float32bits(float32(x)))
	case Float64, Complex128:
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		r.raw = binary.NativeEndian.AppendUint64(r.raw, math.Float64bits(x))
	case Uint8, Uint16, Uint32, Uint64:
		var x uint64
		x, err = strconv.ParseUint(text, 10, bits)
		r.raw = appendInteger(r.raw, x, bits)
	default:
		var x int64
		x, err = strconv.ParseInt(text, 10, bits)
		r.raw = appendInteger(r.raw, uint64(x), bits)
	}
	if err != nil {
		return fmt.Errorf("%s is no %v", text, r.dtype)
	}
	return nil
}

// largestOf the numbers of types that are read as wider ones.
var largestOf = map[DType]float64{Float16: 65504, BFloat16: 0x1.fep127, Float8E5M2: 57344, Float8E4M3FN: 448, Complex32: 65504}

func appendInteger(raw []byte, x uint64, bits int) []byte {
	switch bits {
	case 8:
		return append(raw, byte(x))
	case 16:
		return binary.NativeEndian.AppendUint16(raw, uint16(x))
	case 32:
		return binary.NativeEndian.AppendUint32(raw, uint32(x))
	}
	return binary.NativeEndian.AppendUint64(raw, x)
}
