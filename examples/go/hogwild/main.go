// Hogwild trains a convolutional network on handwritten digits in several processes of one host at once, which all step on the
// same parameters, without locks and without waiting for each other:
//
//	tandem run -n 2 --shared-parameters -- hogwild-go --data FOLDER
//
// FOLDER holds MNIST's IDX files, plain or .gz, or train.recordio and test.recordio. The peer of PyTorch's mnist_hogwild.
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

var (
	folder    = flag.String("data", "", "`FOLDER` with MNIST's IDX files, or train.recordio and test.recordio")
	output    = flag.String("output", ".", "`FOLDER` for converted data")
	epochs    = flag.Int("epochs", 5, "passes of each process over its part of the training data")
	batchSize = flag.Int("batch-size", 64, "of each process")
	lr        = flag.Float64("lr", 0.02, "learning rate of each process, after the first epoch 0.7 of that before")
	seed      = flag.Uint64("seed", 1, "of all random numbers")
)

// net for digits of 28 by 28 pixels.
type net struct {
	nn.Base
	Conv1, Conv2 *nn.Conv2d
	Pool         *nn.MaxPool2d
	FC1, FC2     *nn.Linear
}

func newNet() *net {
	return &net{Conv1: nn.NewConv2d(1, 16, 5), Conv2: nn.NewConv2d(16, 32, 5), Pool: nn.NewMaxPool2d(2),
		FC1: nn.NewLinear(32*4*4, 128), FC2: nn.NewLinear(128, 10)}
}

// Forward maps images [batch, 1, 28, 28] to a score for each digit [batch, 10].
func (n *net) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = n.Pool.Forward(n.Conv1.Forward(x).ReLU())
	x = n.Pool.Forward(n.Conv2.Forward(x).ReLU())
	return n.FC2.Forward(n.FC1.Forward(x.Flatten(1, -1)).ReLU())
}

// sharers are the processes of this launch. They meet nowhere but in the parameters: process 0 shares them once it has converted the
// digits, and the others wait for that. One that is started again, later, waits for nobody.
type sharers struct{ model nn.Module }

func (sharers) Rank() int { return dist.Rank() }
func (sharers) Size() int { return dist.WorldSize() }
func (s sharers) Barrier(context.Context) error {
	_, err := nn.ShareParameters(s.model)
	return err
}

func main() {
	flag.Parse()
	dist.Main(run)
}

func run(ctx context.Context) error {
	if err := gotorch.ManualSeed(*seed + uint64(dist.Rank())); err != nil {
		return err
	}
	model := newNet()
	train, test, err := data.MNIST(ctx, *folder, sharers{model}, data.MNISTOptions{BatchSize: *batchSize, Seed: *seed, Cache: *output})
	if err != nil {
		return err
	}
	defer train.Close()
	defer test.Close()
	// This process's own, as its momentum is.
	optimizer := optim.SGD(nn.Parameters(model), *lr, optim.SGDOptions{Momentum: 0.9})
	schedule := optim.ExponentialLR(optimizer, 0.7)
	for epoch := range *epochs {
		total := 0.0
		for batch, err := range gotorch.Scoped(train.Epoch(ctx, epoch)) {
			if err != nil {
				return err
			}
			loss := F.CrossEntropy(model.Forward(batch.Field("image")), batch.Field("label"))
			if err := optimizer.Minimize(loss); err != nil {
				return err
			}
			total += loss.Item()
		}
		accuracy, err := evaluate(ctx, model, test)
		if err != nil {
			return err
		}
		fmt.Printf("process %d, epoch %d/%d: loss %.3f, test accuracy %.2f %%\n", dist.Rank(), epoch+1, *epochs,
			total/float64(max(train.Len(), 1)), accuracy)
		if err := schedule.Step(); err != nil {
			return err
		}
	}
	return nil
}

// evaluate gives the percentage of test samples that are told right, by parameters that others may be changing.
func evaluate(ctx context.Context, model *net, test *data.Loader) (float64, error) {
	right := 0
	for batch, err := range gotorch.Scoped(test.Epoch(ctx, 0)) {
		if err != nil {
			return 0, err
		}
		gotorch.NoGrad(func() {
			right += model.Forward(batch.Field("image")).ArgMax(1).Eq(batch.Field("label")).Sum().ItemInt()
		})
	}
	return 100 * float64(right) / float64(max(test.Samples(), 1)), nil
}
