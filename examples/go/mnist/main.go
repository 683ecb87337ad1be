// Mnist trains a convolutional network on handwritten digits, on one process or many:
//
//	tandem run -n 2 -- mnist-go --data FOLDER --epochs 5 --output results
//
// FOLDER holds MNIST's IDX files, plain or .gz, or train.recordio and test.recordio.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/examples/progress"
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

type settings struct {
	start.Flags
	output string
	epochs int
}

func main() {
	s := settings{Flags: start.Flags{BatchSize: 64, LR: 0.05}}
	flag.IntVar(&s.epochs, "epochs", 5, "passes over the training data; each takes 0.7 of the learning rate of the one before")
	flag.StringVar(&s.output, "output", ".", "folder for curve.png, digits.png and converted data")
	s.Main("FOLDER", "MNIST's IDX files, or train.recordio and test.recordio", s.run)
}

func (s *settings) run(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device) error {
	train, test, err := data.MNIST(ctx, s.Data, group, data.MNISTOptions{BatchSize: s.BatchSize, Seed: s.Seed,
		Cache: filepath.Join(s.output, "recordio")})
	if err != nil {
		return err
	}
	defer train.Close()
	defer test.Close()
	if train.Len() == 0 {
		return fmt.Errorf("the %d training digits do not fill one batch of %d for each of %d ranks; "+
			"choose a smaller --batch-size", train.Samples(), s.BatchSize, group.Size())
	}

	net := NewNet()
	nn.To(net, device)
	model, err := dist.NewDDP(group, net, dist.DDPOptions{GradientAsBucketView: true})
	if err != nil {
		return err
	}
	defer model.Close()
	optimizer := optim.SGD(nn.Parameters(net), s.LR, optim.SGDOptions{Momentum: 0.9})
	schedule := optim.ExponentialLR(optimizer, 0.7)
	state := checkpoint.State{Model: net, Optimizer: optimizer, Scheduler: schedule, RNG: true}
	saves, err := s.Resume(ctx, group, &state, "lr")
	if err != nil {
		return err
	}
	defer saves.Close()

	t := &trainer{settings: s, group: group, device: device, net: net, model: model, optimizer: optimizer}
	for epoch := saves.Step; epoch < s.epochs; epoch++ {
		title := fmt.Sprintf("epoch %d/%d", epoch+1, s.epochs)
		loss, err := t.epoch(ctx, title, train, epoch)
		if err != nil {
			return err
		}
		accuracy, err := t.evaluate(ctx, test)
		if err != nil {
			return err
		}
		t.curve.epoch(accuracy)
		if group.Rank() == 0 {
			fmt.Printf("%s: loss %.3f, test accuracy %.2f %%\n", title, loss, accuracy)
		}
		if err := schedule.Step(); err != nil {
			return err
		}
		if err := saves.Save(ctx, epoch+1, state); err != nil {
			return err
		}
	}
	if err := saves.Wait(ctx); err != nil {
		return err
	}
	if group.Rank() == 0 {
		if err := t.draw(ctx, s.output, test); err != nil {
			return err
		}
	}
	return start.CheckEqual(ctx, group, net)
}

type trainer struct {
	*settings
	group     *dist.ProcessGroup
	device    gotorch.Device
	net       *Net
	model     *dist.DDP
	optimizer *optim.Optimizer
	curve     curve
}

// epoch trains on all batches once and gives their mean loss over all ranks.
func (t *trainer) epoch(ctx context.Context, title string, loader *data.Loader, epoch int) (float64, error) {
	nn.Train(t.model)
	bar := progress.New(t.group, title, "samples", loader.Len())
	defer bar.Close()
	total := 0.0
	for batch, err := range gotorch.Scoped(loader.Epoch(ctx, epoch)) {
		if err != nil {
			return 0, err
		}
		images, labels := batch.Field("image").ToDevice(t.device), batch.Field("label").ToDevice(t.device)
		loss := F.CrossEntropy(t.model.Forward(images), labels)
		if err := t.optimizer.Minimize(loss); err != nil {
			return 0, err
		}
		value := loss.Item()
		if err := t.CheckLoss(value); err != nil {
			return 0, err
		}
		total += value
		t.curve.step(value)
		bar.Step(labels.Numel()*t.group.Size(), value)
	}
	return start.Mean(ctx, t.group, t.device, total/float64(loader.Len()))
}

// evaluate gives the percentage of test samples that are told right. Each rank takes its part of the test batches.
func (t *trainer) evaluate(ctx context.Context, test *data.Loader) (float64, error) {
	right := 0
	begin, end := test.Len()*t.group.Rank()/t.group.Size(), test.Len()*(t.group.Rank()+1)/t.group.Size()
	err := t.predict(ctx, test, begin, end, func(_ *data.Batch, _, correct *gotorch.Tensor) {
		right += correct.Sum().ItemInt()
	})
	if err != nil {
		return 0, err
	}
	all, err := start.Sums(ctx, t.group, t.device, float64(right))
	if err != nil {
		return 0, err
	}
	return 100 * all[0] / float64(max(test.Samples(), 1)), nil
}

// predict calls use with test batches [begin, end), what the network takes their digits for, and where it is right.
func (t *trainer) predict(ctx context.Context, test *data.Loader, begin, end int,
	use func(batch *data.Batch, predicted, correct *gotorch.Tensor)) error {
	nn.Eval(t.net)
	for batch, err := range gotorch.Scoped(test.EpochFrom(ctx, 0, begin)) {
		if err != nil {
			return err
		}
		if batch.Index >= end {
			break
		}
		gotorch.NoGrad(func() {
			predicted := t.net.Forward(batch.Field("image").ToDevice(t.device)).ArgMax(1).ToDevice(gotorch.CPU)
			use(batch, predicted, predicted.Eq(batch.Field("label")))
		})
	}
	return nil
}

func (t *trainer) draw(ctx context.Context, folder string, test *data.Loader) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := t.curve.draw(filepath.Join(folder, "curve.png")); err != nil {
		return err
	}
	var problem error
	err := t.predict(ctx, test, 0, 1, func(batch *data.Batch, predicted, _ *gotorch.Tensor) {
		problem = drawDigits(filepath.Join(folder, "digits.png"), gotorch.ToSlice[float32](batch.Field("image")),
			gotorch.ToSlice[int](predicted), gotorch.ToSlice[int](batch.Field("label")))
	})
	if err != nil {
		return err
	}
	return problem
}
