package tensorprint

import (
	"math"
	"strconv"
	"strings"
)

// Cells are the texts of elements, all of a width where that is possible.
type Cells struct {
	width int
	text  func(i int) string
}

// Texts are elements that are text already: integers and bools.
func Texts(texts []string) Cells {
	width := 1
	for _, text := range texts {
		width = max(width, len(text))
	}
	return Cells{width, func(i int) string { return pad(texts[i], width) }}
}

// Floats are real numbers.
func Floats(values []float64, o Options) Cells {
	f := formatOf(values, o)
	return Cells{f.width, func(i int) string { return f.text(values[i]) }}
}

// Complexes are complex numbers, whose two parts have formats of their own.
func Complexes(values []complex128, o Options) Cells {
	re, im := make([]float64, len(values)), make([]float64, len(values))
	for i, z := range values {
		re[i], im[i] = real(z), imag(z)
	}
	first, second := formatOf(re, o), formatOf(im, o)
	return Cells{first.width + second.width + 1, func(i int) string {
		imaginary := strings.TrimLeft(second.text(im[i]), " ") + "j"
		if imaginary[0] != '-' {
			imaginary = "+" + imaginary
		}
		return first.text(re[i]) + imaginary
	}}
}

func pad(text string, width int) string { return strings.Repeat(" ", max(0, width-len(text))) + text }

// format of real numbers, one for all of a tensor.
type format struct {
	width     int
	precision int
	whole     bool // all are whole numbers, which end in a point
	sci       bool
}

func formatOf(values []float64, o Options) format {
	f := format{width: 1, precision: o.Precision, whole: true}
	least, most := math.Inf(1), 0.0
	for _, x := range values {
		if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
			continue
		}
		least, most = min(least, math.Abs(x)), max(most, math.Abs(x))
		f.whole = f.whole && x == math.Ceil(x)
	}
	if most == 0 {
		return f
	}
	switch o.SciMode {
	case SciAuto:
		f.sci = most/least > 1000 || most > 1e8 || least < 1e-4
	case SciOn:
		f.sci = true
	}
	// Zeros, infinities and NaN do not count: they are printed wider than the others, or narrower.
	for _, x := range values {
		if x != 0 && !math.IsInf(x, 0) && !math.IsNaN(x) {
			f.width = max(f.width, len(f.bare(x)))
		}
	}
	return f
}

func (f format) text(x float64) string { return pad(f.bare(x), f.width) }

func (f format) bare(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case f.sci:
		return strconv.FormatFloat(x, 'e', f.precision, 64)
	case f.whole:
		return strconv.FormatFloat(x, 'f', 0, 64) + "."
	}
	return strconv.FormatFloat(x, 'f', f.precision, 64)
}
