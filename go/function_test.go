package gotorch_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tandem.example/gotorch"
)

// cube is x³ · y, with what a Function can do: saved tensors, a factor in Data, gradients only where needed.
type cube struct{ factor float64 }

func (f cube) Forward(ctx *gotorch.FunctionContext, inputs []*gotorch.Tensor) []*gotorch.Tensor {
	ctx.SaveForBackward(inputs...)
	ctx.Data = f.factor
	x, y := inputs[0], inputs[1]
	return []*gotorch.Tensor{x.Mul(x).Mul(x).Mul(y).MulScalar(f.factor)}
}

func (cube) Backward(ctx *gotorch.FunctionContext, gradients []*gotorch.Tensor) []*gotorch.Tensor {
	x, y, factor := ctx.SavedTensors()[0], ctx.SavedTensors()[1], ctx.Data.(float64)
	results := make([]*gotorch.Tensor, 2)
	if ctx.NeedsInputGrad(0) {
		results[0] = gradients[0].Mul(x).Mul(x).Mul(y).MulScalar(3 * factor)
	}
	if ctx.NeedsInputGrad(1) {
		results[1] = gradients[0].Mul(x).Mul(x).Mul(x).MulScalar(factor)
	}
	return results
}

func TestFunction(t *testing.T) {
	settle(t, 0)
	gotorch.Scope(func() {
		x, y := parameter(2, 3), parameter(10, 20)
		out := gotorch.Apply(cube{0.5}, x, y)[0]
		equal(t, gotorch.ToSlice[float32](out), []float32{40, 270})
		backward(t, out.Sum())
		equal(t, gotorch.ToSlice[float32](x.Grad()), []float32{60, 270})
		equal(t, gotorch.ToSlice[float32](y.Grad()), []float32{4, 13.5})

		// By one input alone.
		x.SetGrad(nil)
		backward(t, gotorch.Apply(cube{1}, x, gotorch.From([]float32{1, 1}))[0].Sum())
		equal(t, gotorch.ToSlice[float32](x.Grad()), []float32{12, 27})
		if gotorch.LiveCounts()["callback"] != 2 {
			t.Error("callbacks:", gotorch.LiveCounts()["callback"])
		}
	})
	if n := gotorch.LiveCounts()["callback"]; n != 0 {
		t.Errorf("%d callbacks outlived their graph", n)
	}
}

func TestFunctionIsNotRecordedWithoutNeed(t *testing.T) {
	gotorch.NoGrad(func() {
		if gotorch.Apply(cube{1}, parameter(2), parameter(1))[0].RequiresGrad() {
			t.Error("recorded in NoGrad")
		}
	})
	out := gotorch.Apply(cube{1}, gotorch.From([]float32{2}), gotorch.From([]float32{1}))[0]
	if out.RequiresGrad() || out.Item() != 8 {
		t.Error("recorded without an input that requires grad:", out)
	}
}

func TestFunctionHasDerivativesOfHigherOrder(t *testing.T) {
	gotorch.Scope(func() {
		x, one := parameter(2), gotorch.From([]float32{1})
		out := gotorch.Apply(cube{1}, x, one)[0]
		var derivatives []float64
		for range 3 {
			grads, err := gotorch.Grad([]*gotorch.Tensor{out}, []*gotorch.Tensor{x}, gotorch.GradOptions{CreateGraph: true})
			if err != nil {
				t.Fatal(err)
			}
			out = grads[0]
			derivatives = append(derivatives, out.Item())
		}
		equal(t, derivatives, []float64{12, 12, 6})
	})
}

// exponential saves its output, which no cycle may keep alive.
type exponential struct{}

func (exponential) Forward(ctx *gotorch.FunctionContext, inputs []*gotorch.Tensor) []*gotorch.Tensor {
	out := inputs[0].Exp()
	ctx.SaveForBackward(out)
	return []*gotorch.Tensor{out}
}

func (exponential) Backward(ctx *gotorch.FunctionContext, gradients []*gotorch.Tensor) []*gotorch.Tensor {
	return []*gotorch.Tensor{gradients[0].Mul(ctx.SavedTensors()[0])}
}

func TestFunctionThatSavesItsOutputIsFreed(t *testing.T) {
	settle(t, 0)
	func() {
		x := parameter(0)
		out := gotorch.Apply(exponential{}, x)[0]
		backward(t, out)
		if x.Grad().Item() != 1 {
			t.Error(x.Grad())
		}
		gotorch.Apply(exponential{}, x) // and one whose backward never runs
	}()
	settle(t, 0)
}

