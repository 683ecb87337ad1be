package nn

import "tandem.example/gotorch"

// Forward starts from zero states and gives the outputs alone.
func (l *LSTM) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	y, _, _ := l.ForwardState(x, nil, nil)
	return y
}

// ForwardState takes a hidden and a cell state, both nil for zeros, of shape [layers · directions, batch, hiddenSize], and
// gives those after the last step.
func (l *LSTM) ForwardState(x, h, c *gotorch.Tensor) (y, hidden, cell *gotorch.Tensor) {
	results := l.ForwardAll(withStates(x, h, c)...)
	return results[0], results[1], results[2]
}

func withStates(x, h, c *gotorch.Tensor) []any {
	if h == nil && c == nil {
		return []any{x}
	}
	return []any{x, []*gotorch.Tensor{h, c}}
}

// Forward starts from a state of zeros and gives the outputs alone.
func (g *GRU) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	y, _ := g.ForwardState(x, nil)
	return y
}

// ForwardState takes a hidden state, nil for zeros, of shape [layers · directions, batch, hiddenSize], and gives that after
// the last step.
func (g *GRU) ForwardState(x, h *gotorch.Tensor) (y, hidden *gotorch.Tensor) {
	results := g.ForwardAll(x, h)
	return results[0], results[1]
}

// Forward starts from a state of zeros and gives the outputs alone.
func (r *RNN) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	y, _ := r.ForwardState(x, nil)
	return y
}

// ForwardState takes a hidden state, nil for zeros, of shape [layers · directions, batch, hiddenSize], and gives that after
// the last step.
func (r *RNN) ForwardState(x, h *gotorch.Tensor) (y, hidden *gotorch.Tensor) {
	results := r.ForwardAll(x, h)
	return results[0], results[1]
}

// ForwardState takes the hidden and the cell state before a step, both nil for zeros, and gives those after it.
func (l *LSTMCell) ForwardState(x, h, c *gotorch.Tensor) (hidden, cell *gotorch.Tensor) {
	results := l.ForwardAll(withStates(x, h, c)...)
	return results[0], results[1]
}

// ForwardState takes the state before a step, nil for zeros, and gives that after it.
func (g *GRUCell) ForwardState(x, h *gotorch.Tensor) *gotorch.Tensor { return g.ForwardAll(x, h)[0] }

// ForwardState takes the state before a step, nil for zeros, and gives that after it.
func (r *RNNCell) ForwardState(x, h *gotorch.Tensor) *gotorch.Tensor { return r.ForwardAll(x, h)[0] }
