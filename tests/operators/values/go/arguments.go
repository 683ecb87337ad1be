package values

import (
	"fmt"
	"strconv"
	"strings"

	"tandem.example/gotorch"
)

// arguments of a case, a line each; see cases.py.
type arguments struct {
	lines []string
	given []*gotorch.Tensor // that were made for the call
	made  map[int]any

	wide    bool // double precision
	leftOut int  // the option that the call is to leave out, -1 for none
	options []int
}

type words struct{ list []string }

func (w *words) next() string {
	word := w.list[0]
	w.list = w.list[1:]
	return word
}

func (w *words) int() int {
	n, err := strconv.Atoi(w.next())
	if err != nil {
		panic(err)
	}
	return n
}

func (w *words) float() float64 {
	x, err := strconv.ParseFloat(w.next(), 64)
	if err != nil {
		panic(err)
	}
	return x
}

// of the argument: its kind and what follows; nil for None.
func (a *arguments) of(i int, kind string) *words {
	w := &words{strings.Fields(a.lines[i])}
	switch have := w.next(); have {
	case "none":
		return nil
	case kind:
		return w
	default:
		panic(fmt.Sprintf("argument %d is %q, not %q", i, have, kind))
	}
}

func (a *arguments) readTensor(w *words) *gotorch.Tensor {
	dtype, form := gotorch.DType(w.int()), w.next()
	if a.wide {
		dtype = widened(dtype)
	}
	sizes := make([]int, w.int())
	for i := range sizes {
		sizes[i] = w.int()
	}
	values := make([]float64, w.int())
	for i := range values {
		values[i] = w.float()
	}
	t := gotorch.From(values)
	switch dtype {
	case gotorch.Complex32, gotorch.Complex64, gotorch.Complex128:
		t = gotorch.ViewAsComplex(t.View(-1, 2))
	}
	t = t.To(dtype).View(sizes...).Clone()
	switch form {
	case "coo":
		t = t.ToSparse()
	case "csr":
		t = t.ToSparseCSR()
	case "csc":
		t = t.ToSparseCSC()
	}
	a.given = append(a.given, t)
	return t
}

func widened(dtype gotorch.DType) gotorch.DType {
	switch dtype {
	case gotorch.Float32:
		return gotorch.Float64
	case gotorch.Complex64:
		return gotorch.Complex128
	}
	return dtype
}

func (a *arguments) tensor(i int) *gotorch.Tensor {
	if t, ok := a.made[i]; ok {
		return t.(*gotorch.Tensor)
	}
	return nil
}

// optional is a tensor that is an option.
func (a *arguments) optional(i int) *gotorch.Tensor {
	if a.lines[i] == "none" || a.leaveOut(i) {
		return nil
	}
	return a.tensor(i)
}

// generator is a new one, for the case gives its seed.
func (a *arguments) generator(i int) *gotorch.Generator {
	return gotorch.NewGenerator(gotorch.CPU).ManualSeed(uint64(a.of(i, "generator").int()))
}

func (a *arguments) optGenerator(i int) *gotorch.Generator {
	if a.leaveOut(i) {
		return nil
	}
	return a.generator(i)
}

// leaveOut notes that argument i is an option that the case sets, and tells whether to do without.
func (a *arguments) leaveOut(i int) bool {
	a.options = append(a.options, i)
	return i == a.leftOut
}

func (a *arguments) tensors(i int) []*gotorch.Tensor {
	if t, ok := a.made[i]; ok {
		return t.([]*gotorch.Tensor)
	}
	return nil
}

// read makes the tensors, in the order of the arguments.
func (a *arguments) read() {
	a.made = map[int]any{}
	for i, line := range a.lines {
		switch w := (&words{strings.Fields(line)}); w.next() {
		case "tensor":
			a.made[i] = a.readTensor(w)
		case "tensors":
			list := make([]*gotorch.Tensor, w.int())
			for j := range list {
				if w.next() != "none" {
					list[j] = a.readTensor(w)
				}
			}
			a.made[i] = list
		}
	}
}

func readScalar(w *words) gotorch.Scalar {
	switch kind := w.next(); kind {
	case "int":
		return w.int()
	case "bool":
		return w.next() == "1"
	}
	return w.float()
}

func (a *arguments) scalar(i int) gotorch.Scalar {
	if w := a.of(i, "scalar"); w != nil {
		return readScalar(w)
	}
	return nil
}

func (a *arguments) scalars(i int) (list []gotorch.Scalar) {
	w := a.of(i, "scalars")
	for range w.int() {
		list = append(list, readScalar(w))
	}
	return list
}

func (a *arguments) int(i int) int             { return a.of(i, "int").int() }
func (a *arguments) bool(i int) bool           { return a.int(i) != 0 }
func (a *arguments) float(i int) float64       { return a.of(i, "float").float() }
func (a *arguments) dtype(i int) gotorch.DType { return gotorch.DType(a.int(i)) }

func (a *arguments) memoryFormat(i int) gotorch.MemoryFormat { return gotorch.MemoryFormat(a.int(i)) }

func (a *arguments) text(i int) string {
	if w := a.of(i, "text"); w != nil {
		return w.next()
	}
	return ""
}

func (a *arguments) device(i int) gotorch.Device {
	device, err := gotorch.ParseDevice(a.text(i))
	if err != nil {
		panic(err)
	}
	return device
}

func (a *arguments) ints(i int) []int {
	w := a.of(i, "ints")
	if w == nil {
		return nil
	}
	list := []int{}
	for len(w.list) > 0 {
		list = append(list, w.int())
	}
	return list
}

func (a *arguments) floats(i int) []float64 {
	w := a.of(i, "floats")
	if w == nil {
		return nil
	}
	list := []float64{}
	for len(w.list) > 0 {
		list = append(list, w.float())
	}
	return list
}

// opt is an option: unset for None, which the schema has as default there.
func opt[T any](a *arguments, i int, get func(*arguments, int) T) gotorch.Opt[T] {
	if a.lines[i] == "none" || a.leaveOut(i) {
		return gotorch.Opt[T]{}
	}
	return gotorch.Some(get(a, i))
}

// plain is an option whose zero value is the default.
func plain[T any](a *arguments, i int, get func(*arguments, int) T) T {
	value, _ := opt(a, i, get).Get()
	return value
}

func (a *arguments) layout(i int) gotorch.Layout { return gotorch.Layout(a.int(i)) }
