package main

import (
	"math"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// GPT tells the next byte of a text: a transformer's decoder, normalized before each part, as GPT-2 has it (Radford et al.,
// "Language models are unsupervised multitask learners", 2019).
type GPT struct {
	nn.Base
	Embed, Positions *nn.Embedding
	Dropout          *nn.Dropout
	Blocks           []*Block
	Norm             *nn.LayerNorm
	Head             *nn.Linear // shares its weight with Embed
}

// Block is attention, then two layers for each position; each is added to what goes in.
type Block struct {
	nn.Base
	Norm1, Norm2 *nn.LayerNorm
	Attention    *Attention
	Widen, Close *nn.Linear
	Dropout      *nn.Dropout
}

// Attention of each position to those up to it, by several heads.
type Attention struct {
	nn.Base
	QKV, Out *nn.Linear
	Dropout  *nn.Dropout
	heads    int
	dropout  float64
}

const values = 256 // of a byte

// NewGPT with random weights: normal with deviation 0.02, less where a block adds to what goes in, and biases of zero.
func NewGPT(layers, heads, width, length int, dropout float64) *GPT {
	g := &GPT{Embed: nn.NewEmbedding(values, width), Positions: nn.NewEmbedding(length, width), Dropout: nn.NewDropout(dropout),
		Norm: nn.NewLayerNorm([]int{width}), Head: nn.NewLinear(width, values, nn.LinearOptions{Bias: nn.Some(false)})}
	for range layers {
		g.Blocks = append(g.Blocks, &Block{
			Norm1: nn.NewLayerNorm([]int{width}), Norm2: nn.NewLayerNorm([]int{width}),
			Attention: &Attention{QKV: nn.NewLinear(width, 3*width), Out: nn.NewLinear(width, width),
				Dropout: nn.NewDropout(dropout), heads: heads, dropout: dropout},
			Widen: nn.NewLinear(width, 4*width), Close: nn.NewLinear(4*width, width), Dropout: nn.NewDropout(dropout),
		})
	}
	nn.Tie(g, "head.weight", "embed.weight")
	gotorch.NoGrad(func() {
		for _, p := range nn.NamedParameters(g) {
			switch {
			case strings.HasSuffix(p.Name, "out.weight"), strings.HasSuffix(p.Name, "close.weight"):
				p.Tensor.NormalI(gotorch.NormalIOptions{Std: gotorch.Some(0.02 / math.Sqrt(2*float64(layers)))})
			case p.Tensor.Dim() > 1:
				p.Tensor.NormalI(gotorch.NormalIOptions{Std: gotorch.Some(0.02)})
			case strings.HasSuffix(p.Name, "bias"):
				p.Tensor.ZeroI()
			}
		}
	})
	return g
}

// Forward maps bytes [batch, length] of Int64 to scores of those that come next [batch, length, 256].
func (g *GPT) Forward(bytes *gotorch.Tensor) *gotorch.Tensor {
	positions := gotorch.Arange(bytes.Size(1), gotorch.TensorOptions{
		DType: gotorch.Some(gotorch.Int64), Device: gotorch.Some(bytes.Device())})
	x := g.Dropout.Forward(g.Embed.Forward(bytes).Add(g.Positions.Forward(positions)))
	for _, block := range g.Blocks {
		x = block.Forward(x)
	}
	return g.Head.Forward(g.Norm.Forward(x))
}

// Forward maps [batch, length, width] to the same.
func (b *Block) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = x.Add(b.Attention.Forward(b.Norm1.Forward(x)))
	return x.Add(b.Dropout.Forward(b.Close.Forward(F.GELU(b.Widen.Forward(b.Norm2.Forward(x))))))
}

// Forward maps [batch, length, width] to the same.
func (a *Attention) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	batch, length, width := x.Size(0), x.Size(1), x.Size(2)
	// [3, batch, heads, length, width of a head]
	qkv := a.QKV.Forward(x).View(batch, length, 3, a.heads, width/a.heads).Permute(2, 0, 3, 1, 4).Unbind(0)
	o := F.ScaledDotProductAttentionOptions{IsCausal: true}
	if a.IsTraining() {
		o.DropoutP = a.dropout
	}
	y := F.ScaledDotProductAttention(qkv[0], qkv[1], qkv[2], o)
	return a.Dropout.Forward(a.Out.Forward(y.Transpose(1, 2).Reshape(batch, length, width)))
}

// newOptimizer has matrices and embeddings decay, and leaves biases and normalizations as they are.
func newOptimizer(net *GPT, lr, decay float64) (*optim.Optimizer, error) {
	var matrices, vectors []*gotorch.Tensor
	for _, p := range nn.Parameters(net) {
		if p.Dim() > 1 {
			matrices = append(matrices, p)
		} else {
			vectors = append(vectors, p)
		}
	}
	adamW := optim.AdamW(matrices, lr, optim.AdamOptions{
		Betas: optim.Some([2]float64{0.9, 0.95}), WeightDecay: optim.Some(decay)})
	return adamW, adamW.AddGroup(vectors, optim.Settings{"weight_decay": 0.0})
}

// newSchedule has the rate rise over the warm-up, then fall along half a cosine to the least.
func newSchedule(optimizer *optim.Optimizer, warmup, steps int, least float64) *optim.LRScheduler {
	if warmup == 0 {
		return optim.CosineAnnealingLR(optimizer, steps, optim.CosineAnnealingLROptions{EtaMin: least})
	}
	rise := optim.LinearLR(optimizer, optim.LinearLROptions{
		StartFactor: optim.Some(1 / float64(warmup)), TotalIters: optim.Some(warmup)})
	fall := optim.CosineAnnealingLR(optimizer, steps-warmup, optim.CosineAnnealingLROptions{EtaMin: least})
	return optim.SequentialLR(optimizer, []*optim.LRScheduler{rise, fall}, []int{warmup})
}
