package main

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// CharLM tells the next byte of a text from those before: an embedding, a recurrent network, scores for each byte.
type CharLM struct {
	nn.Base
	Embed *nn.Embedding
	RNN   Recurrent
	Head  *nn.Linear
}

// Recurrent is nn.LSTM or [MLSTM]: x is [length, batch, input], h and c are [1, batch, hidden].
type Recurrent interface {
	nn.Module
	ForwardState(x, h, c *gotorch.Tensor) (y, hidden, cell *gotorch.Tensor)
}

// Input of a sequence: its bytes [length, batch] of Int64, and the state that the one before it left.
type Input struct{ Bytes, Hidden, Cell *gotorch.Tensor }

// Output has the scores of the bytes that come next, [length, batch, 256], and the state for the next sequence.
type Output struct{ Logits, Hidden, Cell *gotorch.Tensor }

const values = 256 // of a byte

// NewCharLM of one kind, "lstm" or "mlstm", with random weights.
func NewCharLM(kind string, embedding, hidden int) (*CharLM, error) {
	net := &CharLM{Embed: nn.NewEmbedding(values, embedding), Head: nn.NewLinear(hidden, values)}
	switch kind {
	case "lstm":
		net.RNN = nn.NewLSTM(embedding, hidden)
	case "mlstm":
		net.RNN = NewMLSTM(embedding, hidden)
	default:
		return nil, fmt.Errorf("--model is %q; it must be mlstm or lstm", kind)
	}
	return net, nil
}

// Compute scores all positions of a sequence.
func (n *CharLM) Compute(in Input) Output {
	y, h, c := n.RNN.ForwardState(n.Embed.Forward(in.Bytes), in.Hidden, in.Cell)
	return Output{n.Head.Forward(y), h, c}
}

// MLSTM is the multiplicative LSTM of Krause, Lu, Murray and Renals, "Multiplicative LSTM for sequence modelling", 2016:
// in the gates an intermediate state m, the input's factor times the hidden state's, is in the hidden state's place, so
// that each input has a transition of its own. The output is o · tanh(c), as in an LSTM.
type MLSTM struct {
	nn.Base
	InputFactor, HiddenFactor *nn.Linear // to m
	InputGates, MGates        *nn.Linear // to i, f, g and o
}

// NewMLSTM with random weights.
func NewMLSTM(input, hidden int) *MLSTM {
	noBias := nn.LinearOptions{Bias: nn.Some(false)}
	return &MLSTM{
		InputFactor:  nn.NewLinear(input, hidden, noBias),
		HiddenFactor: nn.NewLinear(hidden, hidden, noBias),
		InputGates:   nn.NewLinear(input, 4*hidden),
		MGates:       nn.NewLinear(hidden, 4*hidden, noBias),
	}
}

// ForwardState steps through x. What follows from the inputs alone is computed for all positions at once.
func (n *MLSTM) ForwardState(x, h, c *gotorch.Tensor) (y, hidden, cell *gotorch.Tensor) {
	factors, gates := n.InputFactor.Forward(x).Unbind(0), n.InputGates.Forward(x).Unbind(0)
	h, c = h.SqueezeDim(0), c.SqueezeDim(0)
	steps := make([]*gotorch.Tensor, len(gates))
	for t := range steps {
		m := factors[t].Mul(n.HiddenFactor.Forward(h))
		four := gates[t].Add(n.MGates.Forward(m)).Chunk(4, 1)
		i, f, g, o := four[0].Sigmoid(), four[1].Sigmoid(), four[2].Tanh(), four[3].Sigmoid()
		c = f.Mul(c).Add(i.Mul(g))
		h = o.Mul(c.Tanh())
		steps[t] = h
	}
	return gotorch.Stack(steps, 0), h.Unsqueeze(0), c.Unsqueeze(0)
}
