package gotorch

import (
	"math"
	"strconv"
)

// F16 is an element of a [Float16] tensor: IEEE 754's binary16, by its bits. Go has no arithmetic for it; convert.
type F16 uint16

// BF16 is an element of a [BFloat16] tensor: the upper half of a float32, by its bits.
type BF16 uint16

// ToF16 rounds to the nearest, ties to even; what is too large becomes an infinity, and every NaN the same one.
func ToF16(x float32) F16 {
	bits := math.Float32bits(x)
	sign, magnitude := F16(bits>>16&0x8000), bits&0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN
		return sign | 0x7e00
	case magnitude >= 0x477ff000: // rounds to 2¹⁶ or more
		return sign | 0x7c00
	case magnitude < 0x38800000: // subnormal: units of 2⁻²⁴, which float64 holds and rounds exactly
		return sign | F16(math.RoundToEven(math.Abs(float64(x))*(1<<24)))
	}
	// Drop 13 bits of the fraction; a carry goes on into the exponent, which is right.
	magnitude += 0xfff + magnitude>>13&1
	return sign | F16(magnitude>>13-(127-15)<<10)
}

// Float32 is the number, exactly.
func (h F16) Float32() float32 {
	sign, exponent, fraction := uint32(h)>>15<<31, uint32(h)>>10&0x1f, uint32(h)&0x3ff
	switch exponent {
	case 0:
		x := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(x) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// String is the number, such as "1.5".
func (h F16) String() string { return strconv.FormatFloat(float64(h.Float32()), 'g', -1, 32) }

// ToBF16 rounds to the nearest, ties to even; every NaN becomes the same one.
func ToBF16(x float32) BF16 {
	if x != x {
		return 0x7fc0
	}
	bits := math.Float32bits(x)
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 is the number, exactly.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// String is the number, such as "1.5".
func (b BF16) String() string { return strconv.FormatFloat(float64(b.Float32()), 'g', -1, 32) }