// inPlace multiplies its input by ten where it lies, and gives its sign as well.
type inPlace struct{}

func (inPlace) Forward(ctx *gotorch.FunctionContext, inputs []*gotorch.Tensor) []*gotorch.Tensor {
	gotorch.Call("aten::mul_", "Scalar", inputs[0], 10)
	sign := inputs[0].Sign()
	ctx.MarkDirty(inputs[0])
	ctx.MarkNonDifferentiable(sign)
	ctx.SetMaterializeGrads(false)
	return []*gotorch.Tensor{inputs[0], sign}
}

func (inPlace) Backward(_ *gotorch.FunctionContext, gradients []*gotorch.Tensor) []*gotorch.Tensor {
	if gradients[1] != nil {
		panic("a gradient of what has none")
	}
	return []*gotorch.Tensor{gradients[0].MulScalar(10)}
}

func TestFunctionInPlace(t *testing.T) {
	gotorch.Scope(func() {
		x := parameter(3)
		y := x.MulScalar(2)
		outs := gotorch.Apply(inPlace{}, y)
		if outs[0] != y || y.Item() != 60 || outs[1].RequiresGrad() {
			t.Error(outs, y)
		}
		backward(t, y)
		if x.Grad().Item() != 20 {
			t.Error(x.Grad())
		}
	})
}

// failing does in Backward what it is told to.
type failing struct {
	backward func() []*gotorch.Tensor
}

func (failing) Forward(_ *gotorch.FunctionContext, inputs []*gotorch.Tensor) []*gotorch.Tensor {
	return []*gotorch.Tensor{inputs[0].MulScalar(1)}
}

func (f failing) Backward(*gotorch.FunctionContext, []*gotorch.Tensor) []*gotorch.Tensor {
	return f.backward()
}

func TestFunctionThatFails(t *testing.T) {
	x := parameter(1)
	wide := parameter(1, 2)
	check := func(body func() []*gotorch.Tensor, code error, text string) {
		t.Helper()
		err := gotorch.Apply(failing{body}, wide)[0].Sum().Backward()
		if !errors.Is(err, code) || !strings.Contains(err.Error(), text) {
			t.Fatalf("got %v, want %v with %q", err, code, text)
		}
	}
	check(func() []*gotorch.Tensor { panic(errOfHook) }, errOfHook, "the backward of failing failed: the hook's own error")
	check(func() []*gotorch.Tensor { panic(errOfHook) }, gotorch.ErrCallback, "gotorch: Backward")
	check(func() []*gotorch.Tensor { return nil }, gotorch.ErrInvalidArgument, "Backward gave 0 gradients for 1 inputs")
	check(func() []*gotorch.Tensor { return []*gotorch.Tensor{gotorch.From([]float32{1, 2, 3})} },
		gotorch.ErrInvalidArgument, "Function failingBackward returned an invalid gradient at index 0")
	check(func() []*gotorch.Tensor {
		return []*gotorch.Tensor{x.Add(gotorch.From([]float32{1, 2}).Reshape(2, 1)).Sub(
			gotorch.From([]float32{1, 2, 3}).Reshape(3, 1))}
	}, gotorch.ErrInvalidArgument, "aten::sub")

	// What Forward panics with comes out of Apply, with NoGrad ended.
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.Apply(cube{1}, parameter(1, 2), parameter(1, 2, 3)) })
	if !gotorch.IsGradEnabled() {
		t.Error("NoGrad is still open")
	}

	// A saved tensor that was changed.
	y := x.MulScalar(1)
	out := gotorch.Apply(cube{1}, y, parameter(1))[0]
	gotorch.NoGrad(func() { gotorch.Call("aten::mul_", "Scalar", y, 2) })
	if err := out.Backward(); err == nil || !strings.Contains(err.Error(), "modified by an inplace operation") {
		t.Fatal(err)
	}
}

func TestFunctionsUnderGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	y := parameter(1)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				gotorch.Scope(func() {
					x := parameter(2)
					out := gotorch.Apply(cube{1}, x, y)[0]
					runtime.Gosched()
					backward(t, gotorch.Apply(exponential{}, out.MulScalar(0))[0].Mul(out))
					// d/dx exp(0)·x³·y, where the exponent's own derivative is zero.
					if got := x.Grad().Item(); got != 12 {
						t.Errorf("gradient is %v, want 12", got)
					}
				})
			}
		})
	}
	wait.Wait()
}
