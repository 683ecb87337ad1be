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
	"math"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

type settings struct {
	data, backend, device, checkpoints, output string
	epochs, batchSize                          int
	lr                                         float64
	seed                                       uint64
}

func main() {
	var s settings
	flag.StringVar(&s.data, "data", "", "folder with IDX or RecordIO files")
	flag.IntVar(&s.epochs, "epochs", 5, "passes over the training data")
	flag.IntVar(&s.batchSize, "batch-size", 64, "samples a step, of each rank")
	flag.Float64Var(&s.lr, "lr", 0.05, "learning rate; each epoch takes 0.7 of the one before")
	flag.StringVar(&s.backend, "backend", "", "gloo or nccl; by default what suits the device")
	flag.StringVar(&s.device, "device", "cpu", "cpu or cuda")
	flag.StringVar(&s.checkpoints, "checkpoints", "", "folder for a checkpoint after each epoch; goes on from the newest one in it")
	flag.Uint64Var(&s.seed, "seed", 1, "of the first weights, dropout and the order of samples")
	flag.StringVar(&s.output, "output", ".", "folder for curve.png, digits.png and converted data")
	flag.Parse()
	dist.Main(s.run)
}

func (s *settings) run(ctx context.Context) error {
	if s.data == "" || flag.NArg() > 0 {
		return fmt.Errorf("give a folder with MNIST's IDX files, or RecordIO files, as --data FOLDER; --help lists all flags")
	}
	device := gotorch.CPU
	switch s.device {
	case "cpu":
	case "cuda":
		device = gotorch.CUDA(dist.LocalRank())
	default:
		return fmt.Errorf("--device is %q; it must be cpu or cuda", s.device)
	}
	group, err := dist.Init(ctx, dist.Options{Backend: s.backend, Device: device})
	if err != nil {
		return err
	}
	defer group.Close()
	train, test, err := data.MNIST(ctx, s.data, group, data.MNISTOptions{BatchSize: s.batchSize, Seed: s.seed,
		Cache: filepath.Join(s.output, "recordio")})
	if err != nil {
		return err
	}
	defer train.Close()
	defer test.Close()
	if train.Len() == 0 {
		return fmt.Errorf("the %d training digits do not fill one batch of %d for each of %d ranks; "+
			"choose a smaller --batch-size", train.Samples(), s.batchSize, group.Size())
	}

	if err := gotorch.ManualSeed(s.seed + uint64(group.Rank())); err != nil {
		return err
	}
	net := NewNet()
	nn.To(net, device)
	model, err := dist.NewDDP(group, net, dist.DDPOptions{GradientAsBucketView: true})
	if err != nil {
		return err
	}
	defer model.Close()
	optimizer := optim.SGD(nn.Parameters(net), s.lr, optim.SGDOptions{Momentum: 0.9})
	var checkpoints *checkpoint.Folder
	state := checkpoint.State{Model: net, Optimizer: optimizer, RNG: true}
	firstEpoch := 0
	if s.checkpoints != "" {
		if checkpoints, err = checkpoint.Open(s.checkpoints, checkpoint.Options{Group: group}); err != nil {
			return err
		}
		defer checkpoints.Close()
		loaded, err := checkpoints.Load(ctx, &state)
		if err != nil {
			return err
		}
		if loaded != nil {
			firstEpoch = loaded.Step
			if group.Rank() == 0 {
				for _, why := range loaded.Refused {
					fmt.Println("not used:", why)
				}
			}
		}
	}

	t := &trainer{group: group, device: device, net: net, model: model, optimizer: optimizer}
	for epoch := firstEpoch; epoch < s.epochs; epoch++ {
		title := fmt.Sprintf("epoch %d/%d", epoch+1, s.epochs)
		if err := optimizer.SetLR(s.lr * math.Pow(0.7, float64(epoch))); err != nil {
			return err
		}
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
		if checkpoints != nil {
			if err := checkpoints.SaveAsync(ctx, epoch+1, state); err != nil {
				return err
			}
		}
	}
	if checkpoints != nil {
		if err := checkpoints.Wait(ctx); err != nil {
			return err
		}
	}
	if group.Rank() == 0 {
		if err := t.draw(ctx, s.output, test); err != nil {
			return err
		}
	}
	fingerprint := nn.Fingerprint(net)
	equal, err := group.AllEqual(ctx, []byte(fingerprint))
	if err != nil {
		return err
	}
	if !equal {
		return fmt.Errorf("parameters: %s on rank %d, not equal on all %d ranks", fingerprint, group.Rank(), group.Size())
	}
	if group.Rank() == 0 {
		fmt.Printf("parameters: %s, equal on all %d ranks\n", fingerprint, group.Size())
	}
	return nil
}

type trainer struct {
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
	bar := newProgress(t.group, title, loader.Len())
	defer bar.close()
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
		if math.IsNaN(value) {
			return 0, fmt.Errorf("the loss is not a number; try a smaller --lr than %g", t.optimizer.LR())
		}
		total += value
		t.curve.step(value)
		bar.step(labels.Numel()*t.group.Size(), value)
	}
	sum, err := t.sum(ctx, total/float64(loader.Len()))
	return sum / float64(t.group.Size()), err
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
	all, err := t.sum(ctx, float64(right))
	return 100 * all / float64(max(test.Samples(), 1)), err
}

// sum of value over all ranks.
func (t *trainer) sum(ctx context.Context, value float64) (float64, error) {
	sum := gotorch.From([]float64{value}).ToDevice(t.device)
	if err := t.group.AllReduce(ctx, sum, dist.Sum); err != nil {
		return 0, err
	}
	return sum.Item(), nil
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
