package gotorch_test

import (
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
