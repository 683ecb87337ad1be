package gotorch_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem.example/gotorch"
)

func parameter(values ...float32) *gotorch.Tensor { return gotorch.From(values).SetRequiresGrad(true) }

func backward(t *testing.T, root *gotorch.Tensor, options ...gotorch.BackwardOptions) {
	t.Helper()
	if err := root.Backward(options...); err != nil {
		t.Fatal(err)
	}
}

// settle waits until the collector has freed what it may, so that no callback is held any more.
func settle(t *testing.T, callbacks int) {
	t.Helper()
	for range 200 {
		runtime.GC()
		if gotorch.LiveCounts()["callback"] == callbacks {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%d callbacks are held, want %d", gotorch.LiveCounts()["callback"], callbacks)
}

func TestHooksSeeAndReplaceGradients(t *testing.T) {
	x := parameter(1, 2)
	y := x.MulScalar(2)
	var seen []float32
	onX := x.RegisterHook(func(gradient *gotorch.Tensor) (*gotorch.Tensor, error) {
		seen = gotorch.ToSlice[float32](gradient)
		return nil, nil
	})
	onY := y.RegisterHook(func(gradient *gotorch.Tensor) (*gotorch.Tensor, error) {
		if gradient.MulScalar(2).RequiresGrad() {
			t.Error("a hook records")
		}
		return gradient.MulScalar(10), nil
	})
	backward(t, y.Sum())
	equal(t, seen, []float32{20, 20})
	equal(t, gotorch.ToSlice[float32](x.Grad()), []float32{20, 20})
	onX.Remove()
	onX.Remove()
	onY.Remove()
	backward(t, x.MulScalar(3).Sum())
	equal(t, seen, []float32{20, 20})
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.From([]float32{1}).RegisterHook(nil) })
}

func TestPostAccumulateGradHook(t *testing.T) {
	x := parameter(1, 2)
	var seen []float32
	hook := x.RegisterPostAccumulateGradHook(func(p *gotorch.Tensor) error {
		seen = gotorch.ToSlice[float32](p.Grad())
		p.SetGrad(nil)
		return nil
	})
	backward(t, x.MulScalar(5).Sum())
	equal(t, seen, []float32{5, 5})
	if x.Grad() != nil {
		t.Error("the gradient is still there")
	}
	hook.Remove()
	wantPanic(t, gotorch.ErrInvalidArgument, func() {
		x.MulScalar(2).RegisterPostAccumulateGradHook(func(*gotorch.Tensor) error { return nil })
	})
}

var errOfHook = errors.New("the hook's own error")

func TestHooksThatFailEndBackward(t *testing.T) {
	x := parameter(1, 2)
	fail := func(body func()) error {
		hook := x.RegisterHook(func(*gotorch.Tensor) (*gotorch.Tensor, error) {
			body()
			return nil, errOfHook
		})
		defer hook.Remove()
		return x.MulScalar(2).Sum().Backward()
	}
	check := func(err error, target error, text string) {
		t.Helper()
		var ours *gotorch.Error
		if !errors.Is(err, gotorch.ErrCallback) || !errors.As(err, &ours) || ours.Code != gotorch.ErrCallback {
			t.Fatalf("got %v, want an error of code %v", err, gotorch.ErrCallback)
		}
		if !strings.Contains(err.Error(), text) || target != nil && !errors.Is(err, target) {
			t.Fatalf("got %v, want %q", err, text)
		}
	}
	check(fail(func() {}), errOfHook, "Backward: a tensor hook failed: the hook's own error")
	check(fail(func() { panic(errOfHook) }), errOfHook, "the hook's own error")
	check(fail(func() { x.Add(gotorch.From([]float32{1, 2, 3})) }), gotorch.ErrInvalidArgument, "aten::add")
	check(fail(func() { panic("a string") }), nil, "panic: a string")
	err := fail(func() { _ = []int{}[len(x.Shape())] })
	check(err, nil, "index out of range")
	var panicked *gotorch.PanicError
	if !errors.As(err, &panicked) || !strings.Contains(string(panicked.Stack), "TestHooksThatFailEndBackward") {
		t.Fatalf("no stack of the panic in %v", err)
	}
	if x.Grad() != nil {
		t.Error("a gradient went on past a hook that failed")
	}
	backward(t, x.Sum())
}

