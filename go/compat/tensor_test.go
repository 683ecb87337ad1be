package gotorch_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	core "tandem.example/gotorch"
	torch "tandem.example/gotorch/compat"
)

// wantPanic calls f, which is to panic with a string that has part in it.
func wantPanic(t *testing.T, part string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, ok := recover().(string); !ok || !strings.Contains(text, part) {
			t.Errorf("the panic is %q, without %q", text, part)
		}
	}()
	f()
}

func wantText(t *testing.T, got torch.Tensor, want string) {
	t.Helper()
	if text := got.String(); text != want {
		t.Errorf("%q, want %q", text, want)
	}
}

func TestNewTensor(t *testing.T) {
	for want, x := range map[string]torch.Tensor{
		"Bool":     torch.NewTensor([][]bool{{true, false}, {false, true}}),
		"Byte":     torch.NewTensor([][]byte{{1, 0}, {0, 1}}),
		"Char":     torch.NewTensor([][]int8{{1, 0}, {0, 1}}),
		"Short":    torch.NewTensor([][]int16{{1, 0}, {0, 1}}),
		"Int":      torch.NewTensor([][]int32{{1, 0}, {0, 1}}),
		"Long":     torch.NewTensor([][]int64{{1, 0}, {0, 1}}),
		"Half":     torch.NewTensor([][]uint16{{0x3c00, 0}, {0, 0x3c00}}),
		"Float":    torch.NewTensor([][]float32{{1, 0}, {0, 1}}),
		"Double":   torch.NewTensor([][]float64{{1, 0}, {0, 1}}),
		"BFloat16": torch.NewTensor([][]uint16{{0x3f80, 0}, {0, 0x3f80}}, map[string]any{"dtype": torch.BFloat16}),
	} {
		wantText(t, x, " 1  0\n 0  1\n[ CPU"+want+"Type{2,2} ]")
	}
	for _, data := range []any{[]int{1}, []uint32{1}, []uint64{1}, []complex64{1}, []string{"1"}} {
		wantPanic(t, "elements", func() { torch.NewTensor(data) })
	}
	wantPanic(t, "slice", func() { torch.NewTensor(3) })
	wantPanic(t, "slice", func() { torch.NewTensor(nil) })
	wantPanic(t, "bytes", func() { torch.NewTensor([]uint16{1}, map[string]any{"dtype": torch.Float}) })
	wantPanic(t, "length", func() { torch.NewTensor([][]float32{{1, 2}, {3}}) })
}

func TestItem(t *testing.T) {
	for _, c := range []struct {
		x    torch.Tensor
		want any
	}{
		{torch.NewTensor([]byte{200}), byte(200)}, {torch.NewTensor([]bool{true}), true}, {torch.NewTensor([]int8{-1}), int8(-1)},
		{torch.NewTensor([]int16{-300}), int16(-300)}, {torch.NewTensor([]int32{-1 << 31}), int32(-1 << 31)},
		{torch.NewTensor([]int64{1<<62 + 1}), int64(1<<62 + 1)}, {torch.NewTensor([]uint16{0x3400}), float32(0.25)},
		{torch.NewTensor([]float32{0.1}), float32(0.1)}, {torch.NewTensor([]float64{0.1}), 0.1},
	} {
		if got := c.x.Item(); got != c.want {
			t.Errorf("%T %v, want %T %v", got, got, c.want, c.want)
		}
	}
	wantPanic(t, "", func() { torch.Ones([]int64{2}, false).Item() })
	one := torch.Ones([]int64{1}, false)
	wantPanic(t, "bfloat16", func() { one.CastTo(torch.BFloat16).Item() })
}

