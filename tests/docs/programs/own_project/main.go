package main

import (
	"context"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

func train(ctx context.Context, group *dist.ProcessGroup) error {
	layer := nn.NewLinear(2, 1)
	model, err := dist.NewDDP(group, layer)
	if err != nil {
		return err
	}
	defer model.Close()
	sgd := optim.SGD(nn.Parameters(layer), 0.5)
	for range gotorch.Steps(300) {
		x := gotorch.Rand([]int{16, 2})
		loss := model.Forward(x).Sub(x.SumDim([]int{1}, gotorch.SumDimOptions{KeepDim: true})).Square().Mean()
		if err := sgd.Minimize(loss); err != nil {
			return err
		}
	}
	fmt.Printf("rank %d of %d: %.1f\n", group.Rank(), group.Size(), gotorch.ToSlice[float32](layer.Weight))
	return nil
}

func main() { dist.Run(train) }
