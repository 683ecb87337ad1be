package nn_test

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// Classifier is a module of one's own.
type Classifier struct {
	nn.Base
	Hidden *nn.Linear
	Out    *nn.Linear
}

func (c *Classifier) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return c.Out.Forward(c.Hidden.Forward(x).ReLU())
}

func Example() {
	model := &Classifier{Hidden: nn.NewLinear(4, 8), Out: nn.NewLinear(8, 3)}
	for _, one := range nn.NamedParameters(model) {
		fmt.Println(one.Name, one.Tensor.Shape())
	}
	fmt.Println(model.Forward(gotorch.Zeros([]int{5, 4})).Shape())
	// Output:
	// hidden.weight [8 4]
	// hidden.bias [8]
	// out.weight [3 8]
	// out.bias [3]
	// [5 3]
}
