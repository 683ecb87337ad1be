package gotorch_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

// wantPanic runs body and gives the *gotorch.Error that it must panic with.
func wantPanic(t *testing.T, code gotorch.Code, body func()) *gotorch.Error {
	t.Helper()
	err := gotorch.Try(body)
	var ours *gotorch.Error
	if !errors.As(err, &ours) || !errors.Is(err, code) {
		t.Fatalf("got %v, want an error of code %q", err, code)
	}
	return ours
}

func equal[T comparable](t *testing.T, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestFromAndData(t *testing.T) {
	x := gotorch.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	equal(t, x.Shape(), []int{2, 3})
	equal(t, x.Strides(), []int{3, 1})
	equal(t, gotorch.ToSlice[float32](x.Transpose(0, 1)), []float32{1, 4, 2, 5, 3, 6})
	if x.DType() != gotorch.Float32 || x.Device() != gotorch.CPU || x.Numel() != 6 || x.NBytes() != 24 || x.Dim() != 2 {
		t.Fatal(x.DType(), x.Device(), x.Numel(), x.NBytes(), x.Dim())
	}
	if x.Size(-1) != 3 || x.Size(0) != 2 {
		t.Fatal(x.Size(-1), x.Size(0))
	}
	wantPanic(t, gotorch.ErrOutOfRange, func() { x.Size(2) })

	gotorch.CopyFrom(x, []float32{6, 5, 4, 3, 2, 1})
	equal(t, gotorch.Data[float32](x), []float32{6, 5, 4, 3, 2, 1})
	gotorch.Data[float32](x)[0] = 60
	if got := x.Select(0, 0).Select(0, 0).Item(); got != 60 {
		t.Fatal(got)
	}
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.ToSlice[float64](x) })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.Data[float32](x.Transpose(0, 1)) })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.From([]int{1, 2, 3}, 2, 2) })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.CopyFrom(x, []float32{1}) })
}

func TestElementTypes(t *testing.T) {
	roundTrip(t, []uint8{0, 255})
	roundTrip(t, []int8{-128, 127})
	roundTrip(t, []int16{-1 << 15, 1<<15 - 1})
	roundTrip(t, []int32{-1 << 31, 1<<31 - 1})
	roundTrip(t, []int64{-1 << 63, 1<<63 - 1})
	roundTrip(t, []int{-1 << 63, 1<<63 - 1})
	roundTrip(t, []float32{-0.5, float32(math.Inf(1))})
	roundTrip(t, []float64{-0.1, math.MaxFloat64})
	roundTrip(t, []complex64{1 + 2i})
	roundTrip(t, []complex128{-1 - 2i})
	roundTrip(t, []bool{true, false, true})
	roundTrip(t, []uint16{1, 65535})
	roundTrip(t, []uint32{1, 1<<32 - 1})
	roundTrip(t, []uint64{1, 1<<64 - 1})
	if empty := gotorch.From([]float32{}, 0, 3); empty.Numel() != 0 || len(gotorch.ToSlice[float32](empty)) != 0 {
		t.Fatal("an empty tensor has elements")
	}
}

func roundTrip[T gotorch.Element](t *testing.T, values []T) {
	t.Helper()
	x := gotorch.From(values)
	defer x.Close()
	equal(t, gotorch.ToSlice[T](x), values)
	if x.DType() != gotorch.DTypeOf[T]() {
		t.Fatalf("%T became %v", values, x.DType())
	}
}

