package optim_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/optim"
)

// Rosenbrock's function of two numbers, whose least value is at (1, 1).
func rosenbrock(o *optim.Optimizer, x *gotorch.Tensor, calls *int) func() (*gotorch.Tensor, error) {
	return func() (*gotorch.Tensor, error) {
		*calls++
		if err := o.ZeroGrad(); err != nil {
			return nil, err
		}
		first, second := x.Narrow(0, 0, 1), x.Narrow(0, 1, 1)
		loss := second.Sub(first.PowScalar(2)).PowScalar(2).MulScalar(100).Add(first.SubScalar(1).PowScalar(2)).Sum()
		return loss, loss.Backward()
	}
}

func TestLBFGSFindsTheLeastValue(t *testing.T) {
	x, calls := parameter(-1.2, 1), 0
	lbfgs := optim.LBFGS([]*gotorch.Tensor{x}, 1, optim.LBFGSOptions{MaxIter: optim.Some(10), LineSearchFn: "strong_wolfe"})
	live := gotorch.LiveCounts()["tensor"]
	first, last := 0.0, 0.0
	for step := range 8 {
		gotorch.Scope(func() {
			loss, err := lbfgs.StepClosure(rosenbrock(lbfgs, x, &calls))
			if err != nil {
				t.Fatal(err)
			}
			last = loss.Item()
			if step == 0 {
				first = last
			}
		})
	}
	if math.Abs(first-24.2) > 1e-9 || last > 1e-6 || calls < 40 {
		t.Error(first, last, calls)
	}
	for _, number := range gotorch.ToSlice[float64](x.Detach()) {
		if math.Abs(number-1) > 1e-3 {
			t.Error(x)
		}
	}
	if now := gotorch.LiveCounts()["tensor"]; now > live+4 {
		t.Error("tensors are left of the closures:", live, now)
	}
	for name, want := range map[string]any{"max_iter": int64(10), "max_eval": int64(12), "history_size": int64(100), "line_search_fn": "strong_wolfe", "lr": 1.0} {
		if got, err := lbfgs.Setting(0, name); err != nil || got != want {
			t.Errorf("%s is %v (%T): %v", name, got, got, err)
		}
	}
}

// Go's state of LBFGS goes on where it was.
func TestLBFGSResumes(t *testing.T) {
	run := func(resume bool) []float64 {
		x, calls := parameter(-1.2, 1), 0
		make := func() *optim.Optimizer {
			return optim.LBFGS([]*gotorch.Tensor{x}, 0.01, optim.LBFGSOptions{MaxIter: optim.Some(3), HistorySize: optim.Some(2)})
		}
		lbfgs := make()
		for step := range 6 {
			if resume && step == 3 {
				state, err := lbfgs.State()
				if err != nil {
					t.Fatal(err)
				}
				lbfgs = make()
				if err := lbfgs.LoadState(state); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := lbfgs.StepClosure(rosenbrock(lbfgs, x, &calls)); err != nil {
				t.Fatal(err)
			}
		}
		return gotorch.ToSlice[float64](x.Detach())
	}
	if straight, resumed := run(false), run(true); straight[0] != resumed[0] || straight[1] != resumed[1] || straight[0] == -1.2 {
		t.Error(straight, resumed)
	}
}

func TestClosuresThatFail(t *testing.T) {
	x := parameter(2)
	own := errors.New("my own")
	for _, o := range []*optim.Optimizer{optim.SGD([]*gotorch.Tensor{x}, 0.5), optim.LBFGS([]*gotorch.Tensor{x}, 1)} {
		_, err := o.StepClosure(func() (*gotorch.Tensor, error) { return nil, own })
		if !errors.Is(err, own) || !strings.Contains(err.Error(), "StepClosure") {
			t.Error(err)
		}
		_, err = o.StepClosure(func() (*gotorch.Tensor, error) { panic(own) })
		if !errors.Is(err, own) {
			t.Error(err)
		}
		_, err = o.StepClosure(func() (*gotorch.Tensor, error) { return nil, nil })
		if err == nil || !strings.Contains(err.Error(), "the closure gave nothing; it must give the loss") {
			t.Error(err)
		}
	}
	sgd := optim.SGD([]*gotorch.Tensor{x}, 0.5)
	loss, err := sgd.StepClosure(func() (*gotorch.Tensor, error) {
		loss := x.PowScalar(2).Sum()
		return loss, loss.Backward()
	})
	if err != nil || loss.Item() != 4 || x.Item() != 0 {
		t.Error(err, loss, x)
	}
	if err := optim.LBFGS([]*gotorch.Tensor{x}, 1).Step(); !errors.Is(err, gotorch.ErrUnsupported) || !strings.Contains(err.Error(), "closure") {
		t.Error(err)
	}
	err = gotorch.Try(func() { optim.LBFGS([]*gotorch.Tensor{x}, 1, optim.LBFGSOptions{LineSearchFn: "wolfe"}) })
	if err == nil || !strings.Contains(err.Error(), "optim.LBFGS: LineSearchFn is 'wolfe'") {
		t.Error(err)
	}
}
