// Charlm trains a language model of characters, or rather bytes, on a text, on one process or many:
//
//	tandem run -n 2 -- charlm-go --data FILE --epochs 5
//
// The text is cut into streams that lie side by side in a batch, and sequences of a stream follow each other: the hidden
// state of one is where the next begins, without gradients going back that far. Source of the model and its training:
// Radford, Jozefowicz and Sutskever, "Learning to generate reviews and discovering sentiment", 2017; NVIDIA's
// sentiment-discovery.
package main

import (
	"context"
	"flag"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

type settings struct {
	start.Flags
	model                     string
	embedding, hidden         int
	epochs, length, saveEvery int
	replicas, sample          int
	temperature               float64
}

func main() {
	s := settings{Flags: start.Flags{BatchSize: 32, LR: 2e-3}}
	flag.StringVar(&s.model, "model", "mlstm", "mlstm or lstm")
	flag.IntVar(&s.embedding, "embedding", 64, "size of a byte's embedding")
	flag.IntVar(&s.hidden, "hidden", 512, "size of the hidden state")
	flag.IntVar(&s.epochs, "epochs", 5, "passes over the text")
	flag.IntVar(&s.length, "length", 64, "bytes of a sequence, through which gradients go back")
	flag.IntVar(&s.replicas, "replicas", 1, "of the model in each process (DataParallel), which share its batch")
	flag.IntVar(&s.saveEvery, "save-every", 0, "steps from one checkpoint to the next; 0: one after each epoch")
	flag.IntVar(&s.sample, "sample", 400, "bytes to write after each epoch and at the end")
	flag.Float64Var(&s.temperature, "temperature", 0.8, "of what is written: 1 is what was learned, less is more likely bytes")
	s.Main("FILE", "a text", s.run)
}

func (s *settings) run(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device) error {
	if min(s.length, s.embedding, s.hidden, s.epochs, s.replicas) < 1 || s.temperature <= 0 {
		return fmt.Errorf("--length, --embedding, --hidden, --epochs, --replicas and --temperature must be above 0")
	}
	train, heldOut, err := openText(s.Data, s.BatchSize*group.Size(), s.length)
	if err != nil {
		return err
	}
	defer train.file.Close()
	t := &trainer{settings: s, group: group, device: device, at: position{Streams: train.streams, Length: s.length}}
	if t.train, err = train.loader(group, device); err != nil {
		return err
	}
	defer t.train.Close()
	if t.heldOut, err = heldOut.loader(group, device); err != nil {
		return err
	}
	defer t.heldOut.Close()

	if t.net, err = NewCharLM(s.model, s.embedding, s.hidden); err != nil {
		return err
	}
	nn.To(t.net, device)
	compute, module := t.net.Compute, nn.Module(t.net)
	if s.replicas != 1 {
		// The batch is the second dimension of all inputs and outputs.
		parallel := nn.NewDataParallel(t.net, nn.DataParallelOptions{Replicas: s.replicas, Dim: 1})
		defer parallel.Close()
		module, compute = parallel, func(in Input) Output { return nn.ParallelApply(parallel, in, (*CharLM).Compute) }
	}
	model, err := dist.NewDDP(group, module, dist.DDPOptions{GradientAsBucketView: true})
	if err != nil {
		return err
	}
	defer model.Close()
	t.forward = func(in Input) Output { return dist.Forward(model, in, compute) }
	t.optimizer = optim.Adam(nn.Parameters(t.net), s.LR)

	if err := s.trainAll(ctx, t); err != nil {
		return err
	}
	if group.Rank() == 0 {
		fmt.Printf("written by the model:\n%s\n", start.Printable(t.write()))
	}
	for _, part := range []*text{train, heldOut} {
		bytes, err := part.checkReaders(ctx, group, device)
		if err != nil {
			return err
		}
		if group.Rank() == 0 {
			fmt.Printf("%d of %d bytes from %d on were read, each by one rank alone\n", bytes, part.Len()*part.length, part.begin)
		}
	}
	return start.CheckEqual(ctx, group, t.net)
}

// trainAll goes on from the newest checkpoint to the last epoch.
func (s *settings) trainAll(ctx context.Context, t *trainer) error {
	state := checkpoint.State{Model: t.net, Optimizer: t.optimizer, RNG: true, Values: &t.at}
	streams, length := t.at.Streams, t.at.Length
	saves, err := s.Resume(ctx, t.group, &state)
	if err != nil {
		return err
	}
	defer saves.Close()
	if t.at.Streams == streams && t.at.Length == length {
		t.restoreCarry(state.Tensors["carry"])
	} else {
		if t.at.Batch > 0 && t.group.Rank() == 0 {
			fmt.Printf("epoch %d begins at its start: the checkpoint is of %d streams by %d bytes, not %d by %d\n",
				t.at.Epoch+1, t.at.Streams, t.at.Length, streams, length)
		}
		t.at.Batch, t.at.Streams, t.at.Length = 0, streams, length
	}
	save := func() error {
		if !saves.On() {
			return nil
		}
		if state.Tensors, err = t.gatherCarry(ctx); err != nil {
			return err
		}
		return saves.Save(ctx, t.at.Steps, state)
	}
	for t.at.Epoch < s.epochs {
		title := fmt.Sprintf("epoch %d/%d", t.at.Epoch+1, s.epochs)
		bits, rate, err := t.epoch(ctx, title, func() error {
			if s.saveEvery > 0 && t.at.Steps%s.saveEvery == 0 {
				return save()
			}
			return nil
		})
		if err != nil {
			return err
		}
		heldOut, err := t.evaluate(ctx)
		if err != nil {
			return err
		}
		if t.group.Rank() == 0 {
			fmt.Printf("%s: %.3f bits per character, held out %.3f, %.0f characters/s\n", title, bits, heldOut, rate)
			if t.at.Epoch < s.epochs {
				fmt.Println(start.Printable(t.write()))
			}
		}
		if err := save(); err != nil {
			return err
		}
	}
	return saves.Wait(ctx)
}
