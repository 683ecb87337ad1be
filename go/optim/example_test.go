package optim_test

import (
	"fmt"
	"log"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

func Example() {
	layer := nn.NewLinear(1, 1)
	adam := optim.Adam(nn.Parameters(layer), 0.1, optim.AdamOptions{Eps: optim.Some(1e-6)})
	x := gotorch.From([]float32{-1, 0, 1, 2}, 4, 1)
	for step := range gotorch.Steps(300) {
		if step == 200 {
			if err := adam.SetLR(0.01); err != nil {
				log.Fatal(err)
			}
		}
		loss := F.MSELoss(layer.Forward(x), x.MulScalar(3).AddScalar(1))
		if err := adam.Minimize(loss); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%.1f %.1f\n", layer.Weight.Item(), layer.Bias.Item())
	// Output: 3.0 1.0
}
