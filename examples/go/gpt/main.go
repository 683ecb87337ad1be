// Gpt trains a small GPT of bytes on a text, on one process or many:
//
//	tandem run -n 2 -- gpt-go --data FILE --steps 1000
//
// It has what such training has: a tied head, AdamW with decay for matrices alone, a warm-up and a cosine, averaged weights,
// bfloat16 (--bf16), and several batches a step (--accumulate).
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
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

type settings struct {
	start.Flags
	layers, heads, width, length  int
	accumulate, steps, warmup     int
	every, sampled                int
	decay, dropout, average, clip float64
	bf16                          bool
}

func main() {
	s := settings{Flags: start.Flags{BatchSize: 16, LR: 1e-3}}
	flag.IntVar(&s.layers, "layers", 4, "blocks")
	flag.IntVar(&s.heads, "heads", 4, "of attention")
	flag.IntVar(&s.width, "width", 128, "of the residual stream, a multiple of --heads")
	flag.IntVar(&s.length, "length", 128, "bytes that the model sees")
	flag.IntVar(&s.accumulate, "accumulate", 1, "batches of a step, whose gradients are added up")
	flag.IntVar(&s.steps, "steps", 1000, "of the optimizer")
	flag.IntVar(&s.warmup, "warmup", 50, "steps in which the learning rate rises to --lr; then it falls to a tenth of it")
	flag.Float64Var(&s.clip, "clip", 1, "greatest norm of all gradients together; 0: any")
	flag.Float64Var(&s.decay, "decay", 0.1, "weight decay of matrices; biases and normalizations have none")
	flag.Float64Var(&s.dropout, "dropout", 0.1, "share of elements that are dropped while it trains")
	flag.Float64Var(&s.average, "average", 0.99, "decay of the averaged weights, which write at the end")
	flag.BoolVar(&s.bf16, "bf16", false, "compute in bfloat16 where that is exact enough (autocast)")
	flag.IntVar(&s.every, "every", 200, "steps from one report, and checkpoint, to the next")
	flag.IntVar(&s.sampled, "sample", 400, "bytes to write at the end")
	s.Main("FILE", "a text", s.run)
}

func (s *settings) run(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device) error {
	if min(s.layers, s.heads, s.width, s.length, s.accumulate, s.steps, s.every) < 1 || s.width%s.heads != 0 {
		return fmt.Errorf("--layers, --heads, --width, --length, --accumulate, --steps and --every must be above 0, " +
			"and --width a multiple of --heads")
	}
	if s.warmup < 0 || s.warmup >= s.steps {
		return fmt.Errorf("--warmup is %d; it must be less than --steps, %d", s.warmup, s.steps)
	}
	train, heldOut, err := openText(s.Data, s.length)
	if err != nil {
		return err
	}
	defer train.file.Close()
	t := &trainer{settings: s, group: group, device: device}
	if t.train, err = train.loader(group, device, data.Options{BatchSize: s.BatchSize, Seed: s.Seed, Tail: data.DropTail}); err != nil {
		return err
	}
	defer t.train.Close()
	if t.train.Len() == 0 {
		return fmt.Errorf("the %d windows of %s do not fill one batch of %d for each of %d ranks; choose a smaller --batch-size",
			train.Len(), s.Data, s.BatchSize, group.Size())
	}
	if t.heldOut, err = heldOut.loader(group, device, data.Options{BatchSize: s.BatchSize, Shuffle: gotorch.Some(false)}); err != nil {
		return err
	}
	defer t.heldOut.Close()

	t.net = NewGPT(s.layers, s.heads, s.width, s.length, s.dropout)
	nn.To(t.net, device)
	if t.model, err = dist.NewDDP(group, t.net, dist.DDPOptions{GradientAsBucketView: true}); err != nil {
		return err
	}
	defer t.model.Close()
	if t.optimizer, err = newOptimizer(t.net, s.LR, s.decay); err != nil {
		return err
	}
	t.schedule = newSchedule(t.optimizer, s.warmup, s.steps, s.LR/10)
	t.averages = optim.EMA(nn.Parameters(t.net), nil, s.average)

	state := checkpoint.State{Model: t.net, Optimizer: t.optimizer, Scheduler: t.schedule, Averages: t.averages, Loader: t.train,
		RNG: true}
	saves, err := s.Resume(ctx, group, &state, "steps", "warmup", "lr")
	if err != nil {
		return err
	}
	defer saves.Close()
	t.done = saves.Step
	err = t.trainAll(ctx, func() error {
		if err := t.report(ctx); err != nil {
			return err
		}
		return saves.Save(ctx, t.done, state)
	})
	if err != nil {
		return err
	}
	if err := saves.Wait(ctx); err != nil {
		return err
	}
	if group.Rank() == 0 {
		written, err := t.sample(s.sampled, 0.8)
		if err != nil {
			return err
		}
		fmt.Printf("written by the model:\n%s\n", start.Printable(written))
	}
	return start.CheckEqual(ctx, group, t.net)
}

// report prints how well the model does.
func (t *trainer) report(ctx context.Context) error {
	took := time.Since(t.since.begun)
	bits, err := start.Mean(ctx, t.group, t.device, t.since.bits/float64(t.since.steps))
	if err != nil {
		return err
	}
	heldOut, err := t.evaluate(ctx)
	if err != nil {
		return err
	}
	averaged := 0.0
	err = t.averaged(func() (err error) {
		averaged, err = t.evaluate(ctx)
		return err
	})
	if err == nil && t.group.Rank() == 0 {
		fmt.Printf("step %d/%d: %.3f bits per character, held out %.3f, by averaged weights %.3f; lr %.3g, %.0f characters/s\n", t.done,
			t.steps, bits, heldOut, averaged, t.optimizer.LR(), float64(t.since.steps*t.perStep())/took.Seconds())
	}
	return err
}
