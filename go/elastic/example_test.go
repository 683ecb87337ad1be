package elastic_test

import (
	"context"
	"fmt"
	"log"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/elastic"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// A program's main calls this within dist.Main; `tandem run -n 4 --max-restarts 10` starts it.
func Example() {
	train := func(ctx context.Context) error {
		net := nn.NewLinear(4, 1)
		sgd := optim.SGD(nn.Parameters(net), 0.1)
		state := checkpoint.State{Model: net, Optimizer: sgd}
		_, err := elastic.Run(ctx, &state, func(ctx context.Context, job *elastic.Job) error {
			model, err := dist.NewDDP(job.Group(), net)
			if err != nil {
				return err
			}
			defer model.Close()
			for job.Steps() < 3 {
				x := gotorch.Rand([]int{8, 4}) // this rank's part of the batch
				if err := sgd.Minimize(model.Forward(x).Square().Mean()); err != nil {
					return err
				}
				if err := job.Step(); err != nil {
					return err
				}
			}
			fmt.Println(job.Steps(), "steps on", job.Size(), "rank")
			return nil
		}, elastic.Options{Backend: "gloo"})
		return err
	}
	if err := train(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output: 3 steps on 1 rank
}
