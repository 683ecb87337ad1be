package programs

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn"
	F "tandem.example/gotorch/compat/nn/functional"
	"tandem.example/gotorch/compat/nn/initializer"
)

// A pair of convolutional networks, one of which makes what the other tells from images of 8 by 8.

const noise, width = 4, 4

func relu(x torch.Tensor) torch.Tensor  { return F.Relu(x, true) }
func leaky(x torch.Tensor) torch.Tensor { return F.LeakyRelu(x, 0.2, true) }

func generator() *nn.SequentialModule {
	return nn.Sequential(
		nn.ConvTranspose2d(noise, 2*width, 4, 1, 0, 0, 1, false, 1, "zeros"),
		nn.BatchNorm2d(2*width, 1e-5, 0.1, true, true),
		nn.Functional(relu),
		nn.ConvTranspose2d(2*width, 1, 4, 2, 1, 0, 1, false, 1, "zeros"),
		nn.Functional(torch.Tanh),
	)
}

func discriminator() *nn.SequentialModule {
	return nn.Sequential(
		nn.Conv2d(1, width, 4, 2, 1, 1, 1, false, "zeros"),
		nn.BatchNorm2d(width, 1e-5, 0.1, true, true),
		nn.Functional(leaky),
		nn.Conv2d(width, 1, 4, 1, 0, 1, 1, false, "zeros"),
		nn.Functional(torch.Sigmoid),
	)
}

// initWeights draws as the paper of DCGAN does, by the names of modules and of their fields.
func initWeights(m nn.IModule) {
	outer := reflect.ValueOf(m.(*nn.Module).Outer()).Elem()
	field := func(name string) *torch.Tensor {
		x := outer.FieldByName(name).Interface().(torch.Tensor)
		return &x
	}
	switch {
	case strings.Contains(m.Name(), "Conv"):
		initializer.Normal(field("Weight"), 0, 0.02)
	case strings.Contains(m.Name(), "BatchNorm"):
		initializer.Normal(field("Weight"), 1, 0.02)
		initializer.Zeros(field("Bias"))
	}
}

func TestDCGAN(t *testing.T) {
	torch.SetNumThreads(1)
	initializer.ManualSeed(999)
	device := torch.NewDevice("cpu")
	g, d := generator(), discriminator()
	for _, net := range []*nn.SequentialModule{g, d} {
		net.To(device)
		net.Apply(initWeights)
	}
	weight := d.Modules[0].(*nn.Conv2dModule).Weight
	if squares := torch.Mean(weight.Mul(weight)).Item().(float32); squares > 0.001 {
		t.Error("the weights were not drawn anew:", squares)
	}
	optG, optD := torch.Adam(0.01, 0.5, 0.999, 0), torch.Adam(0.002, 0.5, 0.999, 0)
	optG.AddParameters(g.Parameters())
	optD.AddParameters(d.Parameters())

	const batch = 16
	tell := func(images torch.Tensor, real float32) torch.Tensor {
		label := torch.Full([]int64{batch}, real, false)
		output := d.Forward(images).(torch.Tensor).View(-1, 1).Squeeze(1)
		return F.BinaryCrossEntropy(output, label, torch.Tensor{}, "mean")
	}
	// The real images are dark on the left and bright on the right.
	half := torch.Full([]int64{8, 4}, 0.8, false)
	real := torch.Stack([]torch.Tensor{torch.Full([]int64{8, 4}, -0.8, false), half}, 1)
	real = torch.Stack(slices.Repeat([]torch.Tensor{real.View(1, 8, 8)}, batch), 0)
	likeness := func() float32 {
		made := g.Forward(torch.RandN([]int64{batch, noise, 1, 1}, false)).(torch.Tensor)
		return torch.Mean(made.Mul(real)).Item().(float32) / 0.64
	}
	before := likeness()
	for range 60 {
		torch.GC()
		optD.ZeroGrad()
		lossReal := tell(real, 1)
		lossReal.Backward()
		fake := g.Forward(torch.RandN([]int64{batch, noise, 1, 1}, false)).(torch.Tensor)
		lossFake := tell(fake.Detach(), 0)
		lossFake.Backward()
		optD.Step()

		optG.ZeroGrad()
		loss := tell(fake, 1)
		loss.Backward()
		optG.Step()
	}
	torch.FinishGC()
	if after := likeness(); before > 0.1 || after < 0.2 {
		t.Errorf("images like the real ones by %v became such by %v", before, after)
	}
}
