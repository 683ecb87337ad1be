package nn_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// Of one process, whose modules share; of several see examples/go/hogwild.
func TestShareParameters(t *testing.T) {
	first, second := nn.NewLinear(3, 2), nn.NewLinear(3, 2)
	optimizer := optim.SGD(nn.Parameters(first), 1) // before it is shared
	name := nn.ShareOptions{Name: t.Name(), Timeout: time.Second}
	if made, err := nn.ShareParameters(first, name); err != nil || !made {
		t.Fatal(made, err)
	}
	if made, err := nn.ShareParameters(second, name); err != nil || made {
		t.Fatal(made, err)
	}
	if !second.Weight.Equal(first.Weight) {
		t.Fatal("the second one has values of its own")
	}
	before := second.Weight.Sum().Item()
	first.Forward(gotorch.Ones([]int{1, 3})).Sum().Backward()
	if err := optimizer.Step(); err != nil {
		t.Fatal(err)
	}
	if after := second.Weight.Sum().Item(); after > before-5.9 || after < before-6.1 {
		t.Fatalf("a step of the first one took the second one's weights from %v to %v", before, after)
	}
	if second.Weight.Grad() != nil {
		t.Fatal("gradients are shared")
	}
	_, err := nn.ShareParameters(nn.NewLinear(4, 2), name)
	var failed *gotorch.Error
	if !errors.As(err, &failed) || failed.Op != "nn.ShareParameters" || !strings.Contains(failed.Message, "here weight: Float of sizes [2, 4]") {
		t.Fatal(err)
	}
}
