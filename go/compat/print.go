package gotorch

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	core "tandem.example/gotorch"
)

// lineWidth is how many columns a line of a matrix may have.
const lineWidth = 80

// String prints the tensor as LibTorch of 2020 does in C++: rows of numbers in equal columns, of more than two dimensions
// matrix by matrix, and a last line such as "[ CPUFloatType{2,3} ]".
func (a Tensor) String() (text string) {
	t := a.Unwrap()
	if t == nil {
		return "[ Tensor (undefined) ]"
	}
	err := core.Try(func() {
		core.Scope(func() {
			core.NoGrad(func() {
				p := &printer{shape: t.Shape(), precision: 6}
				p.values = core.ToSlice[float64](t.Detach().ToDeviceDType(core.CPU, core.Float64))
				text = p.print() + "[ " + typeName(t) + "{" + sizes(p.shape) + "} ]"
			})
		})
	})
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return text
}

var elementNames = map[int8]string{Byte: "Byte", Char: "Char", Short: "Short", Int: "Int", Long: "Long", Half: "Half",
	Float: "Float", Double: "Double", ComplexHalf: "ComplexHalf", ComplexFloat: "ComplexFloat",
	ComplexDouble: "ComplexDouble", Bool: "Bool", BFloat16: "BFloat16"}

// typeName is "CPUFloatType".
func typeName(t *core.Tensor) string {
	name, ok := elementNames[int8(t.DType())]
	if !ok {
		name = t.DType().String()
	}
	kind, _, _ := strings.Cut(t.Device().String(), ":")
	return strings.ToUpper(kind) + name + "Type"
}

func sizes(shape []int) string {
	texts := make([]string, len(shape))
	for i, n := range shape {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// printer writes numbers as a C++ stream does, whose precision stays from one matrix to the next.
type printer struct {
	text      strings.Builder
	shape     []int
	values    []float64
	precision int // of numbers that are neither fixed nor scientific
}

func (p *printer) print() string {
	switch n := len(p.values); {
	case n == 0:
	case len(p.shape) == 0:
		p.text.WriteString(p.general(p.values[0]) + "\n")
	case len(p.shape) == 1:
		c := p.columns(p.values)
		p.scale(c)
		for _, v := range p.values {
			p.text.WriteString(p.number(c, v) + "\n")
		}
	case len(p.shape) == 2:
		p.matrix(p.values, p.shape[0], p.shape[1], "")
	default:
		p.matrices()
	}
	return p.text.String()
}

// matrices are numbered from one, with the first dimension counting fastest.
func (p *printer) matrices() {
	outer := p.shape[:len(p.shape)-2]
	rows, width := p.shape[len(p.shape)-2], p.shape[len(p.shape)-1]
	size := rows * width
	at := make([]int, len(outer))
	for range len(p.values) / size {
		offset := 0
		if p.text.Len() > 0 {
			p.text.WriteByte('\n')
		}
		p.text.WriteByte('(')
		for i, n := range at {
			offset = offset*outer[i] + n
			p.text.WriteString(strconv.Itoa(n+1) + ",")
		}
		p.text.WriteString(".,.) = \n")
		p.matrix(p.values[offset*size:][:size], rows, width, " ")
		for i := range at {
			if at[i]++; at[i] < outer[i] {
				break
			}
			at[i] = 0
		}
	}
}

// matrix writes as many columns below each other as a line has room for, then the next ones.
func (p *printer) matrix(values []float64, rows, width int, indent string) {
	c := p.columns(values)
	perLine := max(1, (lineWidth-len(indent))/(c.width+1))
	p.text.WriteString(indent)
	for first := 0; first < width; first += perLine {
		last := min(first+perLine, width)
		if perLine < width {
			if first > 0 {
				p.text.WriteByte('\n')
			}
			fmt.Fprintf(&p.text, "Columns %d to %d%s", first+1, last, indent)
		}
		if p.scale(c) {
			p.text.WriteString(indent)
		}
		for row := range rows {
			if row > 0 {
				p.text.WriteString(indent)
				if c.scale != 1 {
					p.text.WriteByte(' ')
				}
			}
			for i, v := range values[row*width+first : row*width+last] {
				if i > 0 {
					p.text.WriteByte(' ')
				}
				p.text.WriteString(p.number(c, v))
			}
			p.text.WriteByte('\n')
		}
	}
}

// column is how the numbers of a matrix are written.
type column struct {
	verb  byte // of strconv: 'f' and 'e' with four digits, or 'g'
	width int
	scale float64 // that numbers are divided by
}

// columns follows from the least and the largest magnitude. The largest is taken from the first number and from those
// above it: of negative numbers, the first alone counts.
func (p *printer) columns(values []float64) column {
	whole, found := true, false
	least, largest := 0., 0.
	for _, v := range values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		whole = whole && v == math.Ceil(v)
		magnitude := math.Abs(v)
		if !found {
			found, least, largest = true, magnitude, magnitude
		}
		least = min(least, magnitude)
		if v > largest {
			largest = magnitude
		}
	}
	low, high := 1, 1
	if found {
		low, high = digits(least), digits(largest)
	}
	switch {
	case whole && high <= 9:
		return column{'g', high + 1, 1}
	case whole:
		return p.four(column{'e', 11, 1})
	case high-low > 4 && (max(high, -high) > 99 || max(low, -low) > 99):
		return p.four(column{'e', 12, 1})
	case high-low > 4:
		return p.four(column{'e', 11, 1})
	case high > 5 || high < 0:
		return p.four(column{'f', 7, math.Pow(10, float64(high-1))})
	case high == 0:
		return p.four(column{'f', 7, 1})
	}
	return p.four(column{'f', high + 6, 1})
}

// four is for numbers of four digits after the point.
func (p *printer) four(c column) column {
	p.precision = 4
	return c
}

// digits before the point; 0 or less counts zeros after it. 1 of zero.
func digits(magnitude float64) int {
	if magnitude == 0 {
		return 1
	}
	_, exponent, _ := strings.Cut(strconv.FormatFloat(magnitude, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exponent)
	return n + 1
}

// scale writes what the numbers are to be multiplied by, unless that is one.
func (p *printer) scale(c column) bool {
	if c.scale != 1 {
		p.text.WriteString(p.general(c.scale) + " *\n")
	}
	return c.scale != 1
}

func (p *printer) number(c column, v float64) string {
	v /= c.scale
	text := p.general(v)
	if !math.IsInf(v, 0) && !math.IsNaN(v) && c.verb != 'g' {
		text = strconv.FormatFloat(v, c.verb, 4, 64)
	}
	return fmt.Sprintf("%*s", c.width, text)
}

// general is C's %g.
func (p *printer) general(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
	}
	return fmt.Sprintf("%.*g", p.precision, v)
}
