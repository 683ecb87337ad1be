// Resnet trains ResNet-18 on pictures in RecordIO files, on one process or many:
//
//	tandem record import photos/train -o data/train.recordio --version 2
//	tandem record import photos/test -o data/test.recordio --version 2
//	tandem run -n 2 -- resnet-go --data data --epochs 30
//
// The folders have one folder a class: train/CLASS/NAME.jpg.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/examples/pictures"
	"tandem.example/gotorch/examples/progress"
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

type settings struct {
	start.Flags
	epochs, size, threads int
	decay                 float64
	syncBN                bool
}

func main() {
	s := settings{Flags: start.Flags{BatchSize: 32, LR: 0.05}}
	flag.IntVar(&s.epochs, "epochs", 30, "passes over the training pictures; the learning rate falls along half a cosine")
	flag.IntVar(&s.size, "size", 224, "height and width of what the network sees")
	flag.IntVar(&s.threads, "threads", 2, "that decode pictures, of each rank")
	flag.Float64Var(&s.decay, "decay", 1e-4, "weight decay")
	flag.BoolVar(&s.syncBN, "sync-bn", false, "normalize over the batches of all ranks together")
	s.Main("FOLDER", "train.recordio and test.recordio", s.run)
}

func (s *settings) run(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device) error {
	if min(s.epochs, s.size) < 1 {
		return fmt.Errorf("--epochs and --size must be above 0")
	}
	t := &trainer{settings: s, group: group, device: device}
	train, test, names, err := pictures.Open(s.Data, group, pictures.Options{Height: s.size, Width: s.size, BatchSize: s.BatchSize,
		Threads: s.threads, Seed: s.Seed, Device: device})
	if err != nil {
		return err
	}
	defer train.Close()
	defer test.Close()
	t.train, t.test = train, test

	t.net = NewResNet18(len(names))
	nn.To(t.net, device)
	if s.syncBN {
		if _, err := dist.ConvertSyncBatchNorm(group, t.net); err != nil {
			return err
		}
	}
	if t.model, err = dist.NewDDP(group, t.net, dist.DDPOptions{GradientAsBucketView: true}); err != nil {
		return err
	}
	defer t.model.Close()
	t.optimizer = optim.SGD(nn.Parameters(t.net), s.LR, optim.SGDOptions{Momentum: 0.9, WeightDecay: s.decay})

	schedule := optim.CosineAnnealingLR(t.optimizer, s.epochs)
	state := checkpoint.State{Model: t.net, Optimizer: t.optimizer, Scheduler: schedule, RNG: true}
	saves, err := s.Resume(ctx, group, &state, "epochs", "lr")
	if err != nil {
		return err
	}
	defer saves.Close()
	for epoch := saves.Step; epoch < s.epochs; epoch++ {
		if err := t.epoch(ctx, fmt.Sprintf("epoch %d/%d", epoch+1, s.epochs), epoch); err != nil {
			return err
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
	return start.CheckEqual(ctx, group, t.net)
}

type trainer struct {
	*settings
	group       *dist.ProcessGroup
	device      gotorch.Device
	train, test *data.Loader
	net         *ResNet18
	model       *dist.DDP
	optimizer   *optim.Optimizer
}

// epoch trains on all batches once, and prints how well the network does then.
func (t *trainer) epoch(ctx context.Context, title string, epoch int) error {
	nn.Train(t.model)
	bar := progress.New(t.group, title, "pictures", t.train.Len())
	defer bar.Close()
	total, seen, begun := 0.0, 0, time.Now()
	for batch, err := range gotorch.Scoped(t.train.Epoch(ctx, epoch)) {
		if err != nil {
			return err
		}
		loss := F.CrossEntropy(t.model.Forward(batch.Field("image")), batch.Field("label"))
		if err := t.optimizer.Minimize(loss); err != nil {
			return err
		}
		value := loss.Item()
		if err := t.CheckLoss(value); err != nil {
			return err
		}
		total += value
		seen += batch.GlobalCount
		bar.Step(batch.GlobalCount, value)
	}
	rate := float64(seen) / time.Since(begun).Seconds()
	loss, err := start.Mean(ctx, t.group, t.device, total/float64(t.train.Len()))
	if err != nil {
		return err
	}
	accuracy, err := t.evaluate(ctx)
	if err == nil && t.group.Rank() == 0 {
		fmt.Printf("%s: loss %.3f, test accuracy %.2f %%, %.1f pictures/s\n", title, loss, accuracy, rate)
	}
	return err
}

// evaluate gives the percentage of test pictures that are told right. Each rank takes its part of each batch.
func (t *trainer) evaluate(ctx context.Context) (float64, error) {
	nn.Eval(t.net)
	for _, buffer := range nn.Buffers(t.net) { // each rank has normalized batches of its own: rank 0's means count
		if err := t.group.Broadcast(ctx, buffer, 0); err != nil {
			return 0, err
		}
	}
	right := 0.0
	for batch, err := range gotorch.Scoped(t.test.Epoch(ctx, 0)) {
		if err != nil {
			return 0, err
		}
		if batch.Count > 0 { // of the last batch some ranks may have nothing
			gotorch.NoGrad(func() {
				right += t.net.Forward(batch.Field("image")).ArgMax(1).Eq(batch.Field("label")).Sum().Item()
			})
		}
	}
	all, err := start.Sums(ctx, t.group, t.device, right)
	if err != nil {
		return 0, err
	}
	return 100 * all[0] / float64(max(t.test.Samples(), 1)), nil
}
