// Finetune goes on training a classifier of pictures that Python exported, on one process or many, and writes archives that
// Python opens:
//
//	python export.py exported --classes 3
//	tandem run -n 2 -- finetune-go --model exported/train.pt2 --eval exported/eval.pt2 --data data --freeze layer --output tuned
//
// The data folder is that of the example resnet.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/examples/pictures"
	"tandem.example/gotorch/examples/progress"
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

type settings struct {
	start.Flags
	model, eval, freeze, output string
	epochs, threads             int
}

func main() {
	s := settings{Flags: start.Flags{BatchSize: 32, LR: 0.01}}
	flag.StringVar(&s.model, "model", "", "`FILE.pt2` that Python exported in training mode")
	flag.StringVar(&s.eval, "eval", "", "`FILE.pt2` of the same model in evaluation mode; without it nothing is tested")
	flag.StringVar(&s.freeze, "freeze", "", "`PREFIX` of the parameters that stay as they are")
	flag.StringVar(&s.output, "output", "", "`FOLDER` for what was trained: train.pt2, and with --eval eval.pt2")
	flag.IntVar(&s.epochs, "epochs", 5, "passes over the training pictures; the learning rate falls along half a cosine")
	flag.IntVar(&s.threads, "threads", 2, "that decode pictures, of each rank")
	s.Main("FOLDER", "train.recordio and test.recordio", s.run)
}

func (s *settings) run(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device) error {
	if s.epochs < 1 {
		return fmt.Errorf("--epochs must be above 0")
	}
	program, height, width, err := load(s.model, s.eval)
	if err != nil {
		return err
	}
	trained, err := freeze(program, s.freeze)
	if err != nil {
		return err
	}
	nn.To(program, device)
	t := &trainer{settings: s, group: group, device: device, program: program}
	var names []string
	t.train, t.test, names, err = pictures.Open(s.Data, group, pictures.Options{Height: height, Width: width, BatchSize: s.BatchSize,
		Threads: s.threads, Seed: s.Seed, Device: device})
	if err != nil {
		return err
	}
	defer t.train.Close()
	defer t.test.Close()
	t.classes = len(names)

	if t.ddp, err = dist.NewDDP(group, program, dist.DDPOptions{GradientAsBucketView: true}); err != nil {
		return err
	}
	defer t.ddp.Close()
	t.optimizer = optim.SGD(trained, s.LR, optim.SGDOptions{Momentum: 0.9})
	schedule := optim.CosineAnnealingLR(t.optimizer, s.epochs)
	state := checkpoint.State{Model: program, Optimizer: t.optimizer, Scheduler: schedule, RNG: true}
	saves, err := s.Resume(ctx, group, &state, "epochs", "lr", "freeze")
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
	if group.Rank() == 0 && s.output != "" {
		if err := s.save(program); err != nil {
			return err
		}
	}
	return start.CheckEqual(ctx, group, program)
}

// save writes archives that torch.export.load opens in Python.
func (s *settings) save(program *export.Program) error {
	if err := os.MkdirAll(s.output, 0o755); err != nil {
		return err
	}
	nn.Train(program)
	err := program.Save(filepath.Join(s.output, "train.pt2"))
	if err == nil && s.eval != "" {
		nn.Eval(program)
		err = program.Save(filepath.Join(s.output, "eval.pt2"))
	}
	return err
}

type trainer struct {
	*settings
	group       *dist.ProcessGroup
	device      gotorch.Device
	classes     int
	train, test *data.Loader
	program     *export.Program
	ddp         *dist.DDP
	optimizer   *optim.Optimizer
}

// epoch trains on all batches once, and prints how well the model does then.
func (t *trainer) epoch(ctx context.Context, title string, epoch int) error {
	nn.Train(t.ddp)
	bar := progress.New(t.group, title, "pictures", t.train.Len())
	defer bar.Close()
	total, seen, begun := 0.0, 0, time.Now()
	for batch, err := range gotorch.Scoped(t.train.Epoch(ctx, epoch)) {
		if err != nil {
			return err
		}
		scores := t.ddp.Forward(batch.Field("image"))
		if scores.Dim() != 2 || scores.Size(1) < t.classes {
			return fmt.Errorf("%s gives %v for %d pictures; it must give a score for each of the %d classes of --data", t.model,
				scores.Shape(), batch.Count, t.classes)
		}
		loss := F.CrossEntropy(scores, batch.Field("label"))
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
	for _, buffer := range nn.Buffers(t.program) { // each rank has normalized batches of its own: rank 0's means count
		if err := t.group.Broadcast(ctx, buffer, 0); err != nil {
			return err
		}
	}
	accuracy := ""
	if t.eval != "" {
		percent, err := t.evaluate(ctx)
		if err != nil {
			return err
		}
		accuracy = fmt.Sprintf(", test accuracy %.2f %%", percent)
	}
	if t.group.Rank() == 0 {
		fmt.Printf("%s: loss %.3f%s, %.1f pictures/s\n", title, loss, accuracy, rate)
	}
	return nil
}

// evaluate gives the percentage of test pictures that are told right. Each rank takes its part of each batch.
func (t *trainer) evaluate(ctx context.Context) (float64, error) {
	nn.Eval(t.program)
	right := 0.0
	for batch, err := range gotorch.Scoped(t.test.Epoch(ctx, 0)) {
		if err != nil {
			return 0, err
		}
		if batch.Count > 0 { // of the last batch some ranks may have nothing
			gotorch.NoGrad(func() {
				right += t.program.Forward(batch.Field("image")).ArgMax(1).Eq(batch.Field("label")).Sum().Item()
			})
		}
	}
	all, err := start.Sums(ctx, t.group, t.device, right)
	if err != nil {
		return 0, err
	}
	return 100 * all[0] / float64(max(t.test.Samples(), 1)), nil
}