func TestArithmetic(t *testing.T) {
	x, y := torch.NewTensor([]float32{6, 8}), torch.NewTensor([]float32{2, 4})
	wantText(t, x.Add(y, 0.5), "  7\n 10\n[ CPUFloatType{2} ]")
	wantText(t, torch.Sub(x, y, 1), " 4\n 4\n[ CPUFloatType{2} ]")
	wantText(t, x.Mul(y), " 12\n 32\n[ CPUFloatType{2} ]")
	wantText(t, x.Div(y), " 3\n 2\n[ CPUFloatType{2} ]")
	wantText(t, x.AddI(y, 2), " 10\n 16\n[ CPUFloatType{2} ]")
	x.SubI(y, 1)
	x.MulI(y)
	x.DivI(torch.Full([]int64{2}, 8, false))
	wantText(t, x, " 2\n 6\n[ CPUFloatType{2} ]")
	n := torch.NewTensor([]int64{1, 2})
	wantText(t, n.Add(n, 1), " 2\n 4\n[ CPULongType{2} ]")
	wantText(t, n.Eq(torch.NewTensor([]int64{1, 3})), " 1\n 0\n[ CPUBoolType{2} ]")
	wantText(t, torch.MM(torch.Eye(2, 3, false), torch.Ones([]int64{3, 1}, false)), " 1\n 1\n[ CPUFloatType{2,1} ]")
	wantText(t, torch.LeakyRelu(torch.NewTensor([]float32{-2, 1}), 0.5), "-1\n 1\n[ CPUFloatType{2} ]")
	wantText(t, torch.LogSoftmax(torch.NewTensor([][]float32{{1, 0.5}}), 1), "-0.4741 -0.9741\n[ CPUFloatType{1,2} ]")
	if !torch.AllClose(torch.Sigmoid(torch.Full([]int64{1}, 0, false)), torch.Full([]int64{1}, 0.5, false)) {
		t.Error("sigmoid of 0")
	}
	wantText(t, torch.Relu(torch.Tanh(torch.Full([]int64{1}, 0, false))), " 0\n[ CPUFloatType{1} ]")
	wantPanic(t, "size", func() { torch.Add(torch.Ones([]int64{2}, false), torch.Ones([]int64{3}, false), 1) })
	wantPanic(t, "not defined", func() { torch.Mul(torch.Ones([]int64{2}, false), torch.Tensor{}) })
}

