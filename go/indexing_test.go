package gotorch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/names"
)

// indexCase is a line of testdata/indexing.json.gz, which tests/go/reference.py makes with Python's torch.
type indexCase struct {
	Shape  []int
	Index  []json.RawMessage
	Value  json.RawMessage // of an assignment: a number, or the shape of a tensor
	DType  gotorch.DType
	Number any

	Result        []int
	Elements      []float64
	View          bool
	Gradient      []float64
	ValueGradient []float64 `json:"value_gradient"`
	After         []any
	Error         *struct{ Class, Message string }
}

// indexOf reads one index, as indexing_cases.py writes it.
func indexOf(t *testing.T, text json.RawMessage) gotorch.Index {
	t.Helper()
	var given any
	if err := json.Unmarshal(text, &given); err != nil {
		t.Fatal(err)
	}
	switch given := given.(type) {
	case nil:
		return gotorch.NewAxis
	case string:
		return gotorch.Ellipsis
	case bool:
		return gotorch.When(given)
	case float64:
		return gotorch.At(int(given))
	}
	var parts struct {
		Slice  []*int
		Each   []int
		Tensor *struct {
			Shape  []int
			Ints   []int
			Bools  []uint8
			Floats []float32
		}
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	switch {
	case parts.Slice != nil:
		start, stop, step := parts.Slice[0], parts.Slice[1], parts.Slice[2]
		slice := gotorch.All
		switch {
		case start != nil && stop != nil:
			slice = gotorch.Slice(*start, *stop)
		case start != nil:
			slice = gotorch.SliceFrom(*start)
		case stop != nil:
			slice = gotorch.SliceTo(*stop)
		}
		if step != nil {
			slice = slice.Step(*step)
		}
		return slice
	case parts.Each != nil:
		return gotorch.AtEach(parts.Each...)
	}
	made := gotorch.From(parts.Tensor.Ints)
	if parts.Tensor.Bools != nil {
		made = gotorch.From(parts.Tensor.Bools).To(gotorch.Bool)
	} else if parts.Tensor.Floats != nil {
		made = gotorch.From(parts.Tensor.Floats)
	}
	return made.View(parts.Tensor.Shape...)
}

// filled is arange from a first number, in a shape.
func filled(shape []int, from int) *gotorch.Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(from + i)
	}
	return gotorch.From(values).View(shape...).Clone() // no view of another tensor
}

func weightedBackward(t *testing.T, x *gotorch.Tensor) {
	t.Helper()
	if err := x.Mul(filled(x.Shape(), 1)).Sum().Backward(); err != nil {
		t.Fatal(err)
	}
}

func gradient(x *gotorch.Tensor) []float64 {
	if grad := x.Grad(); grad != nil {
		return gotorch.ToSlice[float64](grad)
	}
	return nil
}

// refusedAs tells whether a panic is what Python's exception says.
func (one indexCase) refusedAs(t *testing.T, err error) {
	t.Helper()
	code := gotorch.ErrInvalidArgument
	if one.Error.Class == "IndexError" {
		code = gotorch.ErrOutOfRange
	}
	if !errors.Is(err, code) || (code == gotorch.ErrOutOfRange && !strings.Contains(err.Error(), names.Message(one.Error.Message))) {
		t.Fatalf("got %v, want %v", err, *one.Error)
	}
}

func TestIndexingIsPythons(t *testing.T) {
	counts := map[string]int{}
	for _, one := range readCases[indexCase](t, "indexing") {
		kind := "get"
		if one.Value != nil {
			kind = "set"
		} else if one.Number != nil {
			kind = "convert"
		}
		counts[kind]++
		name := fmt.Sprintf("%s %v%s", kind, one.Shape, one.Index)
		t.Run(name, func(t *testing.T) { gotorch.Scope(func() { one.check(t, kind) }) })
	}
	t.Log(counts)
}

