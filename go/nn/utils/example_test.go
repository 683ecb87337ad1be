package utils_test

import (
	"fmt"
	"log"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/nn/utils"
	"tandem.example/gotorch/optim"
)

// Gradients are clipped between backward and the step.
func ExampleClipGradNorm() {
	model := nn.NewLinear(2, 1)
	parameters := nn.Parameters(model)
	optimizer := optim.SGD(parameters, 0.1)
	optimizer.ZeroGrad()
	if err := model.Forward(gotorch.Full([]int{4, 2}, 100.0)).Sum().Backward(); err != nil {
		log.Fatal(err)
	}
	before := utils.ClipGradNorm(parameters, 1).Item()
	after := utils.GetTotalNorm([]*gotorch.Tensor{parameters[0].Grad(), parameters[1].Grad()}).Item()
	if err := optimizer.Step(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f, then %.1f\n", before, after)
	// Output: 565.7, then 1.0
}
