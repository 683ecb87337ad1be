package values

import (
	"errors"
	"os"
	"testing"

	"tandem.example/gotorch"
)

func TestLoadLibrary(t *testing.T) {
	for range 2 {
		if err := gotorch.LoadLibrary(os.Getenv("OPERATOR_EXTENSION")); err != nil {
			t.Fatal(err)
		}
	}
	x := gotorch.From([]float32{1, 2, 3}).SetRequiresGrad(true)
	results := gotorch.Call("tandem_test::scaled_sum", "", x, 10.0)
	sum := results[0].(*gotorch.Tensor)
	if sum.Item() != 60 || results[1] != 3 {
		t.Fatal(results)
	}
	if err := sum.Backward(); err != nil {
		t.Fatal(err)
	}
	if !x.Grad().Equal(gotorch.From([]float32{10, 10, 10})) {
		t.Fatal(x.Grad())
	}
	if err := gotorch.LoadLibrary("./no_such_library.so"); !errors.Is(err, gotorch.ErrNotFound) {
		t.Fatal(err)
	}
}
