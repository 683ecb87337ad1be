package gotorch_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
)

func made[T gotorch.Element](t *testing.T, value any, shape []int, want []T) {
	t.Helper()
	x := gotorch.NewTensor(value)
	defer x.Close()
	equal(t, x.Shape(), shape)
	equal(t, gotorch.ToSlice[T](x), want)
}

func TestNewTensorOfNestedSlices(t *testing.T) {
	type label int32
	made(t, 2.5, []int{}, []float64{2.5})
	made(t, float32(2.5), []int{}, []float32{2.5})
	made(t, 7, []int{}, []int{7})
	made(t, true, []int{}, []bool{true})
	made(t, 1+2i, []int{}, []complex128{1 + 2i})
	made(t, gotorch.ToF16(0.5), []int{}, []gotorch.F16{gotorch.ToF16(0.5)})
	made(t, []uint8{1, 2}, []int{2}, []uint8{1, 2})
	made(t, []label{1, -2}, []int{2}, []int32{1, -2})
	made(t, []uint{1, math.MaxUint}, []int{2}, []uint64{1, math.MaxUint64})
	made(t, []gotorch.BF16{1, 2}, []int{2}, []gotorch.BF16{1, 2})
	made(t, [][]float32{{1, 2, 3}, {4, 5, 6}}, []int{2, 3}, []float32{1, 2, 3, 4, 5, 6})
	made(t, [][2]int{{1, 2}, {3, 4}, {5, 6}}, []int{3, 2}, []int{1, 2, 3, 4, 5, 6})
	made(t, [2][]int16{{1}, {2}}, []int{2, 1}, []int16{1, 2})
	made(t, [2][1][2]complex64{{{1, 2}}, {{3, 4i}}}, []int{2, 1, 2}, []complex64{1, 2, 3, 4i})
	made(t, [][][]bool{{{true}, {false}}, {{false}, {true}}}, []int{2, 2, 1}, []bool{true, false, false, true})
	made(t, []float64{}, []int{0}, []float64{})
	made(t, [][]float64{{}, {}}, []int{2, 0}, []float64{})
	made(t, [][][]float64{{}, {}}, []int{2, 0}, []float64{})
	made(t, [][0]int8{{}, {}, {}}, []int{3, 0}, []int8{})

	for text, value := range map[string]any{
		"value[1] has 3 elements, but the first slice of its depth has 2":    [][]float32{{1, 2}, {3, 4, 5}},
		"value[0][1] has 1 elements, but the first slice of its depth has 2": [][][]int{{{1, 2}, {3}}, {{4, 5}, {6, 7}}},
		"value[1] has 1 elements, but the first slice of its depth has 0":    [][]int{{}, {1}},
		"a string holds no numbers":                                          "text",
		"a []interface {} holds no numbers":                                  []any{1, 2},
		"a <nil> holds no numbers":                                           nil,
		"a map[int]int holds no numbers":                                     map[int]int{},
	} {
		if err := wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.NewTensor(value) }); !strings.Contains(err.Message, text) {
			t.Error(err)
		}
	}
}

func TestNewTensorOptions(t *testing.T) {
	gotorch.Scope(func() {
		before := gotorch.LiveCounts()["tensor"]
		x := gotorch.NewTensor([][]float64{{1.5, 2}}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float16), Device: gotorch.Some(gotorch.Device{})})
		equal(t, gotorch.ToSlice[gotorch.F16](x), []gotorch.F16{gotorch.ToF16(1.5), gotorch.ToF16(2)})
		meta := gotorch.NewTensor(1, gotorch.TensorOptions{Device: gotorch.Some(gotorch.Device{Kind: gotorch.MetaDevice, Index: -1})})
		if meta.Device().Kind != gotorch.MetaDevice {
			t.Fatal(meta.Device())
		}
		if n := gotorch.LiveCounts()["tensor"] - before; n != 2 {
			t.Fatalf("%d handles for two tensors", n)
		}
		wantPanic(t, gotorch.ErrInvalidArgument, func() {
			gotorch.NewTensor(1, gotorch.TensorOptions{Layout: gotorch.Some(gotorch.Sparse)})
		})
	})
}

func TestFromRefusesShapesThatDoNotFit(t *testing.T) {
	for text, shape := range map[string][]int{
		"6 values do not fill a tensor of shape [4 2], which has 8 elements": {4, 2},
		"6 values do not fill a tensor of shape [0 6], which has 0 elements": {0, 6},
		"dimension 1 of shape [3 -2] is negative":                            {3, -2},
		"has more elements than memory can":                                  {1 << 40, 1 << 40},
	} {
		if err := wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.From(make([]int8, 6), shape...) }); !strings.Contains(err.Message, text) {
			t.Error(err)
		}
	}
}

