// Trains on MNIST's digits where gradients are exchanged, and the optimizer steps, only every so many batches. Rank 0
// reports the loss of each batch, over all ranks.
//
//	tandem run -n 2 -- bench-skipped-sync --data FOLDER --every 4 --batches 400
package main

import (
	"context"
	"flag"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/bench/program"
	"tandem.example/gotorch/bench/rankreport"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

var (
	folder    = flag.String("data", "", "folder of MNIST's IDX files")
	cache     = flag.String("cache", "", "folder for the RecordIO files made of them")
	every     = flag.Int("every", 1, "batches from one exchange of gradients to the next")
	batches   = flag.Int("batches", 400, "to train on")
	batchSize = flag.Int("batch-size", 32, "a rank")
	lr        = flag.Float64("lr", 0.05, "learning rate")
)

type net struct {
	nn.Base
	Conv           *nn.Conv2d
	Hidden, Output *nn.Linear
}

func (n *net) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = F.MaxPool2d(F.ReLU(n.Conv.Forward(x)), []int{2, 2})
	return n.Output.Forward(F.ReLU(n.Hidden.Forward(x.Flatten(1, -1))))
}

func main() {
	backend := "shm"
	program.Ranks(&backend, run)
}

func run(ctx context.Context, group *dist.ProcessGroup) error {
	if *every < 1 {
		return fmt.Errorf("--every %d: give 1 or more", *every)
	}
	train, test, err := data.MNIST(ctx, *folder, group, data.MNISTOptions{BatchSize: *batchSize, Seed: 1, Cache: *cache})
	if err != nil {
		return err
	}
	defer train.Close()
	defer test.Close()
	if err := gotorch.ManualSeed(1); err != nil {
		return err
	}
	model := &net{Conv: nn.NewConv2d(1, 16, 3), Hidden: nn.NewLinear(16*13*13, 64), Output: nn.NewLinear(64, 10)}
	ddp, err := dist.NewDDP(group, model, dist.DDPOptions{GradientAsBucketView: true})
	if err != nil {
		return err
	}
	defer ddp.Close()
	optimizer := optim.SGD(nn.Parameters(model), *lr, optim.SGDOptions{Momentum: 0.9})

	var losses []float64
	for epoch := 0; len(losses) < *batches; epoch++ {
		for batch, err := range gotorch.Scoped(train.Epoch(ctx, epoch)) {
			if err != nil {
				return err
			}
			var loss *gotorch.Tensor
			backward := func() error {
				loss = F.CrossEntropy(ddp.Forward(batch.Field("image")), batch.Field("label"))
				return loss.DivScalar(float64(*every)).Backward()
			}
			if (len(losses)+1)%*every != 0 {
				err = ddp.NoSync(backward)
			} else if err = backward(); err == nil {
				if err = optimizer.Step(); err == nil {
					optimizer.ZeroGrad()
				}
			}
			if err != nil {
				return err
			}
			mean := loss.Detach()
			if err := group.AllReduce(ctx, mean, dist.Avg); err != nil {
				return err
			}
			if losses = append(losses, mean.Item()); len(losses) == *batches {
				break
			}
		}
	}
	return rankreport.Write(group.Rank(), map[string]any{"losses": losses})
}
