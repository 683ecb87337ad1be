package initialize_test

import (
	"fmt"
	"strings"

	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/nn/initialize"
)

// Biases begin at zero, and weights for layers that ReLU follows.
func Example() {
	model := nn.NewSequential(nn.NewLinear(4, 8), nn.NewReLU(), nn.NewLinear(8, 2))
	for _, one := range nn.NamedParameters(model) {
		if strings.HasSuffix(one.Name, "bias") {
			initialize.Zeros(one.Tensor)
		} else {
			initialize.KaimingUniform(one.Tensor, initialize.KaimingUniformOptions{Nonlinearity: "relu"})
		}
	}
	fmt.Println(nn.Parameters(model)[1].Abs().Sum().Item())
	// Output: 0
}