func TestArithmetic(t *testing.T) {
	gotorch.Scope(func() {
		a, b := gotorch.From([]float32{1, 2, 3, 4}, 2, 2), gotorch.From([]float32{10, 20})
		equal(t, gotorch.ToSlice[float32](a.Add(b)), []float32{11, 22, 13, 24})
		equal(t, gotorch.ToSlice[float32](b.Sub(a)), []float32{9, 18, 7, 16})
		equal(t, gotorch.ToSlice[float32](a.Mul(a)), []float32{1, 4, 9, 16})
		equal(t, gotorch.ToSlice[float32](a.DivScalar(2)), []float32{0.5, 1, 1.5, 2})
		equal(t, gotorch.ToSlice[float32](a.MatMul(a)), []float32{7, 10, 15, 22})
		equal(t, gotorch.ToSlice[int](gotorch.From([]int{3, 4}).AddScalar(2)), []int{5, 6})
		equal(t, gotorch.ToSlice[float32](gotorch.From([]int{3, 4}).AddScalar(0.5)), []float32{3.5, 4.5})
		equal(t, gotorch.ToSlice[float32](a.SumDim([]int{0}, gotorch.SumDimOptions{KeepDim: true})), []float32{4, 6})
		equal(t, gotorch.ToSlice[int](a.ArgMax(1)), []int{1, 1})
		equal(t, gotorch.ToSlice[bool](a.EqScalar(3)), []bool{false, false, true, false})
		equal(t, gotorch.ToSlice[float32](a.Neg().ReLU().Add(a.Slice(0, 0, 1))), []float32{1, 2, 1, 2})
		equal(t, gotorch.ToSlice[float32](a.Index(gotorch.All, gotorch.From([]int{1}))), []float32{2, 4})
		equal(t, gotorch.ToSlice[float32](gotorch.Cat([]*gotorch.Tensor{b, b}, 0)), []float32{10, 20, 10, 20})
		equal(t, a.View(-1).Shape(), []int{4})
		equal(t, a.Unsqueeze(0).Flatten(0, 1).Shape(), []int{2, 2})
		equal(t, gotorch.ToSlice[int](a.To(gotorch.Int64)), []int{1, 2, 3, 4})
		values, indices := a.MaxDim(1)
		equal(t, gotorch.ToSlice[float32](values), []float32{2, 4})
		equal(t, gotorch.ToSlice[int](indices), []int{1, 1})
		if sum := a.Sum().Item(); sum != 10 {
			t.Fatal(sum)
		}
		if mean := a.Mean().Item(); mean != 2.5 {
			t.Fatal(mean)
		}
		if p := a.Softmax(1).Sum().Item(); math.Abs(p-2) > 1e-6 {
			t.Fatal(p)
		}
		if same := a.AddI(b); same != a || a.Sum().Item() != 70 {
			t.Fatal("AddI", a)
		}
		if !a.AllClose(a.AddScalar(1e-7)) || a.Equal(b) {
			t.Fatal("AllClose, Equal")
		}
		equal(t, gotorch.ToSlice[int](gotorch.ArangeStartStep(2, 8, 3)), []int{2, 5})
		equal(t, gotorch.Zeros([]int{2, 3}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Bool)}).Shape(), []int{2, 3})
	})
}

func TestCallReachesAnyOperator(t *testing.T) {
	gotorch.Scope(func() {
		x := gotorch.From([]float32{3, 1, 2})
		results := gotorch.Call("aten::sort", "", x, -1, true)
		equal(t, gotorch.ToSlice[float32](results[0].(*gotorch.Tensor)), []float32{3, 2, 1})
		equal(t, gotorch.ToSlice[int](results[1].(*gotorch.Tensor)), []int{0, 2, 1})
		parts := gotorch.Call("aten::split_with_sizes", "", x, []int{1, 2})[0].([]*gotorch.Tensor)
		equal(t, gotorch.ToSlice[float32](parts[1]), []float32{1, 2})
		y := gotorch.Call("aten::einsum", "", "i,j->ij", []*gotorch.Tensor{x, x})[0].(*gotorch.Tensor)
		equal(t, y.Shape(), []int{3, 3})
		y = gotorch.Call("aten::to", "dtype", x, gotorch.Float64, gotorch.Default, true)[0].(*gotorch.Tensor)
		if y.DType() != gotorch.Float64 {
			t.Fatal(y.DType())
		}
	})
	wantPanic(t, gotorch.ErrNotFound, func() { gotorch.Call("aten::no_such_operator", "") })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.Call("aten::relu", "", "text") })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.Call("aten::relu", "", struct{}{}) })
	op, err := gotorch.FindOp("aten::add", "Tensor")
	if err != nil || !strings.HasPrefix(op.Schema(), "aten::add.Tensor(Tensor self, Tensor other") {
		t.Fatal(op, err)
	}
}

