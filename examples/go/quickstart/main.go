// Quickstart trains a network on MNIST with as many processes as the launcher starts:
//
//	tandem run -n 2 -- quickstart-go FOLDER
package main

import (
	"context"
	"flag"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

func train(ctx context.Context, group *dist.ProcessGroup) error {
	digits, test, err := data.MNIST(ctx, flag.Arg(0), group, data.MNISTOptions{BatchSize: 64})
	if err != nil {
		return err
	}
	defer digits.Close()
	defer test.Close()
	net := nn.NewSequential(nn.NewFlatten(), nn.NewLinear(28*28, 128), nn.NewReLU(), nn.NewLinear(128, 10))
	model, err := dist.NewDDP(group, net)
	if err != nil {
		return err
	}
	defer model.Close()
	sgd := optim.SGD(nn.Parameters(net), 0.05, optim.SGDOptions{Momentum: 0.9})
	for epoch := range 5 {
		for batch, err := range gotorch.Scoped(digits.Epoch(ctx, epoch)) {
			if err != nil {
				return err
			}
			loss := F.CrossEntropy(model.Forward(batch.Field("image")), batch.Field("label"))
			if err := sgd.Minimize(loss); err != nil {
				return err
			}
			if batch.Index == digits.Len()-1 {
				fmt.Printf("rank %d, epoch %d: loss %.3f\n", group.Rank(), epoch+1, loss.Item())
			}
		}
	}
	return nil
}

func main() {
	flag.Parse()
	dist.Run(train)
}
