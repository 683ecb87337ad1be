package jit_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/jit"
	"tandem.example/gotorch/nn"
)

// What tests/jit/models.py made with Python's torch.
const files = "../../tests/jit/files/"

func load(t *testing.T, name string) *jit.Module {
	t.Helper()
	module, err := jit.Load(files + name)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func expected(t *testing.T) map[string]*gotorch.Tensor {
	t.Helper()
	tensors, _, err := gotorch.Open(files + "expected.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}

func isClose(a, b *gotorch.Tensor) bool {
	return a.AllClose(b, gotorch.AllCloseOptions{RTol: gotorch.Some(1e-10), ATol: gotorch.Some(1e-12)})
}

func message(t *testing.T, code gotorch.Code, body func()) string {
	t.Helper()
	err := gotorch.Try(body)
	var own *gotorch.Error
	if !errors.As(err, &own) || own.Code != code {
		t.Fatalf("%v, and not an error of code %v", err, code)
	}
	return err.Error()
}

func TestModulesAreModules(t *testing.T) {
	gotorch.Scope(func() {
		reference := expected(t)
		x := reference["inputs"].Select(0, 0).Select(0, 0)
		module := load(t, "norm.pt")
		if !module.IsTraining() {
			t.Error("it was saved in training mode")
		}
		nn.Eval(module)
		if y := module.Forward(x); !isClose(y, reference["norm.eval"]) {
			t.Errorf("evaluating it gives %v", y)
		}
		nn.Train(module)
		if y := module.Forward(x); !isClose(y, reference["norm.train"]) {
			t.Errorf("training it gives %v", y)
		}
		names := slices.Sorted(maps.Keys(nn.State(module)))
		want := []string{"calls", "first.bias", "first.weight", "last.bias", "last.weight", "norm.bias", "norm.num_batches_tracked",
			"norm.running_mean", "norm.running_var", "norm.weight"}
		if !slices.Equal(names, want) {
			t.Errorf("its tensors are %q", names)
		}
		if calls := nn.State(module)["calls"].Item(); calls != 2 {
			t.Errorf("the buffer that forward assigns is %v", calls)
		}
		nn.ToDType(module, gotorch.Float32)
		if y := module.Forward(x.To(gotorch.Float32)); y.DType() != gotorch.Float32 {
			t.Errorf("as float32 it gives %v", y.DType())
		}
	})
}

func TestTiedParametersAreOne(t *testing.T) {
	module := load(t, "tied.pt")
	if count := len(nn.Parameters(module)); count != 3 {
		t.Errorf("it has %d parameters", count)
	}
	state := nn.State(module)
	if state["first.weight"] == nil || state["first.weight"] != state["second.weight"] {
		t.Error("the tied parameter is two tensors")
	}
	if frozen := load(t, "frozen.pt"); len(nn.Parameters(frozen)) != 0 || frozen.IsTraining() {
		t.Error("a frozen module has parameters, or trains")
	}
}

func TestCloneHasTensorsOfItsOwn(t *testing.T) {
	gotorch.Scope(func() {
		module := load(t, "tied.pt")
		copied := nn.Clone(module)
		own, others := nn.State(copied), nn.State(module)
		if own["first.weight"] != own["second.weight"] || own["first.weight"] == others["first.weight"] || len(nn.Parameters(copied)) != 3 {
			t.Error("the copy's parameters are not its own, or not tied")
		}
		x := gotorch.RandN([]int{2, 4}).To(gotorch.Float64)
		if !isClose(copied.Forward(x), module.Forward(x)) {
			t.Error("it computes something else")
		}
		if err := copied.Forward(x).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		if others["first.weight"].Grad() != nil || own["first.weight"].Grad() == nil {
			t.Error("gradients are not the copy's")
		}
	})
}

func TestCallTakesAndGivesNestedValues(t *testing.T) {
	gotorch.Scope(func() {
		module := load(t, "nested.pt")
		if methods := module.Methods(); !slices.Equal(methods, []string{"check", "forward", "numbers", "point", "product", "shift"}) {
			t.Errorf("its methods are %q", methods)
		}
		one, two := gotorch.NewTensor([]float64{1}), gotorch.NewTensor([]float64{2})
		result := module.Call("forward", gotorch.Tuple{one, two}, []*gotorch.Tensor{two},
			map[string]*gotorch.Tensor{"a": one, "b": two}, 10).(map[string]any)
		all := result["all"].(gotorch.Tuple)
		if first, sums := all[0].(*gotorch.Tensor).Item(), all[1].([]*gotorch.Tensor); first != 12 || len(sums) != 1 || sums[0].Item() != 4 {
			t.Errorf("forward gives %v", all)
		}
		numbers := module.Call("numbers", []int{1, 2}, map[int]float64{7: 0.5, 8: 2}, []string{"x"}, [][]int{{1, 2, 3}, {}})
		want := gotorch.Tuple{3, map[string]any{"x": []float64{0.5, 2}}, []any{[]int{3, 2, 1}, []int(nil)}, true}
		if !reflect.DeepEqual(numbers, want) {
			t.Errorf("numbers gives %#v", numbers)
		}
		if shifted := module.Call("shift", one, nil).(*gotorch.Tensor).Item(); shifted != 1 {
			t.Errorf("shift by nothing gives %v", shifted)
		}
		if schema, err := module.Schema("shift"); schema != "shift(x: Tensor, by: Optional[int] = None) -> Tensor" || err != nil {
			t.Errorf("%s, %v", schema, err)
		}
	})
}

func TestMistakes(t *testing.T) {
	module := load(t, "nested.pt")
	x := gotorch.NewTensor([]float64{-1})
	for _, one := range []struct {
		code gotorch.Code
		body func()
		want string
	}{
		{gotorch.ErrNotFound, func() { module.Call("hide") }, "no method 'hide'; it has check, forward"},
		{gotorch.ErrInvalidArgument, func() { module.Call("shift", x, "much") }, "must be of type int, and is a str: shift(x: Tensor"},
		{gotorch.ErrInvalidArgument, func() { module.Call("shift", struct{}{}) }, "argument 0 is a struct {}, which no model of Python takes"},
		{gotorch.ErrInvalidArgument, func() { module.Call("check", x) }, "check: ValueError: an element is negative (code/__torch__.py, line"},
	} {
		if text := message(t, one.code, one.body); !strings.Contains(text, one.want) {
			t.Errorf("%q does not say %q", text, one.want)
		}
	}
	if _, err := jit.Load(filepath.Join(t.TempDir(), "none.pt")); !errors.Is(err, gotorch.ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
	data, err := os.ReadFile(files + "mlp.pt")
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range [][]byte{nil, data[:len(data)/2], data[:len(data)-1]} {
		if _, err := jit.LoadBytes(bytes); !errors.Is(err, gotorch.ErrDataLoss) {
			t.Errorf("%d bytes of %d: %v", len(bytes), len(data), err)
		}
	}
	if _, err := jit.Compile("def f(x):\n    return y\n"); !errors.Is(err, gotorch.ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "undefined value y") {
		t.Errorf("a function that does not compile: %v", err)
	}
}

func TestCompile(t *testing.T) {
	gotorch.Scope(func() {
		module, err := jit.Compile("def scaled(x, by: float = 2.0):\n    return torch.relu(x) * by\n")
		if err != nil {
			t.Fatal(err)
		}
		data, err := module.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := jit.LoadBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		x := gotorch.NewTensor([]float32{-1, 3})
		x.SetRequiresGrad(true)
		if err := again.Call("scaled", x, 4).(*gotorch.Tensor).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		if got := gotorch.ToSlice[float32](x.Grad()); !reflect.DeepEqual(got, []float32{0, 4}) {
			t.Errorf("the gradient is %v", got)
		}
	})
}

type network struct {
	nn.Base
	First *nn.Linear
	Norm  *nn.BatchNorm1d
}

func (n *network) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return n.Norm.Forward(n.First.Forward(x)).Tanh()
}

func TestTraceOfAModule(t *testing.T) {
	gotorch.Scope(func() {
		model := &network{First: nn.NewLinear(4, 3), Norm: nn.NewBatchNorm1d(3)}
		calls := 0
		traced, err := jit.Trace(func(x *gotorch.Tensor) *gotorch.Tensor {
			calls++
			return model.Forward(x)
		}, gotorch.RandN([]int{5, 4}), model)
		if err != nil {
			t.Fatal(err)
		}
		if calls != 1 {
			t.Errorf("it was called %d times", calls)
		}
		if a, b := slices.Sorted(maps.Keys(nn.State(traced))), slices.Sorted(maps.Keys(nn.State(model))); !slices.Equal(a, b) {
			t.Errorf("its tensors are %q, and those of the module %q", a, b)
		}
		x := gotorch.RandN([]int{7, 4})
		if err := traced.Forward(x).Square().Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		if model.First.Weight.Grad() == nil {
			t.Error("it does not share the module's parameters")
		}
		path := filepath.Join(t.TempDir(), "traced.pt")
		if err := traced.Save(path); err != nil {
			t.Fatal(err)
		}
		again, err := jit.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := again.Forward(x), model.Forward(x); !a.AllClose(b) {
			t.Errorf("loaded again it gives %v, and the module %v", a, b)
		}
	})
}

type pair struct {
	A *gotorch.Tensor
	B []*gotorch.Tensor
}

func TestTraceOfAFunction(t *testing.T) {
	gotorch.Scope(func() {
		x, y := gotorch.NewTensor([]float32{1, 2}), gotorch.NewTensor([]float32{3, 4})
		traced, err := jit.Trace(func(in pair) map[string]*gotorch.Tensor {
			return map[string]*gotorch.Tensor{"sum": in.A.Add(in.B[0]), "product": in.A.Mul(in.B[0])}
		}, pair{x, []*gotorch.Tensor{y}})
		if err != nil {
			t.Fatal(err)
		}
		results := traced.Call("forward", y, y).(gotorch.Tuple) // in the order of keys
		if product := gotorch.ToSlice[float32](results[0].(*gotorch.Tensor)); !reflect.DeepEqual(product, []float32{9, 16}) {
			t.Errorf("the product is %v", product)
		}
		weight := gotorch.NewTensor([]float32{1, 2})
		weight.SetRequiresGrad(true)
		_, err = jit.Trace(func(x *gotorch.Tensor) *gotorch.Tensor { return x.Mul(weight) }, x)
		if err == nil || !strings.Contains(err.Error(), "Cannot insert a Tensor that requires grad as a constant") {
			t.Errorf("a parameter that was not given: %v", err)
		}
		own := errors.New("mine")
		_, err = jit.Trace(func(*gotorch.Tensor) *gotorch.Tensor { panic(own) }, x)
		if !errors.Is(err, own) || !errors.Is(err, gotorch.ErrCallback) {
			t.Errorf("a function that fails: %v", err)
		}
		if _, err = jit.Trace(func(x *gotorch.Tensor) *gotorch.Tensor { return x.Add(y) }, x); err != nil {
			t.Errorf("after one that failed: %v", err)
		}
	})
}