func TestShapeMismatchNamesTheOperator(t *testing.T) {
	a, b := gotorch.Zeros([]int{2, 3}), gotorch.Zeros([]int{2, 4})
	err := wantPanic(t, gotorch.ErrInvalidArgument, func() { a.Add(b) })
	if err.Op != "aten::add.Tensor" || !strings.Contains(err.Message, "size of tensor") {
		t.Fatal(err)
	}
}

func TestBackward(t *testing.T) {
	x := gotorch.From([]float32{1, 2, 3}).SetRequiresGrad(true)
	defer x.Close()
	if x.Grad() != nil {
		t.Fatal("a gradient before Backward")
	}
	gotorch.Scope(func() {
		if err := x.Mul(x).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
	})
	equal(t, gotorch.ToSlice[float32](x.Grad()), []float32{2, 4, 6})
	if err := gotorch.Backward([]*gotorch.Tensor{x.MulScalar(2)}, gotorch.BackwardOptions{
		Gradients: []*gotorch.Tensor{gotorch.From([]float32{1, 0, 1})}}); err != nil {
		t.Fatal(err)
	}
	equal(t, gotorch.ToSlice[float32](x.Grad()), []float32{4, 4, 8})
	x.SetGrad(nil)
	if x.Grad() != nil {
		t.Fatal("a gradient after SetGrad(nil)")
	}
	gotorch.NoGrad(func() {
		if x.Mul(x).RequiresGrad() {
			t.Fatal("NoGrad records")
		}
	})
	if !x.Mul(x).RequiresGrad() || x.Detach().RequiresGrad() || !x.IsLeaf() {
		t.Fatal("RequiresGrad")
	}
}

func TestBackwardWithoutGrad(t *testing.T) {
	err := gotorch.From([]float32{1}).Backward()
	if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "require") {
		t.Fatal(err)
	}
	x := gotorch.From([]float32{1, 2}).SetRequiresGrad(true)
	if err := x.MulScalar(2).Backward(); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal(err)
	}
}

func TestUseAfterClose(t *testing.T) {
	x := gotorch.Zeros([]int{2})
	x.Close()
	x.Close()
	err := wantPanic(t, gotorch.ErrClosed, func() { x.Add(x) })
	if !strings.Contains(err.Message, "closed") {
		t.Fatal(err)
	}
	if err := x.Backward(); !errors.Is(err, gotorch.ErrClosed) {
		t.Fatal(err)
	}
	if !strings.Contains(x.String(), "closed") {
		t.Fatal(x)
	}
	var none *gotorch.Tensor
	wantPanic(t, gotorch.ErrInvalidArgument, func() { none.ReLU() })
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.Zeros([]int{2}).Add(nil) })
}

func TestScopeFreesAndKeeps(t *testing.T) {
	before := gotorch.LiveCounts()["tensor"]
	var lost, kept, twice *gotorch.Tensor
	gotorch.Scope(func() {
		gotorch.Scope(func() {
			lost = gotorch.Ones([]int{3})
			kept = lost.AddScalar(1).Keep()
			twice = gotorch.Keep(lost.AddScalar(2))
		})
		kept.AddScalar(1)
		twice.Keep()
	})
	wantPanic(t, gotorch.ErrClosed, func() { lost.Shape() })
	wantPanic(t, gotorch.ErrClosed, func() { kept.Shape() })
	lost.Close()
	equal(t, gotorch.ToSlice[float32](twice), []float32{3, 3, 3})
	twice.Close()
	if after := gotorch.LiveCounts()["tensor"]; after > before {
		t.Fatalf("%d tensors before, %d after", before, after)
	}

	// A new scope may take over the slot of one that ended: its tensors must not revive the old ones.
	gotorch.Scope(func() { wantPanic(t, gotorch.ErrClosed, func() { lost.Shape() }) })

	if err := gotorch.Try(func() {
		gotorch.Scope(func() {
			lost = gotorch.Ones([]int{1})
			lost.View(3, 5)
		})
	}); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal(err)
	}
	wantPanic(t, gotorch.ErrClosed, func() { lost.Shape() })
}

