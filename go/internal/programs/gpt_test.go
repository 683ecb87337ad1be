package programs

import (
	"math"
	"slices"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// A small GPT learns a text by heart: its head is tied to its embedding, weights decay and biases and norms do not, it
// computes in bfloat16, and four micro-batches make a step.

const letters, width, heads, window = 27, 32, 4, 16

type attention struct {
	nn.Base
	QKV, Out *nn.Linear
}

func (a *attention) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	shape := x.Shape()
	batch, length := shape[0], shape[1]
	parts := a.QKV.Forward(x).Chunk(3, 2)
	for i, part := range parts {
		parts[i] = part.View(batch, length, heads, width/heads).Transpose(1, 2)
	}
	y := F.ScaledDotProductAttention(parts[0], parts[1], parts[2], F.ScaledDotProductAttentionOptions{IsCausal: true})
	return a.Out.Forward(y.Transpose(1, 2).Reshape(batch, length, width))
}

type layer struct {
	nn.Base
	Norm1, Norm2 *nn.LayerNorm
	Attention    *attention
	Up, Down     *nn.Linear
}

func (l *layer) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = x.Add(l.Attention.Forward(l.Norm1.Forward(x)))
	return x.Add(l.Down.Forward(F.GELU(l.Up.Forward(l.Norm2.Forward(x)))))
}

type gpt struct {
	nn.Base
	Tokens, Positions *nn.Embedding
	Layers            []*layer
	Norm              *nn.LayerNorm
	Head              *nn.Linear
}

func newGPT() *gpt {
	g := &gpt{Tokens: nn.NewEmbedding(letters, width), Positions: nn.NewEmbedding(window, width),
		Norm: nn.NewLayerNorm([]int{width}), Head: nn.NewLinear(width, letters, nn.LinearOptions{Bias: nn.Some(false)})}
	for range 2 {
		g.Layers = append(g.Layers, &layer{Norm1: nn.NewLayerNorm([]int{width}), Norm2: nn.NewLayerNorm([]int{width}),
			Attention: &attention{QKV: nn.NewLinear(width, 3*width), Out: nn.NewLinear(width, width)},
			Up:        nn.NewLinear(width, 4*width), Down: nn.NewLinear(4*width, width)})
	}
	nn.Tie(g, "head.weight", "tokens.weight")
	return g
}

func (g *gpt) Forward(tokens *gotorch.Tensor) *gotorch.Tensor {
	length := tokens.Shape()[1]
	x := g.Tokens.Forward(tokens).Add(g.Positions.Forward(gotorch.Arange(length)))
	for _, l := range g.Layers {
		x = l.Forward(x)
	}
	return g.Head.Forward(g.Norm.Forward(x))
}

// optimizer decays matrices alone.
func (g *gpt) optimizer() (*optim.Optimizer, error) {
	var decaying, others []*gotorch.Tensor
	for _, p := range nn.Parameters(g) {
		if len(p.Shape()) >= 2 {
			decaying = append(decaying, p)
		} else {
			others = append(others, p)
		}
	}
	adam := optim.AdamW(decaying, 1e-2, optim.AdamOptions{WeightDecay: optim.Some(0.1)})
	return adam, adam.AddGroup(others, optim.Settings{"weight_decay": 0.0})
}

const verse = "the quick brown fox jumps over the lazy dog and runs home to its den in the old dark wood by the river"

// text is the verse, a window beginning at each of the letters.
func text(from, count int) (x, y *gotorch.Tensor) {
	var in, out []int64
	for i := range count {
		for j := range window {
			at := func(k int) int64 {
				letter := verse[(from+i+k)%len(verse)]
				if letter == ' ' {
					return 26
				}
				return int64(letter - 'a')
			}
			in, out = append(in, at(j)), append(out, at(j+1))
		}
	}
	return gotorch.From(in, count, window), gotorch.From(out, count*window)
}

func (g *gpt) loss(from, count int) *gotorch.Tensor {
	x, y := text(from, count)
	var logits *gotorch.Tensor
	gotorch.Autocast(gotorch.CPU, gotorch.BFloat16, func() { logits = g.Forward(x) })
	return F.CrossEntropy(logits.To(gotorch.Float32).Reshape(count*window, letters), y)
}

func TestGPT(t *testing.T) {
	const parts, count = 4, 8
	if err := gotorch.ManualSeed(1); err != nil {
		t.Fatal(err)
	}
	g := newGPT()
	if n := len(nn.Parameters(g)); n != 2+2*12+2 || !slices.ContainsFunc(nn.NamedParameters(g), func(p nn.Named) bool { return p.Tensor.IsSame(g.Tokens.Weight) }) {
		t.Fatalf("%d parameters, of which the tied one counts once", n)
	}
	if state := nn.State(g); !state["head.weight"].IsSame(state["tokens.weight"]) {
		t.Fatal("the tied weight is not saved under both its names")
	}
	adam, err := g.optimizer()
	if err != nil {
		t.Fatal(err)
	}
	var first, last float64
	for step := range 100 {
		last = 0
		if err := adam.ZeroGrad(); err != nil {
			t.Fatal(err)
		}
		for part := range parts {
			gotorch.Scope(func() {
				loss := g.loss(step*parts*count+part*count, count).DivScalar(parts)
				if err := loss.Backward(); err != nil {
					t.Fatal(err)
				}
				last += loss.Item()
			})
		}
		if err := adam.Step(); err != nil {
			t.Fatal(err)
		}
		if step == 0 {
			first = last
		}
	}
	if math.IsNaN(last) || first < 2.5 || last > 0.5 {
		t.Errorf("the loss went from %g to %g", first, last)
	}
	if !g.Head.Weight.IsSame(g.Tokens.Weight) {
		t.Error("head and embedding are not tied any more")
	}
}

// Four micro-batches, each counted a quarter, give the gradients of their joined batch.
func TestAccumulatedGradients(t *testing.T) {
	g := newGPT()
	gradients := func(parts int) (all []float32) {
		for _, p := range nn.Parameters(g) {
			p.SetGrad(nil)
		}
		for part := range parts {
			gotorch.Scope(func() {
				x, y := text(part*(8/parts), 8/parts)
				loss := F.CrossEntropy(g.Forward(x).Reshape(8/parts*window, letters), y).DivScalar(float64(parts))
				if err := loss.Backward(); err != nil {
					t.Fatal(err)
				}
			})
		}
		for _, p := range nn.Parameters(g) {
			gotorch.Scope(func() { all = append(all, gotorch.ToSlice[float32](p.Grad().Reshape(-1))...) })
		}
		return all
	}
	joined, accumulated := gradients(1), gradients(4)
	for i := range joined {
		if math.Abs(float64(joined[i]-accumulated[i])) > 1e-5 {
			t.Fatalf("gradient %d is %g, and %g in four parts", i, joined[i], accumulated[i])
		}
	}
}