func (one indexCase) check(t *testing.T, kind string) {
	if kind == "convert" {
		one.convert(t)
		return
	}
	var indices []gotorch.Index
	for _, text := range one.Index {
		indices = append(indices, indexOf(t, text))
	}
	x := filled(one.Shape, 0).SetRequiresGrad(true)
	if kind == "set" {
		one.set(t, x, indices)
		return
	}
	var y *gotorch.Tensor
	if err := gotorch.Try(func() { y = x.Index(indices...) }); one.Error != nil {
		one.refusedAs(t, err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	equal(t, y.Shape(), one.Result)
	equal(t, gotorch.ToSlice[float64](y), one.Elements)
	if x.Numel() > 0 && y.Numel() > 0 {
		before := x.Detach().Clone()
		y.Detach().AddScalarI(1)
		if changed := !x.Equal(before); changed != one.View {
			t.Fatalf("a view: %v, in Python: %v", changed, one.View)
		}
	}
	weightedBackward(t, y)
	equal(t, gradient(x), one.Gradient)
}

func (one indexCase) set(t *testing.T, x *gotorch.Tensor, indices []gotorch.Index) {
	y := x.Clone()
	var value *gotorch.Tensor
	var number float64
	if json.Unmarshal(one.Value, &number) != nil {
		var shape []int
		if err := json.Unmarshal(one.Value, &shape); err != nil {
			t.Fatal(err)
		}
		value = filled(shape, 100).SetRequiresGrad(true)
	}
	err := gotorch.Try(func() {
		var same *gotorch.Tensor
		if value != nil {
			same = y.SetIndex(value, indices...)
		} else {
			same = y.SetIndexScalar(number, indices...)
		}
		if same != y {
			t.Fatal("another tensor")
		}
	})
	if one.Error != nil {
		one.refusedAs(t, err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	equal(t, gotorch.ToSlice[float64](y), one.Elements)
	weightedBackward(t, y)
	equal(t, gradient(x), one.Gradient)
	if value != nil {
		equal(t, gradient(value), one.ValueGradient)
	}
}

func (one indexCase) convert(t *testing.T) {
	x := gotorch.Zeros([]int{2}, gotorch.TensorOptions{DType: gotorch.Some(one.DType)})
	if err := gotorch.Try(func() { x.SetIndexScalar(one.Number, gotorch.At(1)) }); one.Error != nil {
		one.refusedAs(t, err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	want := gotorch.Zeros([]int{2}, gotorch.TensorOptions{DType: gotorch.Some(one.DType)})
	for i, after := range one.After {
		switch after := after.(type) {
		case string:
			var number float64
			switch after {
			case "True":
				number = 1
			case "False":
			default:
				if _, err := fmt.Sscan(after, &number); err != nil {
					t.Fatal(err)
				}
			}
			want.Select(0, i).FillScalarI(number)
		case []any:
			want.Select(0, i).FillScalarI(complex(after[0].(float64), after[1].(float64)))
		}
	}
	if !x.Equal(want) {
		t.Fatal(x, want)
	}
}

func TestIndexRefusesWhatIsNoIndex(t *testing.T) {
	x := gotorch.Zeros([]int{2, 3})
	closed := gotorch.From([]int{0})
	closed.Close()
	if err := wantPanic(t, gotorch.ErrInvalidArgument, func() { x.Index(gotorch.At(0), nil) }); !strings.Contains(err.Message, "index 1 is nil") {
		t.Fatal(err)
	}
	wantPanic(t, gotorch.ErrClosed, func() { x.Index(closed) })
	wantPanic(t, gotorch.ErrClosed, func() { x.SetIndex(closed, gotorch.At(0)) })
	var none *gotorch.Tensor
	wantPanic(t, gotorch.ErrInvalidArgument, func() { x.Index(none) })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { x.SetIndex(nil, gotorch.At(0)) })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { x.SetIndexScalar("1", gotorch.At(0)) })
	leaf := gotorch.Zeros([]int{2}).SetRequiresGrad(true)
	if err := wantPanic(t, gotorch.ErrInvalidArgument, func() { leaf.SetIndexScalar(1, gotorch.At(0)) }); !strings.Contains(err.Message, "leaf") {
		t.Fatal(err)
	}
}