func TestScopesOfGoroutinesAreTheirOwn(t *testing.T) {
	var outside *gotorch.Tensor
	gotorch.Scope(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			outside = gotorch.Ones([]int{2})
			gotorch.Scope(func() { outside.AddScalar(1) })
		}()
		<-done
	})
	equal(t, gotorch.ToSlice[float32](outside), []float32{1, 1})
}

func TestScopedLoop(t *testing.T) {
	sequence := func(yield func(int, *gotorch.Tensor) bool) {
		for i := range 5 {
			if !yield(i, gotorch.Full([]int{1}, i)) {
				return
			}
		}
	}
	var all []*gotorch.Tensor
	for i, x := range gotorch.Scoped(sequence) {
		if x.ItemInt() != i {
			t.Fatal(x)
		}
		all = append(all, x)
		if i == 3 {
			break
		}
	}
	for _, x := range all {
		wantPanic(t, gotorch.ErrClosed, func() { x.Item() })
	}
}

func TestSaveAndOpen(t *testing.T) {
	path := t.TempDir() + "/x.safetensors"
	a := gotorch.From([]float32{1, 2}, 2, 1)
	if err := gotorch.Save(path, map[string]*gotorch.Tensor{"a": a, "b": gotorch.From([]int{7})},
		map[string]string{"epoch": "3", "note": "two\nlines \\n"}); err != nil {
		t.Fatal(err)
	}
	tensors, metadata, err := gotorch.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !tensors["a"].Equal(a) || tensors["b"].ItemInt() != 7 || len(tensors) != 2 {
		t.Fatal(tensors)
	}
	if metadata["epoch"] != "3" || metadata["note"] != "two\nlines \\n" {
		t.Fatalf("%q", metadata)
	}
	if _, _, err := gotorch.Open(path + "x"); !errors.Is(err, gotorch.ErrNotFound) {
		t.Fatal(err)
	}
}

func TestTryPassesOtherPanicsOn(t *testing.T) {
	defer func() {
		if recover() != "other" {
			t.Fatal("Try swallowed a panic that is not its own")
		}
	}()
	gotorch.Try(func() { panic("other") })
}

func TestParseDevice(t *testing.T) {
	for text, want := range map[string]gotorch.Device{"cpu": gotorch.CPU, "cuda:1": gotorch.CUDA(1), "cuda": gotorch.CUDA(-1)} {
		if got, err := gotorch.ParseDevice(text); got != want || err != nil || got.String() != text {
			t.Fatal(text, got, err)
		}
	}
	for _, text := range []string{"gpu", "cuda:x", "cuda:-1", ""} {
		if _, err := gotorch.ParseDevice(text); !errors.Is(err, gotorch.ErrInvalidArgument) {
			t.Fatal(text, err)
		}
	}
}

func TestMissingGPU(t *testing.T) {
	n, err := gotorch.CUDADeviceCount()
	if err != nil {
		t.Fatal(err)
	}
	if n > 0 {
		t.Skip("this machine has a GPU")
	}
	refused := wantPanic(t, gotorch.ErrUnsupported, func() {
		gotorch.Zeros([]int{1}, gotorch.TensorOptions{Device: gotorch.Some(gotorch.CUDA(0))})
	})
	if !strings.Contains(refused.Message, "GPU") {
		t.Fatal(refused)
	}
}
