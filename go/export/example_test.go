package export_test

import (
	"fmt"
	"log"

	"tandem.example/gotorch"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

func Example() {
	model, err := export.Load(files + "files/mlp.pt2")
	if err != nil {
		log.Fatal(err)
	}
	float64s := gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}
	x, targets := gotorch.Ones([]int{8, 6}, float64s), gotorch.Zeros([]int{8, 3}, float64s)
	sgd := optim.SGD(nn.Parameters(model), 0.1)
	for range 3 {
		if err := sgd.Minimize(F.MSELoss(model.Forward(x), targets)); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(model.Inputs()[0].Name, len(nn.State(model)), "tensors")
	// Output: x 6 tensors
}
