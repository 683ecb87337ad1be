package gotorch_test

import (
	"errors"
	"sync"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

func TestScopesThatGiveSomething(t *testing.T) {
	before := gotorch.LiveCounts()["tensor"]
	reason := errors.New("no more digits")
	if err := gotorch.TryScope(func() error { gotorch.Ones([]int{1}); return reason }); err != reason {
		t.Fatal(err)
	}
	if err := gotorch.TryScope(func() error { gotorch.Ones([]int{2}).Add(gotorch.Ones([]int{3})); return nil }); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal(err)
	}
	if err := gotorch.TryScope(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	one := gotorch.InScope(func() *gotorch.Tensor { return gotorch.Ones([]int{2}).MulScalar(3) })
	two := gotorch.InScope(func() []*gotorch.Tensor { return []*gotorch.Tensor{gotorch.Ones([]int{1}), nil} })
	if one.Sum().Item() != 6 || two[0].Item() != 1 || gotorch.InScope(func() int { return 7 }) != 7 {
		t.Fatal("what a body gives does not outlive the scope")
	}
	gotorch.Scope(func() { // what is of another scope stays there
		x := gotorch.Ones([]int{1})
		gotorch.Scope(func() { gotorch.InScope(func() *gotorch.Tensor { return x }) })
	})
	last := 0
	for step := range gotorch.Steps(10) {
		gotorch.Ones([]int{1})
		if last = step; step == 4 {
			break
		}
	}
	for range gotorch.Steps(3) {
		gotorch.Ones([]int{1})
	}
	if last != 4 {
		t.Fatal(last)
	}
	one.Close()
	two[0].Close()
	if after := gotorch.LiveCounts()["tensor"]; after > before+2 { // the sum and the number, until they are collected
		t.Fatalf("%d tensors before, %d after", before, after)
	}
}

func TestInferGivesValuesAndErrors(t *testing.T) {
	model := nn.NewLinear(2, 3)
	y, err := gotorch.Infer(func() (*gotorch.Tensor, error) { return model.Forward(gotorch.Ones([]int{4, 2})), nil })
	if err != nil || y.RequiresGrad() || y.Size(1) != 3 {
		t.Fatal(y, err)
	}
	for _, body := range []func() (*gotorch.Tensor, error){
		func() (*gotorch.Tensor, error) { return model.Forward(gotorch.Ones([]int{4, 5})), nil },
		func() (*gotorch.Tensor, error) {
			return y, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "request", Message: "no picture"}
		},
	} {
		if y, err := gotorch.Infer(body); y != nil || !errors.Is(err, gotorch.ErrInvalidArgument) {
			t.Fatal(y, err)
		}
	}
	if gotorch.IsInferenceMode() {
		t.Fatal("inference mode did not end")
	}
}

// One model serves many requests at a time.
func TestConcurrentInference(t *testing.T) {
	model := nn.NewSequential(nn.NewLinear(8, 32), nn.NewReLU(), nn.NewDropout(0.5), nn.NewLinear(32, 4))
	nn.Eval(model)
	inputs, want := make([]*gotorch.Tensor, 64), make([]*gotorch.Tensor, 64)
	for i := range inputs {
		inputs[i] = gotorch.Rand([]int{3, 8})
		want[i] = model.Forward(inputs[i]).Detach()
	}
	before := gotorch.LiveCounts()["tensor"]
	var requests sync.WaitGroup
	for i := range inputs {
		requests.Go(func() {
			for range 10 {
				same, err := gotorch.Infer(func() (bool, error) { return model.Forward(inputs[i]).AllClose(want[i]), nil })
				if err != nil || !same {
					t.Errorf("request %d: %v, %v", i, same, err)
				}
			}
		})
	}
	requests.Wait()
	if after := gotorch.LiveCounts()["tensor"]; after > before {
		t.Errorf("%d tensors before, %d after", before, after)
	}
}
