package gotorch

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/tensorprint"
)

// String prints the tensor exactly as Python's print(tensor) does, by the options of [SetPrintOptions]. Never panics.
// Source: torch._tensor_str.
func (t *Tensor) String() string { return t.print(*printing.Load()) }

// Format prints for package fmt. %v and %s are [Tensor.String], with a precision, as in %.2v, of that many digits; %f
// and %e are the same without exponents and with. %+v tells shape, element type and device alone.
func (t *Tensor) Format(state fmt.State, verb rune) {
	o := *printing.Load()
	if precision, ok := state.Precision(); ok {
		o.Precision = precision
	}
	switch verb {
	case 'v', 's':
		if state.Flag('+') || state.Flag('#') {
			fmt.Fprint(state, t.summary())
			return
		}
	case 'f', 'e':
		o.SciMode = sciMode(verb == 'e')
	default:
		fmt.Fprintf(state, "%%!%c(%s)", verb, t.summary())
		return
	}
	fmt.Fprint(state, t.print(o))
}

// orError is what describe gives, or the error that it panicked with.
func orError(describe func() string) (text string) {
	if err := Try(func() { text = describe() }); err != nil {
		return "<" + err.Error() + ">"
	}
	return text
}

// summary is "tensor(shape=(2, 3), dtype=float32, device=cpu, requires_grad=True)".
func (t *Tensor) summary() string {
	return orError(func() string {
		parts := append([]string{"shape=" + tuple(t.Shape()), "dtype=" + t.DType().String(), "device=" + t.Device().String()},
			t.autogradSuffix()...)
		return "tensor(" + strings.Join(parts, ", ") + ")"
	})
}

func (t *Tensor) print(o tensorprint.Options) string {
	return orError(func() (text string) {
		suffix := t.autogradSuffix()
		Scope(func() { NoGrad(func() { text = printer{t: t.Detach(), o: o}.print(suffix) }) })
		return text
	})
}

// autogradSuffix is what recorded the tensor, or that it is to be recorded.
func (t *Tensor) autogradSuffix() []string {
	name, err := c.GradFnName(t.handle("Tensor.String"))
	must(err)
	switch {
	case name != "":
		return []string{"grad_fn=<" + name + ">"}
	case t.RequiresGrad():
		return []string{"requires_grad=True"}
	}
	return nil
}

