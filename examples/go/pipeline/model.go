package main

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
)

const values = 256 // of a byte

// Stage has some blocks of a small transformer that tells the next byte of a text. The first stage begins with embeddings of
// bytes and positions; the last one ends with a score for each byte, by the same weight as the embedding's.
type Stage struct {
	nn.Base
	Embed     *nn.Embedding // of the first stage and of the last
	Positions *nn.Embedding // of the first
	Blocks    []*nn.TransformerEncoderLayer
	Norm      *nn.LayerNorm // of the last

	first, last bool
	mask        *gotorch.Tensor `nn:"-"` // [length, length]: no position sees those after it
}

// newStage has the blocks of stage index of count. Each part draws its weights by a seed of its own, so that the whole model
// begins the same however it is cut.
func newStage(index, count, layers, heads, width, length int, seed uint64) (*Stage, error) {
	s := &Stage{first: index == 0, last: index == count-1}
	if err := gotorch.ManualSeed(seed); err != nil {
		return nil, err
	}
	if s.first || s.last {
		s.Embed = nn.NewEmbedding(values, width)
		gotorch.NoGrad(func() { s.Embed.Weight.MulScalarI(0.02) })
	}
	if s.first {
		s.Positions = nn.NewEmbedding(length, width)
		gotorch.NoGrad(func() { s.Positions.Weight.MulScalarI(0.02) })
	}
	for block := index * layers / count; block < (index+1)*layers/count; block++ {
		if err := gotorch.ManualSeed(seed + 1 + uint64(block)); err != nil {
			return nil, err
		}
		s.Blocks = append(s.Blocks, nn.NewTransformerEncoderLayer(width, heads, nn.TransformerEncoderLayerOptions{
			DimFeedforward: 4 * width, Dropout: nn.Some(0.0), Activation: "gelu", BatchFirst: true, NormFirst: true}))
	}
	if s.last {
		s.Norm = nn.NewLayerNorm([]int{width})
	}
	s.mask = gotorch.Ones([]int{length, length}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Bool)}).Triu(gotorch.TriuOptions{Diagonal: 1})
	return s, nil
}

// Forward maps bytes [rows, length] on the first stage, else what the stage before gives, [rows, length, width]; the last
// stage gives scores [rows, length, 256].
func (s *Stage) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	if s.first {
		positions := gotorch.Arange(x.Size(1), gotorch.TensorOptions{DType: gotorch.Some(gotorch.Int64)})
		x = s.Embed.Forward(x).Add(s.Positions.Forward(positions))
	}
	for _, block := range s.Blocks {
		x = block.ForwardWith(x, nn.TransformerEncoderLayerInputs{SrcMask: s.mask, IsCausal: nn.Some(true)})
	}
	if s.last {
		x = F.Linear(s.Norm.Forward(x), s.Embed.Weight, nil)
	}
	return x
}

// piece of the pipeline: the stage by its number, under the whole model's names, with what it shares with another stage.
func (s *Stage) piece(index, count int) dist.PipelineStage {
	prefix := fmt.Sprintf("stage%d.", index)
	piece := dist.PipelineStage{Index: index, Module: s, Prefix: prefix}
	if s.Embed != nil && count > 1 {
		piece.Tied = map[string]string{prefix + "embed.weight": "embed.weight"}
	}
	return piece
}

// loss of one micro-batch.
func loss(outputs, targets []*gotorch.Tensor) *gotorch.Tensor {
	return F.CrossEntropy(outputs[0].Flatten(0, 1), targets[0].Flatten(0, 1))
}

// batch draws windows of the text, the same on all ranks, and gives one replica's rows: bytes, and those that come next.
func batch(text []byte, random func(int) int, rows, length, replica, replicas int) (inputs, targets *gotorch.Tensor) {
	var x, y []int64
	for range rows {
		begin := random(len(text) - length)
		for i := range length {
			x, y = append(x, int64(text[begin+i])), append(y, int64(text[begin+i+1]))
		}
	}
	own := func(all []int64) *gotorch.Tensor {
		part := len(all) / replicas
		return gotorch.From(all[replica*part:(replica+1)*part], rows/replicas, length)
	}
	return own(x), own(y)
}
