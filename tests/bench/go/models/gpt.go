package models

import (
	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
)

// gpt is the network of the example gpt, of 10.8 million parameters, without dropout.
type gpt struct {
	nn.Base
	Embed, Positions *nn.Embedding
	Blocks           []*gptBlock
	Norm             *nn.LayerNorm
	Head             *nn.Linear
}

type gptBlock struct {
	nn.Base
	Norm1, Norm2 *nn.LayerNorm
	Attention    *gptAttention
	Widen, Close *nn.Linear
}

type gptAttention struct {
	nn.Base
	QKV, Out *nn.Linear
	heads    int
}

func newGPT() nn.Layer {
	const layers, heads, width, length = 6, 6, 384, 128
	g := &gpt{Embed: nn.NewEmbedding(256, width), Positions: nn.NewEmbedding(length, width),
		Norm: nn.NewLayerNorm([]int{width}), Head: nn.NewLinear(width, 256, nn.LinearOptions{Bias: nn.Some(false)})}
	for range layers {
		g.Blocks = append(g.Blocks, &gptBlock{
			Norm1: nn.NewLayerNorm([]int{width}), Norm2: nn.NewLayerNorm([]int{width}),
			Attention: &gptAttention{QKV: nn.NewLinear(width, 3*width), Out: nn.NewLinear(width, width), heads: heads},
			Widen:     nn.NewLinear(width, 4*width), Close: nn.NewLinear(4*width, width),
		})
	}
	nn.Tie(g, "head.weight", "embed.weight")
	return g
}

func (g *gpt) Forward(tokens *gotorch.Tensor) *gotorch.Tensor {
	positions := gotorch.Arange(tokens.Size(1), gotorch.TensorOptions{DType: gotorch.Some(gotorch.Int64),
		Device: gotorch.Some(tokens.Device())})
	x := g.Embed.Forward(tokens).Add(g.Positions.Forward(positions))
	for _, block := range g.Blocks {
		x = block.Forward(x)
	}
	return g.Head.Forward(g.Norm.Forward(x)).Flatten(0, 1)
}

func (b *gptBlock) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = x.Add(b.Attention.Forward(b.Norm1.Forward(x)))
	return x.Add(b.Close.Forward(F.GELU(b.Widen.Forward(b.Norm2.Forward(x)))))
}

func (a *gptAttention) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	batch, length, width := x.Size(0), x.Size(1), x.Size(2)
	qkv := a.QKV.Forward(x).View(batch, length, 3, a.heads, width/a.heads).Permute(2, 0, 3, 1, 4).Unbind(0)
	y := F.ScaledDotProductAttention(qkv[0], qkv[1], qkv[2], F.ScaledDotProductAttentionOptions{IsCausal: true})
	return a.Out.Forward(y.Transpose(1, 2).Reshape(batch, length, width))
}