func TestHooksRunInAScopeOfTheirOwn(t *testing.T) {
	x := parameter(3)
	var kept, lost *gotorch.Tensor
	hook := x.RegisterHook(func(gradient *gotorch.Tensor) (*gotorch.Tensor, error) {
		lost = gradient.MulScalar(2)
		kept = gradient.MulScalar(3).Keep()
		var inner *gotorch.Tensor
		gotorch.Scope(func() { inner = gradient.MulScalar(4).Keep() })
		return inner, nil
	})
	defer hook.Remove()
	backward(t, x.MulScalar(2))
	if kept.Item() != 6 || x.Grad().Item() != 8 {
		t.Error(kept, x.Grad())
	}
	wantPanic(t, gotorch.ErrClosed, func() { lost.Item() })

	// Inside a scope, what the hook keeps belongs to that.
	gotorch.Scope(func() {
		backward(t, x.MulScalar(2))
		if kept.Item() != 6 {
			t.Error(kept)
		}
	})
	wantPanic(t, gotorch.ErrClosed, func() { kept.Item() })
}

func TestHooksGoWithTheirTensor(t *testing.T) {
	settle(t, 0)
	ignore := func(*gotorch.Tensor) (*gotorch.Tensor, error) { return nil, nil }

	// With the scope that frees the tensor.
	var hook *gotorch.Hook
	gotorch.Scope(func() {
		x := parameter(1)
		hook = x.RegisterHook(ignore)
		y := x.MulScalar(2)
		y.RegisterHook(ignore)
		backward(t, y)
		if n := gotorch.LiveCounts()["callback"]; n != 2 {
			t.Errorf("%d callbacks are held, want 2", n)
		}
	})
	if n := gotorch.LiveCounts()["callback"]; n != 0 {
		t.Errorf("%d callbacks outlived their tensors", n)
	}
	hook.Remove()

	// With Close, and with the collector.
	x := parameter(1)
	x.RegisterHook(ignore)
	x.Close()
	if n := gotorch.LiveCounts()["callback"]; n != 0 {
		t.Errorf("%d callbacks outlived a tensor that was closed", n)
	}
	func() {
		y := parameter(1)
		y.RegisterHook(ignore)
		y.RegisterPostAccumulateGradHook(func(*gotorch.Tensor) error { return nil })
	}()
	settle(t, 0)

	// A hook that captures its own tensor, against the rules, inside of a scope: that still frees both.
	gotorch.Scope(func() {
		z := parameter(1)
		z.RegisterHook(func(*gotorch.Tensor) (*gotorch.Tensor, error) { return z, nil })
	})
	settle(t, 0)
}

// Backward passes of many goroutines with hooks on shared parameters, on threads that change.
func TestHooksUnderGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	shared := parameter(2)
	var calls atomic.Int64
	hook := shared.RegisterHook(func(gradient *gotorch.Tensor) (*gotorch.Tensor, error) {
		runtime.Gosched()
		calls.Add(int64(gradient.Item()))
		return nil, nil
	})
	defer hook.Remove()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				gotorch.Scope(func() {
					own := parameter(1)
					own.RegisterHook(func(gradient *gotorch.Tensor) (*gotorch.Tensor, error) {
						runtime.Gosched()
						return gradient.MulScalar(3), nil
					})
					backward(t, shared.MulScalar(2).Mul(own))
					if got := own.Grad().Item(); got != 12 {
						t.Errorf("gradient is %v, want 12", got)
					}
				})
			}
		})
	}
	wait.Wait()
	if calls.Load() != 8*50*2 {
		t.Fatalf("%d, want %d", calls.Load(), 8*50*2)
	}
}
