package main

import (
	"fmt"

	"tandem.example/gotorch"
)

// ema is an exponential moving average of weights beside training, which often tells more than the weights do.
type ema struct {
	weights, averages []*gotorch.Tensor
	decay             float64
}

// newEMA begins with what the weights are.
func newEMA(weights []*gotorch.Tensor, decay float64) *ema {
	e := &ema{weights: weights, decay: decay}
	for _, w := range weights {
		e.averages = append(e.averages, w.Detach().Clone())
	}
	return e
}

// Update takes the weights in. Call it after each step of the optimizer.
func (e *ema) Update() error {
	return gotorch.Try(func() {
		gotorch.NoGrad(func() {
			for i, average := range e.averages {
				average.LerpScalarI(e.weights[i], 1-e.decay)
			}
		})
	})
}

// Swap exchanges the numbers of weights and averages: to evaluate with these, and back.
func (e *ema) Swap() error {
	return gotorch.TryScope(func() error {
		gotorch.NoGrad(func() {
			for i, average := range e.averages {
				weight := e.weights[i].Clone()
				e.weights[i].CopyI(average)
				average.CopyI(weight)
			}
		})
		return nil
	})
}

// State shares the averages' memory, for a checkpoint.
func (e *ema) State() map[string]*gotorch.Tensor {
	state := map[string]*gotorch.Tensor{}
	for i, average := range e.averages {
		state[fmt.Sprintf("parameter.%d", i)] = average
	}
	return state
}

// LoadState copies from such a state.
func (e *ema) LoadState(state map[string]*gotorch.Tensor) error {
	for name, average := range e.State() {
		saved, ok := state[name]
		if !ok {
			return fmt.Errorf("the checkpoint has no average %s", name)
		}
		if err := gotorch.Try(func() { average.CopyI(saved) }); err != nil {
			return fmt.Errorf("average %s: %w", name, err)
		}
	}
	return nil
}