// tuple is a shape as Python has it: "(2, 3)", "(2,)", "()".
func tuple(shape []int) string {
	texts := make([]string, len(shape))
	for i, n := range shape {
		texts[i] = strconv.Itoa(n)
	}
	if len(shape) == 1 {
		return "(" + texts[0] + ",)"
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

type printer struct {
	t *Tensor
	o tensorprint.Options
}

const prefix = "tensor("

func (p printer) print(autograd []string) string {
	var body string
	var suffixes []string
	t := p.t
	dtype, layout, device, shape := t.DType(), t.Layout(), t.Device(), t.Shape()
	size, dtypeSuffix := "size="+tuple(shape), "dtype=torch."+dtype.String()
	inferred := dtype == Float32 || dtype == Complex64 || dtype == Int64 || dtype == Bool
	if device.Kind != CPUDevice {
		suffixes = append(suffixes, "device='"+device.String()+"'")
	}
	switch {
	case layout < 0 || dtype.Size() == 0:
		return p.otherwise()
	case layout != Strided:
		suffixes = append(suffixes, size)
		if device.Kind != MetaDevice {
			suffixes = append(suffixes, fmt.Sprintf("nnz=%d", Call("aten::_nnz", "", t)[0]))
		}
		if !inferred {
			suffixes = append(suffixes, dtypeSuffix)
		}
		body = p.sparse(layout)
	case device.Kind == MetaDevice || t.Numel() == 0:
		body = "[]"
		if device.Kind == MetaDevice {
			body = "..."
		}
		if device.Kind == MetaDevice || len(shape) != 1 {
			suffixes = append(suffixes, size)
		}
		if dtype != Float32 {
			suffixes = append(suffixes, dtypeSuffix)
		}
	default:
		if p.o.EdgeItems == 0 {
			suffixes = append(suffixes, size)
		}
		if !inferred {
			suffixes = append(suffixes, dtypeSuffix)
		}
		body = p.elements(t, len(prefix))
	}
	if layout != Strided {
		suffixes = append(suffixes, "layout=torch."+layout.String())
	}
	return tensorprint.Finish(prefix+body, append(suffixes, autograd...), len(prefix), layout == Sparse, p.o)
}

// otherwise prints what Python has other texts for (tensors of tensors, of other libraries): as LibTorch's C++ does.
func (p printer) otherwise() string {
	text, err := c.String(p.t.handle("Tensor.String"))
	must(err)
	return text
}

// sparse prints the tensors that a sparse one consists of.
func (p printer) sparse(layout Layout) string {
	parts := [][2]string{{"crow_indices", "aten::crow_indices"}, {"col_indices", "aten::col_indices"}}
	switch layout {
	case Sparse:
		parts = [][2]string{{"indices", "aten::_indices"}}
	case SparseCSC, SparseBSC:
		parts = [][2]string{{"ccol_indices", "aten::ccol_indices"}, {"row_indices", "aten::row_indices"}}
	}
	values := [2]string{"values", "aten::values"}
	if layout == Sparse {
		values[1] = "aten::_values"
	}
	var texts []string
	for _, part := range append(parts, values) {
		start := part[0] + "=tensor("
		of := Call(part[1], "", p.t)[0].(*Tensor)
		text := "..."
		if p.t.Device().Kind != MetaDevice {
			text = p.elements(of, len(prefix)+len(start))
		}
		if of.Numel() == 0 || text == "..." {
			text += ", size=" + tuple(of.Shape())
		}
		texts = append(texts, start+text+")")
	}
	return strings.Join(texts, ",\n"+strings.Repeat(" ", len(prefix)))
}

// elements of a dense tensor, in brackets that begin in the given column.
func (p printer) elements(t *Tensor, indent int) string {
	if t.Numel() == 0 {
		return "[]"
	}
	shape := t.Shape()
	summary := p.o.Summarises(t.Numel())
	if summary {
		t = p.edges(t)
	}
	return tensorprint.Body(shape, p.cells(t), indent, summary, p.o)
}

// edges of the dimensions that are printed in part.
func (p printer) edges(t *Tensor) *Tensor {
	for dim, size := range t.Shape() {
		if n := p.o.EdgeItems; p.o.Cut(size) {
			t = Cat([]*Tensor{t.Narrow(dim, 0, n), t.Narrow(dim, size-n, n)}, dim)
		}
	}
	return t
}

func (p printer) cells(t *Tensor) tensorprint.Cells {
	switch dtype := t.DType(); {
	case dtype == Bool:
		return tensorprint.Texts(each(t, 1, func(raw []byte) string {
			if raw[0] != 0 {
				return "True"
			}
			return "False"
		}))
	case dtype == Complex32:
		return p.cells(t.To(Complex64))
	case dtype == Complex64:
		return tensorprint.Complexes(each(t, 8, func(raw []byte) complex128 { return complex(single(raw), single(raw[4:])) }), p.o)
	case dtype == Complex128:
		return tensorprint.Complexes(each(t, 16, func(raw []byte) complex128 { return complex(double(raw), double(raw[8:])) }), p.o)
	case dtype == Float64:
		return tensorprint.Floats(each(t, 8, double), p.o)
	case dtype.IsFloat():
		return tensorprint.Floats(each(t.To(Float32), 4, single), p.o)
	case dtype == Uint64:
		return tensorprint.Texts(each(t, 8, func(raw []byte) string { return strconv.FormatUint(binary.NativeEndian.Uint64(raw), 10) }))
	}
	return tensorprint.Texts(each(t.To(Int64), 8, func(raw []byte) string {
		return strconv.FormatInt(int64(binary.NativeEndian.Uint64(raw)), 10)
	}))
}

func single(raw []byte) float64 {
	return float64(math.Float32frombits(binary.NativeEndian.Uint32(raw)))
}
func double(raw []byte) float64 { return math.Float64frombits(binary.NativeEndian.Uint64(raw)) }

// each element of t, of that many bytes, read from them.
func each[T any](t *Tensor, size int, read func(raw []byte) T) []T {
	raw := t.Bytes()
	values := make([]T, 0, len(raw)/size)
	for ; len(raw) > 0; raw = raw[size:] {
		values = append(values, read(raw))
	}
	return values
}
