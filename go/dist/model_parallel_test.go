package dist_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// cutNet has its layers on two devices.
type cutNet struct {
	nn.Base
	Front, Back             *nn.Sequential
	frontDevice, backDevice gotorch.Device
}

const cutRows = 12 // of a step's batch on all ranks

// newCutNet begins with the same numbers, wherever it lies.
func newCutNet(front, back gotorch.Device) *cutNet {
	n := &cutNet{frontDevice: front, backDevice: back,
		Front: nn.NewSequential(nn.NewLinear(6, 10), nn.NewTanh(), nn.NewLayerNorm([]int{10})),
		Back:  nn.NewSequential(nn.NewLinear(10, 8), nn.NewTanh(), nn.NewLinear(8, 3))}
	nn.ToDType(n, gotorch.Float64)
	gotorch.NoGrad(func() {
		for i, p := range nn.Parameters(n) {
			p.CopyI(gotorch.Arange(p.Numel()).Add(gotorch.From([]float64{float64(i)}, 1)).Sin().View(p.Shape()...))
		}
	})
	nn.To(n.Front, front)
	nn.To(n.Back, back)
	return n
}

func (n *cutNet) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return n.Back.Forward(n.Front.Forward(x.ToDevice(n.frontDevice)).ToDevice(n.backDevice))
}

func (n *cutNet) device(name string) gotorch.Device {
	if strings.HasPrefix(name, "front") {
		return n.frontDevice
	}
	return n.backDevice
}

// checkDevices tells whether what a step left is on its layers' devices: gradients, and what the optimizer keeps.
func (n *cutNet) checkDevices(optimizer *optim.Optimizer) error {
	state, err := optimizer.State()
	if err != nil {
		return err
	}
	moments := 0
	for i, p := range nn.NamedParameters(n) {
		want := n.device(p.Name)
		if p.Tensor.Device() != want || p.Tensor.Grad().Device() != want {
			return fmt.Errorf("%s is on %v, its gradient on %v, not on %v", p.Name, p.Tensor.Device(), p.Tensor.Grad().Device(), want)
		}
		for name, tensor := range state {
			if !strings.HasPrefix(name, strconv.Itoa(i)+".exp_avg") {
				continue
			}
			if moments++; tensor.Device() != want {
				return fmt.Errorf("the optimizer's %s is on %v, not on %v", name, tensor.Device(), want)
			}
		}
	}
	return check(moments == 2*len(nn.Parameters(n)), "Adam has %d moments", moments)
}

// train makes steps [first, last) on a rank's rows. forward is the net's, or DDP's.
func (n *cutNet) train(forward func(*gotorch.Tensor) *gotorch.Tensor, adam *optim.Optimizer, rank, size, first, last int) error {
	seen := map[string][]gotorch.Device{} // of each layer's activation
	for _, child := range nn.NamedModules(n) {
		if strings.Contains(child.Name, ".") {
			defer nn.RegisterForwardHook(child.Module, func(_ nn.Module, _ []any, outputs []*gotorch.Tensor) []*gotorch.Tensor {
				seen[child.Name] = append(seen[child.Name], outputs[0].Device())
				return nil
			})()
		}
	}
	for step := first; step < last; step++ {
		x := gotorch.Arange(cutRows*6).Add(gotorch.From([]float64{float64(step)}, 1)).Sin().View(cutRows, 6)
		y := gotorch.Arange(cutRows*3).Add(gotorch.From([]float64{float64(step)}, 1)).Cos().View(cutRows, 3)
		part := cutRows / size
		output := forward(x.Narrow(0, rank*part, part))
		if err := adam.Minimize(F.MSELoss(output, y.Narrow(0, rank*part, part).ToDevice(output.Device()))); err != nil {
			return err
		}
	}
	if len(seen) != 6 {
		return fmt.Errorf("hooks saw the layers %v", seen)
	}
	for name, devices := range seen {
		if len(devices) != last-first || slices.ContainsFunc(devices, func(d gotorch.Device) bool { return d != n.device(name) }) {
			return fmt.Errorf("the activations of %s are on %v, not on %v", name, devices, n.device(name))
		}
	}
	return n.checkDevices(adam)
}

func (n *cutNet) flat() *gotorch.Tensor {
	var parts []*gotorch.Tensor
	for _, p := range nn.Parameters(n) {
		parts = append(parts, p.Detach().ToDevice(gotorch.CPU).Flatten(0, -1))
	}
	return gotorch.Cat(parts, 0)
}

func cutAdam(n *cutNet) *optim.Optimizer { return optim.Adam(nn.Parameters(n), 0.01) }

