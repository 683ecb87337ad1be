package programs

import (
	"math"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// A GAN learns points on a circle: two networks, an optimizer for each, and one backward of the generator that goes
// through a function of our own, which turns the discriminator's gradient around.

// reverse is the identity, whose gradient has the other sign. Source: Ganin and Lempitsky, 2015.
type reverse struct{}

func (reverse) Forward(ctx *gotorch.FunctionContext, inputs []*gotorch.Tensor) []*gotorch.Tensor {
	return []*gotorch.Tensor{inputs[0].MulScalar(1)}
}

func (reverse) Backward(ctx *gotorch.FunctionContext, gradients []*gotorch.Tensor) []*gotorch.Tensor {
	return []*gotorch.Tensor{gradients[0].Neg()}
}

type gan struct {
	generator, discriminator           nn.Layer
	trainGenerator, trainDiscriminator *optim.Optimizer
}

func newGAN() *gan {
	g := &gan{
		generator:     nn.NewSequential(nn.NewLinear(4, 32), nn.NewReLU(), nn.NewLinear(32, 2)),
		discriminator: nn.NewSequential(nn.NewLinear(2, 32), nn.NewReLU(), nn.NewLinear(32, 1)),
	}
	betas := gotorch.Some([2]float64{0.5, 0.9})
	g.trainGenerator = optim.Adam(nn.Parameters(g.generator), 2e-3, optim.AdamOptions{Betas: betas})
	g.trainDiscriminator = optim.Adam(nn.Parameters(g.discriminator), 4e-3, optim.AdamOptions{Betas: betas})
	return g
}

func circle(n int) *gotorch.Tensor {
	angle := gotorch.Rand([]int{n}).MulScalar(2 * math.Pi)
	return gotorch.Stack([]*gotorch.Tensor{angle.Cos(), angle.Sin()}, 1)
}

// step trains both once; real and invented are what the discriminator loses on either.
func (g *gan) step(n int) (real, invented float64, err error) {
	gotorch.Scope(func() {
		made := g.generator.Forward(gotorch.RandN([]int{n, 4}))
		ones, zeros := gotorch.Ones([]int{n, 1}), gotorch.Zeros([]int{n, 1})
		onReal := F.BinaryCrossEntropyWithLogits(g.discriminator.Forward(circle(n)), ones)
		onMade := F.BinaryCrossEntropyWithLogits(g.discriminator.Forward(made.Detach()), zeros)
		if err = g.trainDiscriminator.Minimize(onReal.Add(onMade)); err != nil {
			return
		}
		real, invented = onReal.Item(), onMade.Item()
		// The generator climbs what the discriminator descends.
		turned := gotorch.Apply(reverse{}, made)[0]
		err = g.trainGenerator.Minimize(F.BinaryCrossEntropyWithLogits(g.discriminator.Forward(turned), zeros))
	})
	return real, invented, err
}

func (g *gan) meanRadius() (radius float64) {
	gotorch.InferenceMode(func() {
		gotorch.Scope(func() {
			points := g.generator.Forward(gotorch.RandN([]int{512, 4}))
			radius = points.Mul(points).SumDim([]int{1}).Sqrt().Mean().Item()
		})
	})
	return radius
}

func TestGAN(t *testing.T) {
	if err := gotorch.ManualSeed(3); err != nil {
		t.Fatal(err)
	}
	g := newGAN()
	first := g.meanRadius()
	before := nn.Fingerprint(g.generator)
	var radii []float64 // of the last steps: a GAN's points move on
	for step := range 400 {
		real, invented, err := g.step(64)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(real + invented) {
			t.Fatalf("step %d: the losses are %g and %g", step, real, invented)
		}
		if step == 0 && nn.Fingerprint(g.generator) == before {
			t.Fatal("the generator does not learn")
		}
		if step >= 300 && step%10 == 0 {
			radii = append(radii, g.meanRadius())
		}
	}
	var last float64
	for _, radius := range radii {
		last += radius / float64(len(radii))
	}
	if math.Abs(last-1) > 0.4 || math.Abs(last-1) > math.Abs(first-1) {
		t.Errorf("points are %g from the middle, %g before training; the circle's are 1", last, first)
	}
}

// The generator's gradients through reverse are those without it, with the other sign, and the discriminator's are not.
func TestReversedGradients(t *testing.T) {
	g := newGAN()
	gradient := func(turn bool) (generator, discriminator []float32) {
		gotorch.Scope(func() {
			noise := gotorch.Arange(8).Reshape(2, 4).To(gotorch.Float32)
			made := g.generator.Forward(noise)
			if turn {
				made = gotorch.Apply(reverse{}, made)[0]
			}
			loss := g.discriminator.Forward(made).Sum()
			for _, optimizer := range []*optim.Optimizer{g.trainGenerator, g.trainDiscriminator} {
				if err := optimizer.ZeroGrad(); err != nil {
					t.Fatal(err)
				}
			}
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
			generator = gotorch.ToSlice[float32](nn.Parameters(g.generator)[0].Grad())
			discriminator = gotorch.ToSlice[float32](nn.Parameters(g.discriminator)[0].Grad())
		})
		return
	}
	plain, plainOther := gradient(false)
	turned, turnedOther := gradient(true)
	for i := range plain {
		if plain[i] != -turned[i] {
			t.Fatalf("gradient %d is %g, and %g turned", i, plain[i], turned[i])
		}
	}
	for i := range plainOther {
		if plainOther[i] != turnedOther[i] {
			t.Fatalf("the discriminator's gradient %d is %g, and %g turned", i, plainOther[i], turnedOther[i])
		}
	}
}