func TestShapes(t *testing.T) {
	x := torch.View(torch.Arange(0, 6, 1, false), 1, 2, 3)
	for _, c := range []struct {
		got  torch.Tensor
		want []int64
	}{
		{x.Permute([]int64{2, 0, 1}), []int64{3, 1, 2}}, {x.Transpose(1, 2), []int64{1, 3, 2}}, {x.View(-1, 2), []int64{3, 2}},
		{torch.Squeeze(x), []int64{2, 3}}, {x.Squeeze(0), []int64{2, 3}}, {x.Squeeze(1), []int64{1, 2, 3}},
		{torch.Flatten(x, 1, -1), []int64{1, 6}}, {torch.Stack([]torch.Tensor{x, x}, 0), []int64{2, 1, 2, 3}},
		{torch.Ones([]int64{3}, false).ExpandAs(x), []int64{1, 2, 3}}, {x.IndexSelect(2, torch.NewTensor([]int64{0, 2})), []int64{1, 2, 2}},
		{x.Index(0, 1, 2), []int64{}},
	} {
		if got := c.got.Shape(); !slices.Equal(got, c.want) || c.got.Dim() != int64(len(c.want)) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
	if got := x.Index(0, 1, 2).Item(); got != float32(5) {
		t.Error(got)
	}
	wantPanic(t, "indices", func() { x.Index(0) })
	wantPanic(t, "Squeeze", func() { x.Squeeze(0, 1) })
	wantPanic(t, "", func() { x.View(4) })
}

func TestReductions(t *testing.T) {
	x := torch.NewTensor([][]float32{{3, 4}, {2, 1}})
	if got := x.Sum().Item(); got != float32(10) {
		t.Error(got)
	}
	wantText(t, x.Sum(map[string]any{"dim": 1}), " 7\n 3\n[ CPUFloatType{2} ]")
	wantText(t, torch.Sum(x, map[string]any{"dim": 0, "keepDim": true}), " 5  5\n[ CPUFloatType{1,2} ]")
	wantText(t, torch.Mean(x), "2.5\n[ CPUFloatType{} ]")
	wantText(t, x.Argmin(), "3\n[ CPULongType{} ]")
	wantText(t, x.Argmin(int8(0), true), " 1  1\n[ CPULongType{1,2} ]")
	wantText(t, x.Argmax(1), " 1\n 0\n[ CPULongType{2} ]")
	wantPanic(t, "integer", func() { x.Argmax(1.0) })
	wantPanic(t, "bool", func() { x.Argmin(1, 1) })
	values, indices := torch.TopK(x, 1, 1, false, true)
	wantText(t, values, " 3\n 1\n[ CPUFloatType{2,1} ]")
	wantText(t, indices, " 0\n 1\n[ CPULongType{2,1} ]")
	if torch.Equal(x, x.Transpose(0, 1)) || !torch.Equal(x, x) {
		t.Error("Equal")
	}
}

func TestCreation(t *testing.T) {
	for _, x := range []torch.Tensor{torch.RandN([]int64{2}, true), torch.Rand([]int64{2}, true), torch.Empty([]int64{2}, true),
		torch.Ones([]int64{2}, true), torch.Eye(2, 2, true), torch.Full([]int64{2}, 7, true), torch.Arange(0, 2, 1, true),
		torch.Linspace(0, 1, 2, true), torch.Logspace(0, 1, 2, 10, true)} {
		if !x.Unwrap().RequiresGrad() || x.Dtype() != torch.Float {
			t.Error(x.Unwrap())
		}
	}
	wantText(t, torch.Linspace(0, 5, 3, false), " 0.0000\n 2.5000\n 5.0000\n[ CPUFloatType{3} ]")
	wantText(t, torch.Logspace(0, 5, 3, 2, false), "  1.0000\n  5.6569\n 32.0000\n[ CPUFloatType{3} ]")
	wantText(t, torch.Arange(0, 5, 2, false), " 0\n 2\n 4\n[ CPUFloatType{3} ]")
}

func TestAutograd(t *testing.T) {
	x := torch.NewTensor([]float32{3})
	x.Unwrap().SetRequiresGrad(true)
	if g := x.Grad(); g.T == nil || g.Unwrap() != nil {
		t.Error("a gradient before Backward:", g)
	}
	y := x.Mul(x)
	y.Backward()
	wantText(t, x.Grad(), " 6\n[ CPUFloatType{1} ]")
	d := x.Detach()
	d.AddI(d, 1)
	wantText(t, x, " 6\n[ CPUFloatType{1} ]")
	wantPanic(t, "grad", func() { torch.Ones([]int64{1}, false).Backward() })
}

func TestSetData(t *testing.T) {
	x, y := torch.Ones([]int64{2}, true), torch.Full([]int64{3}, 2, false)
	held := x.Unwrap()
	x.SetData(y)
	if !reflect.DeepEqual(held.Shape(), []int{3}) || !held.RequiresGrad() {
		t.Error(held)
	}
}

func TestDevices(t *testing.T) {
	cpu, x := torch.NewDevice("cpu"), torch.NewTensor([]int64{1, 2})
	if x.To(cpu).Dtype() != torch.Long || torch.To(x, cpu, torch.Float).Dtype() != torch.Float || !torch.Equal(x, x.CopyTo(cpu)) {
		t.Error("To")
	}
	wantPanic(t, "unknown", func() { torch.NewDevice("unknown") })
	wantPanic(t, "CUDA", func() { x.CUDA(cpu, true) })
	if !torch.IsCUDAAvailable() {
		if got := x.PinMemory(); got != x || torch.IsCUDNNAvailable() {
			t.Error("there is no GPU")
		}
		wantPanic(t, "", func() { torch.NewCUDAStream(torch.NewDevice("cuda")) })
		wantPanic(t, "", func() { torch.GetCurrentCUDAStream(cpu) })
	}
	wantPanic(t, "Use", func() { torch.SetCurrentCUDAStream(torch.CUDAStream{}) })
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pt")
	x := torch.RandN([]int64{2, 3}, false)
	x.Save(path)
	if y := torch.Load(path); !torch.Equal(x, y) {
		t.Error(x, y)
	}
	if err := core.SavePt(path, 3); err != nil {
		t.Fatal(err)
	}
	wantPanic(t, "not a tensor", func() { torch.Load(path) })
	wantPanic(t, "missing", func() { torch.Load("missing") })
	wantPanic(t, "not defined", func() { torch.Tensor{}.Save(path) })
}

func TestMustNil(t *testing.T) {
	torch.MustNil(nil)
	text := []byte("what failed\x00and more")
	wantPanic(t, "what failed", func() { torch.MustNil(pointer(text)) })
}