func TestBytesOfEveryType(t *testing.T) {
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = byte(i % 2)
	}
	for _, dtype := range []gotorch.DType{gotorch.Uint8, gotorch.Int8, gotorch.Int16, gotorch.Int32, gotorch.Int64, gotorch.Float16,
		gotorch.Float32, gotorch.Float64, gotorch.Complex32, gotorch.Complex64, gotorch.Complex128, gotorch.Bool, gotorch.BFloat16,
		gotorch.Float8E5M2, gotorch.Float8E4M3FN, gotorch.Uint16, gotorch.Uint32, gotorch.Uint64} {
		x := gotorch.FromBytes(raw, dtype)
		if x.DType() != dtype || x.Numel() != 32/dtype.Size() {
			t.Fatal(dtype, x.DType(), x.Numel())
		}
		equal(t, x.Bytes(), raw)
		equal(t, gotorch.FromBytes(raw, dtype, 2, 16/dtype.Size()).Shape(), []int{2, 16 / dtype.Size()})
		x.Close()
	}
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.FromBytes(raw[:3], gotorch.Int16) })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.FromBytes(raw, gotorch.Int16, 15) })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.FromBytes(raw, gotorch.DType(99)) })
}

func TestDataIsTheTensorsMemory(t *testing.T) {
	gotorch.Scope(func() {
		x := gotorch.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
		view := gotorch.Data[float32](x)
		view[4] = 50
		equal(t, gotorch.ToSlice[float32](x), []float32{1, 2, 3, 4, 50, 6})
		x.SetIndexScalar(-1, gotorch.At(0), gotorch.At(0))
		if view[0] != -1 || cap(view) != 6 {
			t.Fatal(view)
		}
		// A row is contiguous, and starts where it does.
		equal(t, gotorch.Data[float32](x.Index(gotorch.At(1))), []float32{4, 50, 6})

		for text, call := range map[string]func(){
			"elements of type float32, not float64": func() { gotorch.Data[float64](x) },
			"strides [1 3] is not contiguous":       func() { gotorch.Data[float32](x.Transpose(0, 1)) },
			"layout sparse_coo":                     func() { gotorch.Data[float32](x.ToSparse()) },
			"conjugated":                            func() { gotorch.Data[complex64](gotorch.From([]complex64{1i}).Conj()) },
			"lie on meta":                           func() { gotorch.Data[float32](x.ToDevice(gotorch.Device{Kind: gotorch.MetaDevice, Index: -1})) },
		} {
			if err := wantPanic(t, gotorch.ErrInvalidArgument, call); !strings.Contains(err.Message, text) {
				t.Error(err)
			}
		}
		equal(t, gotorch.ToSlice[complex64](gotorch.From([]complex64{1 + 2i}).Conj()), []complex64{1 - 2i})
		equal(t, gotorch.ToSlice[float32](x.Transpose(0, 1)), []float32{-1, 4, 2, 50, 3, 6})
	})
	closed := gotorch.From([]int{1})
	closed.Close()
	wantPanic(t, gotorch.ErrClosed, func() { gotorch.Data[int](closed) })
}

// What CopyFrom writes autograd notices; what is written by way of Data it cannot, and the documentation says so.
func TestCopyFromIsNoticedByBackward(t *testing.T) {
	x := gotorch.From([]float32{1, 2}).SetRequiresGrad(true)
	y := x.MulScalar(2)
	z := y.Mul(y).Sum()
	gotorch.CopyFrom(y, []float32{0, 0})
	if err := z.Backward(); err == nil || !strings.Contains(err.Error(), "modified by an inplace operation") {
		t.Fatal(err)
	}
}

func TestWithDataKeepsTheTensorAlive(t *testing.T) {
	// What other tests left is gone first.
	before := gotorch.LiveCounts()["tensor"]
	for same := 0; same < 10; same++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		if n := gotorch.LiveCounts()["tensor"]; n != before {
			before, same = n, 0
		}
	}
	gotorch.WithData(gotorch.Full([]int{1 << 10}, 3), func(elements []int) {
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
		if n := gotorch.LiveCounts()["tensor"]; n != before+1 {
			t.Fatalf("%d tensors before, %d with the one in use", before, n)
		}
		for _, x := range elements {
			if x != 3 {
				t.Fatal(x)
			}
		}
	})
}

func TestAnEmptyShapeHasNoDimensions(t *testing.T) {
	if got := gotorch.From([]float32{7}, []int{}...); got.Dim() != 0 || got.Item() != 7 {
		t.Fatal(got.Shape())
	}
	if got := gotorch.From([]float32{7}); got.Dim() != 1 {
		t.Fatal(got.Shape())
	}
	if got := gotorch.FromBytes(make([]byte, 4), gotorch.Float32, []int{}...); got.Dim() != 0 {
		t.Fatal(got.Shape())
	}
	if err := gotorch.Try(func() { gotorch.From([]float32{1, 2}, []int{}...) }); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal(err)
	}
}

func TestScalarsOfAllTypesOfNumbers(t *testing.T) {
	type steps int
	type rate float32
	x := gotorch.From([]float64{2})
	for _, one := range []gotorch.Scalar{steps(3), rate(3), uint(3), uint64(3), uintptr(3), int8(3), float32(3)} {
		if got := x.MulScalar(one).Item(); got != 6 {
			t.Errorf("%T: %v", one, got)
		}
	}
	for _, one := range []gotorch.Scalar{"3", uint64(1) << 63, nil, []int{3}} {
		if err := gotorch.Try(func() { x.MulScalar(one) }); !errors.Is(err, gotorch.ErrInvalidArgument) {
			t.Errorf("%T: %v", one, err)
		}
	}
}
