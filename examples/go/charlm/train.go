package main

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/examples/progress"
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

type trainer struct {
	*settings
	group          *dist.ProcessGroup
	device         gotorch.Device
	train, heldOut *data.Loader
	net            *CharLM
	forward        func(Input) Output // of net, on all ranks and replicas
	optimizer      *optim.Optimizer
	at             position
	carry          *carry // nil between epochs
}

// position is how far training has come, as checkpoints have it.
type position struct {
	Steps   int // of the optimizer
	Epoch   int
	Batch   int // of the epoch, to go on with
	Streams int // of all ranks
	Length  int
}

// carry is what a sequence leaves to the next one: its last byte, which the next one's first follows, and the hidden
// state. Backward ends here.
type carry struct{ last, hidden, cell *gotorch.Tensor }

// newCarry begins so many streams: after a line's end, with a state of zeros.
func (t *trainer) newCarry(streams int) *carry {
	on := gotorch.TensorOptions{Device: gotorch.Some(t.device)}
	state := func() *gotorch.Tensor { return gotorch.Zeros([]int{1, streams, t.hidden}, on) }
	last := gotorch.Full([]int{1, streams}, '\n', gotorch.TensorOptions{DType: gotorch.Some(gotorch.Int64), Device: on.Device})
	return &carry{last.Keep(), state().Keep(), state().Keep()}
}

// gatherCarry is the carry of all ranks' streams for a checkpoint; between epochs there is none.
func (t *trainer) gatherCarry(ctx context.Context) (map[string]map[string]*gotorch.Tensor, error) {
	if t.carry == nil {
		return nil, nil
	}
	all := map[string]*gotorch.Tensor{}
	tensors := t.carry.tensors()
	for _, name := range slices.Sorted(maps.Keys(tensors)) { // all ranks gather in one order
		own := tensors[name].SqueezeDim(0)
		shape := own.Shape()
		shape[0] *= t.group.Size()
		all[name] = gotorch.Zeros(shape, gotorch.TensorOptions{DType: gotorch.Some(own.DType()), Device: gotorch.Some(t.device)})
		if err := t.group.AllGatherIntoTensor(ctx, all[name], own.Contiguous()); err != nil {
			return nil, err
		}
	}
	return map[string]map[string]*gotorch.Tensor{"carry": all}, nil
}

// restoreCarry takes this rank's part of what gatherCarry gave, if anything.
func (t *trainer) restoreCarry(all map[string]*gotorch.Tensor) {
	if all == nil {
		return
	}
	own := func(name string) *gotorch.Tensor {
		return all[name].Narrow(0, t.group.Rank()*t.BatchSize, t.BatchSize).Unsqueeze(0).Clone().ToDevice(t.device).Keep()
	}
	t.carry = &carry{own("last"), own("hidden"), own("cell")}
}

func (c *carry) tensors() map[string]*gotorch.Tensor {
	return map[string]*gotorch.Tensor{"last": c.last, "hidden": c.hidden, "cell": c.cell}
}

func (c *carry) close() {
	for _, t := range c.tensors() {
		t.Close()
	}
}

// sequence computes the mean loss of the bytes of a batch [streams, length], each told from those before it, and the
// carry that follows.
func sequence(forward func(Input) Output, batch *data.Batch, from *carry) (loss *gotorch.Tensor, to *carry) {
	bytes := batch.Field("bytes").T().To(gotorch.Int64)
	length := bytes.Size(0)
	before := gotorch.Cat([]*gotorch.Tensor{from.last, bytes.Narrow(0, 0, length-1)}, 0)
	out := forward(Input{before, from.hidden, from.cell})
	loss = F.CrossEntropy(out.Logits.Flatten(0, 1), bytes.Flatten(0, 1))
	return loss, &carry{bytes.Narrow(0, length-1, 1).Clone().Keep(), out.Hidden.Detach().Keep(), out.Cell.Detach().Keep()}
}

// epoch trains on the batches that are left of the current epoch; each is followed by a call of after. It gives bits per
// byte of these batches, and how many bytes all ranks did in a second.
func (t *trainer) epoch(ctx context.Context, title string, after func() error) (bits, rate float64, err error) {
	nn.Train(t.net)
	batches := t.train.Len() - t.at.Batch
	bar := progress.New(t.group, title, "characters", batches)
	defer bar.Close()
	if t.carry == nil {
		t.carry = t.newCarry(t.BatchSize)
	}
	total, begun, perBatch := 0.0, time.Now(), t.at.Streams*t.at.Length
	for batch, err := range gotorch.Scoped(t.train.EpochFrom(ctx, t.at.Epoch, t.at.Batch)) {
		if err != nil {
			return 0, 0, err
		}
		loss, next := sequence(t.forward, batch, t.carry)
		t.carry.close()
		t.carry = next
		if err := t.optimizer.Minimize(loss); err != nil {
			return 0, 0, err
		}
		value := loss.Item() / math.Ln2
		if err := t.CheckLoss(value); err != nil {
			return 0, 0, err
		}
		total += value
		bar.Step(perBatch, value)
		t.at.Steps, t.at.Batch = t.at.Steps+1, t.at.Batch+1
		if err := after(); err != nil {
			return 0, 0, err
		}
	}
	rate = float64(batches*perBatch) / time.Since(begun).Seconds()
	t.carry.close()
	t.carry = nil
	t.at.Epoch, t.at.Batch = t.at.Epoch+1, 0
	bits, err = start.Mean(ctx, t.group, t.device, total/float64(max(batches, 1)))
	return bits, rate, err
}

// evaluate gives the bits per byte of the text that is held out.
func (t *trainer) evaluate(ctx context.Context) (float64, error) {
	nn.Eval(t.net)
	state := t.newCarry(t.BatchSize)
	defer func() { state.close() }()
	total := 0.0
	for batch, err := range gotorch.Scoped(t.heldOut.Epoch(ctx, 0)) {
		if err != nil {
			return 0, err
		}
		gotorch.NoGrad(func() {
			loss, next := sequence(t.net.Compute, batch, state)
			state.close()
			state = next
			total += loss.Item() / math.Ln2
		})
	}
	return start.Mean(ctx, t.group, t.device, total/float64(t.heldOut.Len()))
}

// write gives --sample bytes, each drawn by its probability, sharpened by a temperature below 1.
func (t *trainer) write() string {
	nn.Eval(t.net)
	random := gotorch.NewGenerator(t.device).ManualSeed(t.Seed) // training's own random numbers stay as they are
	state := t.newCarry(1)
	defer func() { state.close() }()
	written := make([]byte, 0, t.sample)
	gotorch.NoGrad(func() {
		for range gotorch.Steps(t.sample) {
			out := t.net.Compute(Input{state.last, state.hidden, state.cell})
			next := out.Logits.Flatten(0, 1).DivScalar(t.temperature).Softmax(1).
				Multinomial(1, gotorch.MultinomialOptions{Generator: random})
			state.close()
			state = &carry{next.Keep(), out.Hidden.Keep(), out.Cell.Keep()}
			written = append(written, byte(next.ItemInt()))
		}
	})
	return string(written)
}
