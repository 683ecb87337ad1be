// Modelparallel trains a convolutional network on handwritten digits whose convolutions lie on one device and whose linear
// layers on another, in one process or, data-parallel, in many:
//
//	modelparallel-go --data FOLDER --devices cuda:0,cpu
//	tandem run -n 2 -- modelparallel-go --data FOLDER --devices cuda:0,cuda:1
//
// FOLDER holds MNIST's IDX files, plain or .gz, or train.recordio and test.recordio.
package main

import (
	"context"
	"flag"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// Net is cut in two.
type Net struct {
	nn.Base
	Front, Back             *nn.Sequential
	frontDevice, backDevice gotorch.Device
}

// NewNet has its convolutions on one device and its linear layers on another.
func NewNet(front, back gotorch.Device) *Net {
	n := &Net{
		Front: nn.NewSequential(nn.NewConv2d(1, 16, 3), nn.NewReLU(), nn.NewMaxPool2d(2),
			nn.NewConv2d(16, 32, 3), nn.NewReLU(), nn.NewMaxPool2d(2)),
		Back:        nn.NewSequential(nn.NewFlatten(), nn.NewLinear(32*5*5, 128), nn.NewReLU(), nn.NewLinear(128, 10)),
		frontDevice: front, backDevice: back,
	}
	nn.To(n.Front, front)
	nn.To(n.Back, back)
	return n
}

// Forward maps images [batch, 1, 28, 28], on any device, to a score for each digit [batch, 10] on the second. Backward takes
// the same way, so that each layer's gradient is on the layer's device.
func (n *Net) Forward(images *gotorch.Tensor) *gotorch.Tensor {
	features := n.Front.Forward(images.ToDevice(n.frontDevice))
	return n.Back.Forward(features.ToDevice(n.backDevice))
}

type settings struct {
	data, cache  string
	devices      string
	front, back  gotorch.Device
	epochs, size int
	lr           float64
	seed         uint64
}

func main() {
	var s settings
	flag.StringVar(&s.data, "data", "", "`FOLDER` with MNIST's IDX files, or train.recordio and test.recordio")
	flag.StringVar(&s.devices, "devices", "cpu,cpu", "of the convolutions and of the linear layers, such as cuda:0,cpu")
	flag.IntVar(&s.epochs, "epochs", 3, "passes over the training data")
	flag.IntVar(&s.size, "batch-size", 64, "of each rank")
	flag.Float64Var(&s.lr, "lr", 0.05, "learning rate")
	flag.StringVar(&s.cache, "output", ".", "folder for converted data")
	flag.Uint64Var(&s.seed, "seed", 1, "of all random numbers")
	flag.Parse()
	if err := s.place(); err != nil {
		dist.Main(func(context.Context) error { return err })
	}
	// Of the backends, gloo exchanges gradients on GPUs and on the CPU alike.
	dist.Run(s.run, dist.Options{Backend: "gloo"})
}

// place finds the devices of this process.
func (s *settings) place() error {
	if s.data == "" || flag.NArg() > 0 {
		return fmt.Errorf("give --data FOLDER, with MNIST's IDX files; --help lists all flags")
	}
	devices, err := start.ParseDevices(s.devices)
	if err != nil {
		return fmt.Errorf("--devices: %w", err)
	}
	if len(devices) != 2 {
		return fmt.Errorf("--devices is %q; give two, such as cpu,cpu or cuda:0,cpu", s.devices)
	}
	s.front, s.back = devices[0], devices[1]
	return nil
}

func (s *settings) run(ctx context.Context, group *dist.ProcessGroup) error {
	if err := gotorch.ManualSeed(s.seed); err != nil {
		return err
	}
	train, test, err := data.MNIST(ctx, s.data, group, data.MNISTOptions{BatchSize: s.size, Seed: s.seed, Cache: s.cache})
	if err != nil {
		return err
	}
	defer train.Close()
	defer test.Close()

	net := NewNet(s.front, s.back)
	model, err := dist.NewDDP(group, net) // over parameters of both devices
	if err != nil {
		return err
	}
	defer model.Close()
	optimizer := optim.SGD(nn.Parameters(net), s.lr, optim.SGDOptions{Momentum: 0.9})
	for epoch := range s.epochs {
		total := 0.0
		for batch, err := range gotorch.Scoped(train.Epoch(ctx, epoch)) {
			if err != nil {
				return err
			}
			scores := model.Forward(batch.Field("image"))
			loss := F.CrossEntropy(scores, batch.Field("label").ToDevice(scores.Device()))
			if err := optimizer.Minimize(loss); err != nil {
				return err
			}
			total += loss.Item()
		}
		accuracy, err := evaluate(ctx, net, test)
		if err != nil {
			return err
		}
		if group.Rank() == 0 {
			fmt.Printf("epoch %d/%d: loss %.3f, test accuracy %.2f %%\n", epoch+1, s.epochs, total/float64(max(train.Len(), 1)), accuracy)
		}
	}
	if group.Rank() == 0 {
		for _, parameter := range nn.NamedParameters(net) {
			fmt.Printf("%s: on %v, its gradient on %v\n", parameter.Name, parameter.Tensor.Device(), parameter.Tensor.Grad().Device())
		}
	}
	return start.CheckEqual(ctx, group, net)
}

// evaluate gives the percentage of test digits that are told right.
func evaluate(ctx context.Context, net *Net, test *data.Loader) (float64, error) {
	right := 0
	for batch, err := range gotorch.Scoped(test.Epoch(ctx, 0)) {
		if err != nil {
			return 0, err
		}
		gotorch.NoGrad(func() {
			told := net.Forward(batch.Field("image")).ArgMax(1).ToDevice(gotorch.CPU)
			right += told.Eq(batch.Field("label")).Sum().ItemInt()
		})
	}
	return 100 * float64(right) / float64(max(test.Samples(), 1)), nil
}
