package main

import (
	"context"
	"errors"
	"math"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/examples/progress"
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/nn/utils"
	"tandem.example/gotorch/optim"
)

type trainer struct {
	*settings
	group          *dist.ProcessGroup
	device         gotorch.Device
	train, heldOut *data.Loader
	net            *GPT
	model          *dist.DDP
	optimizer      *optim.Optimizer
	schedule       *optim.LRScheduler
	averages       *optim.Averages
	bar            *progress.Bar
	done           int     // steps of the optimizer
	micro          int     // batches whose gradients wait for their step
	since          measure // the last report
}

// measure is what came of some steps.
type measure struct {
	bits  float64 // per character, a sum over batches
	steps int
	begun time.Time
}

// trainAll goes on to the last step; report is called after every so many, and after the last.
func (t *trainer) trainAll(ctx context.Context, report func() error) error {
	t.bar = progress.New(t.group, "training", "characters", t.steps-t.done)
	defer t.bar.Close()
	t.since = measure{begun: time.Now()}
	for epoch := t.train.CurrentEpoch(); t.done < t.steps; epoch++ {
		for batch, err := range gotorch.Scoped(t.train.Epoch(ctx, epoch)) {
			if err != nil {
				return err
			}
			stepped, err := t.batch(batch)
			if err != nil {
				return err
			}
			if stepped && (t.done%t.every == 0 || t.done == t.steps) {
				if err := report(); err != nil {
					return err
				}
				t.since = measure{begun: time.Now()}
			}
			if t.done == t.steps {
				break
			}
		}
	}
	return nil
}

// batch adds a batch's gradients to those that wait, and with the last of them makes a step, which is the only one that
// ranks exchange gradients for.
func (t *trainer) batch(batch *data.Batch) (stepped bool, err error) {
	nn.Train(t.net)
	if t.micro == 0 {
		if err := t.optimizer.ZeroGrad(); err != nil {
			return false, err
		}
	}
	var bits float64
	backward := func() error {
		loss := t.loss(t.model.Forward, batch)
		bits = loss.Item() / math.Ln2
		return loss.DivScalar(float64(t.accumulate)).Backward()
	}
	t.micro++
	stepped = t.micro == t.accumulate
	if stepped {
		err = backward()
	} else {
		err = t.model.NoSync(backward)
	}
	if err != nil {
		return false, err
	}
	if err := t.CheckLoss(bits); err != nil {
		return false, err
	}
	t.since.bits += bits / float64(t.accumulate)
	if !stepped {
		return false, nil
	}
	t.micro = 0
	if t.clip > 0 {
		utils.ClipGradNorm(nn.Parameters(t.net), t.clip)
	}
	if err := errors.Join(t.optimizer.Step(), t.schedule.Step(), t.averages.Update(), t.train.Commit()); err != nil {
		return false, err
	}
	t.done++
	t.since.steps++
	t.bar.Step(t.perStep(), bits)
	return true, nil
}

// perStep is the number of bytes that all ranks learn from in a step.
func (t *trainer) perStep() int { return t.BatchSize * t.accumulate * t.length * t.group.Size() }

// loss of a batch's bytes, each told from those before it.
func (t *trainer) loss(forward func(*gotorch.Tensor) *gotorch.Tensor, batch *data.Batch) (loss *gotorch.Tensor) {
	bytes := batch.Field("bytes").To(gotorch.Int64)
	compute := func() {
		logits := forward(bytes.Narrow(1, 0, t.length))
		loss = F.CrossEntropy(logits.Flatten(0, 1), bytes.Narrow(1, 1, t.length).Flatten(0, 1))
	}
	if t.bf16 {
		gotorch.Autocast(t.device, gotorch.BFloat16, compute)
	} else {
		compute()
	}
	return loss
}

// evaluate gives the bits per character of the text that is held out, over all ranks.
func (t *trainer) evaluate(ctx context.Context) (float64, error) {
	nn.Eval(t.net)
	bits, rows := 0.0, 0
	for batch, err := range gotorch.Scoped(t.heldOut.Epoch(ctx, 0)) {
		if err != nil {
			return 0, err
		}
		if batch.Count > 0 { // of the last batch some ranks may have nothing
			gotorch.NoGrad(func() { bits += t.loss(t.net.Forward, batch).Item() / math.Ln2 * float64(batch.Count) })
			rows += batch.Count
		}
	}
	all, err := start.Sums(ctx, t.group, t.device, bits, float64(rows))
	if err != nil {
		return 0, err
	}
	return all[0] / all[1], nil
}

// averaged calls body with the averages in the weights' place.
func (t *trainer) averaged(body func() error) error {
	if err := t.averages.Swap(); err != nil {
		return err
	}
	return errors.Join(body(), t.averages.Swap())
}

// sample writes so many bytes by the averaged weights, each drawn by its probability, sharpened by a temperature below 1.
func (t *trainer) sample(count int, temperature float64) (string, error) {
	nn.Eval(t.net)
	random := gotorch.NewGenerator(t.device).ManualSeed(t.Seed)
	written := []uint8{'\n'}
	err := t.averaged(func() error {
		return gotorch.Try(func() {
			gotorch.NoGrad(func() {
				for range gotorch.Steps(count) {
					known := written[max(0, len(written)-t.length):]
					logits := t.net.Forward(gotorch.From(known, 1, len(known)).ToDevice(t.device).To(gotorch.Int64))
					last := logits.Select(1, len(known)-1).DivScalar(temperature).Softmax(1)
					next := last.Multinomial(1, gotorch.MultinomialOptions{Generator: random})
					written = append(written, uint8(next.ItemInt()))
				}
			})
		})
	})
	return string(written[1:]), err
}
