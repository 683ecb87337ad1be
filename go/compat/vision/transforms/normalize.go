package transforms

import (
	"fmt"

	torch "tandem.example/gotorch/compat"
)

// NormalizeTransformer subtracts each channel's mean and divides by its standard deviation.
type NormalizeTransformer struct {
	mean, stddev torch.Tensor
}

// Normalize makes a NormalizeTransformer. Each list has one number, for all channels, or three.
func Normalize(mean []float32, stddev []float32) *NormalizeTransformer {
	return &NormalizeTransformer{perChannel("mean", mean), perChannel("stddev", stddev)}
}

// perChannel is [channels, 1, 1].
func perChannel(name string, values []float32) torch.Tensor {
	if n := len(values); n != 1 && n != 3 {
		panic(fmt.Sprintf("Normalize: %s has %d numbers; give one or three", name, n))
	}
	t := torch.NewTensor(values)
	return t.View(-1, 1, 1)
}

// Run normalizes [channels, height, width], or a batch of these.
func (t *NormalizeTransformer) Run(input torch.Tensor) torch.Tensor {
	centered := input.Sub(t.mean, 1)
	return centered.Div(t.stddev)
}