// modelParallelChild trains on the devices of DEVICES, in the ranks that there are, as one process does on the CPU.
func modelParallelChild(ctx context.Context) error {
	const steps = 20
	if library := environment("FAKE_DEVICE"); library != "" {
		if err := gotorch.LoadLibrary(library); err != nil {
			return err
		}
	}
	group, err := dist.Init(ctx, dist.Options{Backend: "gloo"})
	if err != nil {
		return err
	}
	defer group.Close()
	var devices []gotorch.Device
	for _, name := range strings.Split(environment("DEVICES"), ",") {
		device, err := gotorch.ParseDevice(name)
		if err != nil {
			return err
		}
		devices = append(devices, device)
	}
	front, back := devices[0], devices[1]
	alone := newCutNet(gotorch.CPU, gotorch.CPU)
	if err := alone.train(alone.Forward, cutAdam(alone), 0, 1, 0, steps); err != nil {
		return err
	}
	same := func(net *cutNet, what string) error {
		return check(net.flat().AllClose(alone.flat(), gotorch.AllCloseOptions{RTol: gotorch.Some(1e-9), ATol: gotorch.Some(1e-11)}),
			"%s: parameters are %v, not %v", what, net.flat(), alone.flat())
	}

	for _, options := range []dist.DDPOptions{{}, {GradientAsBucketView: true, BucketCapMB: gotorch.Some(0.0)}, {FindUnusedParameters: true}} {
		net := newCutNet(front, back)
		ddp, err := dist.NewDDP(group, net, options)
		if err != nil {
			return err
		}
		err = errors.Join(net.train(ddp.Forward, cutAdam(net), group.Rank(), group.Size(), 0, steps), same(net, "DDP"))
		if err := errors.Join(err, ddp.Close()); err != nil {
			return err
		}
	}
	return modelParallelCheckpoint(ctx, group, front, back, steps, same)
}

// modelParallelCheckpoint has half of the steps made on two devices, and the others, from a checkpoint, on the same two the
// other way round.
func modelParallelCheckpoint(ctx context.Context, group *dist.ProcessGroup, front, back gotorch.Device, steps int,
	same func(*cutNet, string) error) error {
	folder, err := checkpoint.Open(filepath.Join(environment("FOLDER"), "run"), checkpoint.Options{Group: group})
	if err != nil {
		return err
	}
	defer folder.Close()
	half := newCutNet(front, back)
	adam := cutAdam(half)
	if err := half.train(half.Forward, adam, 0, 1, 0, steps/2); err != nil {
		return err
	}
	if err := folder.Save(ctx, 1, checkpoint.State{Model: half, Optimizer: adam}); err != nil {
		return err
	}
	net := newCutNet(back, front)
	adam = cutAdam(net)
	if _, err := folder.Load(ctx, &checkpoint.State{Model: net, Optimizer: adam}); err != nil {
		return err
	}
	if err := net.train(net.Forward, adam, 0, 1, steps/2, steps); err != nil {
		return err
	}
	return same(net, "from a checkpoint")
}

// modelParallelMistakes makes those that are made: what is told names the layer, and both devices.
func modelParallelMistakes(context.Context) error {
	device := gotorch.Device{Kind: gotorch.PrivateUse1Device, Index: 1}
	var refused *gotorch.Error
	early := gotorch.Try(func() { gotorch.Ones([]int{1}).ToDevice(device) })
	if !errors.As(early, &refused) || refused.Code != gotorch.ErrUnsupported || !strings.Contains(early.Error(), "load its library first (gotorch.LoadLibrary)") {
		return fmt.Errorf("without the library: %v", early)
	}
	if err := gotorch.LoadLibrary(environment("FAKE_DEVICE")); err != nil {
		return err
	}
	layer, x := nn.NewLinear(3, 2), gotorch.Ones([]int{4, 3})
	nn.To(layer, device)
	for what, wrong := range map[string]func(){
		"Linear: forward got value 0 (input) [4, 3] on cpu, but its parameter 'weight' [2, 3] is on": func() { layer.Forward(x) },
		"value 1 (target) [4, 2] on cpu, but value 0 (input) [4, 2] is on": func() {
			nn.NewMSELoss().Forward(layer.Forward(x.ToDevice(device)), gotorch.Ones([]int{4, 2}))
		},
		"on the same device":     func() { layer.Forward(x.ToDevice(device)).Add(gotorch.Ones([]int{4, 2})) },
		"there are 4 of them":    func() { x.ToDevice(gotorch.Device{Kind: gotorch.PrivateUse1Device, Index: 9}) },
		"is no GPU; current dev": func() { gotorch.OnDevice(device, func() {}) },
	} {
		err := gotorch.Try(wrong)
		if err == nil || !strings.Contains(err.Error(), what) {
			return fmt.Errorf("there is no %q in %v", what, err)
		}
	}
	return nil
}

// fakeDevice is the library with the tests' own accelerator.
func fakeDevice(t *testing.T) string {
	t.Helper()
	build := os.Getenv("TANDEM_TEST_BUILD")
	if build == "" {
		t.Skip("TANDEM_TEST_BUILD does not name the build, which CTest does")
	}
	return filepath.Join(build, "tests", "fake_device.so")
}

func TestModelParallelTrainsAsOneDevice(t *testing.T) {
	library := fakeDevice(t)
	for _, devices := range []string{"cpu,privateuseone:0", "privateuseone:0,privateuseone:1", "cpu,cuda:0"} {
		t.Run(devices, func(t *testing.T) {
			variables := []string{"DEVICES=" + devices, "FOLDER=" + t.TempDir()}
			if strings.Contains(devices, "cuda") {
				if count, err := gotorch.CUDADeviceCount(); err != nil || count == 0 {
					t.Skip("needs a GPU")
				}
			} else {
				variables = append(variables, "FAKE_DEVICE="+library, "TANDEM_DEVICE=cpu") // it is no second one beside CUDA
			}
			for _, size := range []int{1, 2} {
				succeed(t, ranks(t, size, "model parallel", variables...))
			}
		})
	}
}

func TestModelParallelMistakesAreNamed(t *testing.T) {
	succeed(t, ranks(t, 1, "model parallel mistakes", "FAKE_DEVICE="+fakeDevice(t), "TANDEM_DEVICE=cpu"))
}
