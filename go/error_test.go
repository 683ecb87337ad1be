package gotorch_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

func TestErrorsNameTheOperatorOnce(t *testing.T) {
	add := func() *gotorch.Error {
		return wantPanic(t, gotorch.ErrInvalidArgument, func() {
			gotorch.From([]float32{1, 2}).Add(gotorch.From([]float32{1, 2, 3}))
		})
	}
	err := add()
	if err.Op != "aten::add.Tensor" || !strings.HasPrefix(err.Message, "The size of tensor a (2)") {
		t.Errorf("%q, %q", err.Op, err.Message)
	}
	if text := err.Error(); strings.Count(text, "aten::add") != 1 || strings.Contains(text, "frame #") {
		t.Error(text)
	}
	t.Setenv("TANDEM_BACKTRACE", "1")
	if text := add().Error(); !strings.Contains(text, "frame #") {
		t.Error("no C++ stack in", text)
	}
}

func TestErrorsNameGosFunctions(t *testing.T) {
	half := gotorch.From([]float32{0.5})
	x := gotorch.Ones([]int{1}).SetRequiresGrad(true)
	y := x.Exp()
	if err := y.Backward(); err != nil {
		t.Fatal(err)
	}
	for want, body := range map[string]func(){
		"read it with Tensor.Item":    func() { half.ItemInt() },
		"gotorch.BFloat16":            func() { gotorch.Autocast(gotorch.CPU, gotorch.Float64, func() {}) },
		"BackwardOptions.RetainGraph": func() { panic(y.Backward()) },
		"Tensor.Reshape":              func() { gotorch.Ones([]int{2, 3}).T().View(6) },
		"GradOptions.AllowUnused": func() {
			_, err := gotorch.Grad([]*gotorch.Tensor{x.Exp()}, []*gotorch.Tensor{gotorch.Ones([]int{1}).SetRequiresGrad(true)})
			panic(err)
		},

		"gotorch: Open: ": func() { _, _, err := gotorch.Open(filepath.Join(t.TempDir(), "none")); panic(err) },
		"gotorch: Tensor.SetRequiresGrad": func() {
			gotorch.Ones([]int{1}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Int64)}).SetRequiresGrad(true)
		},
	} {
		err := gotorch.Try(body)
		var ours *gotorch.Error
		if !errors.As(err, &ours) {
			t.Fatal(want, err)
		}
		for _, foreign := range []string{"tdm_", "TDM_", "=True", "()"} {
			if strings.Contains(err.Error(), foreign) {
				t.Errorf("%q in %q", foreign, err)
			}
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %q", want, err)
		}
	}
}
