package gotorch_test

import (
	"errors"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

func TestGrad(t *testing.T) {
	gotorch.Scope(func() {
		x, y, unused := parameter(3), parameter(5), parameter(7)
		tensors := func(list ...*gotorch.Tensor) []*gotorch.Tensor { return list }
		out := x.Mul(x).Mul(x).Mul(y)

		first, err := gotorch.Grad(tensors(out), tensors(x, y), gotorch.GradOptions{CreateGraph: true})
		if err != nil {
			t.Fatal(err)
		}
		if first[0].Item() != 135 || first[1].Item() != 27 || x.Grad() != nil {
			t.Fatal(first, x.Grad())
		}
		second, err := gotorch.Grad(tensors(first[0]), tensors(x, y), gotorch.GradOptions{RetainGraph: true})
		if err != nil || second[0].Item() != 90 || second[1].Item() != 27 {
			t.Fatal(second, err)
		}
		// A second pass over a graph that was kept, then one over it after that.
		if _, err = gotorch.Grad(tensors(first[0]), tensors(x)); err != nil {
			t.Fatal(err)
		}
		if _, err = gotorch.Grad(tensors(first[0]), tensors(x)); err == nil || !strings.Contains(err.Error(), "second time") {
			t.Fatal(err)
		}

		_, err = gotorch.Grad(tensors(x.MulScalar(2)), tensors(x, unused))
		if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "not have been used") {
			t.Fatal(err)
		}
		some, err := gotorch.Grad(tensors(x.MulScalar(2)), tensors(x, unused), gotorch.GradOptions{AllowUnused: true})
		if err != nil || some[0].Item() != 2 || some[1] != nil {
			t.Fatal(some, err)
		}

		// Several outputs, with gradients of their own.
		wide := parameter(1, 2)
		sum, err := gotorch.Grad(tensors(wide.MulScalar(2), wide.MulScalar(3).Sum()), tensors(wide),
			gotorch.GradOptions{GradOutputs: tensors(gotorch.From([]float32{10, 100}), nil)})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, gotorch.ToSlice[float32](sum[0]), []float32{23, 203})
		if _, err = gotorch.Grad(tensors(wide), tensors(wide), gotorch.GradOptions{GradOutputs: tensors(nil, nil)}); !errors.Is(err, gotorch.ErrInvalidArgument) {
			t.Fatal(err)
		}
		if _, err = gotorch.Grad(tensors(wide.MulScalar(2)), tensors(wide)); err == nil || !strings.Contains(err.Error(), "only a scalar") {
			t.Fatal(err)
		}
	})
}
