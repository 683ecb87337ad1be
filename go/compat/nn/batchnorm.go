package nn

import (
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn/functional"
)

// BatchNorm2dModule normalizes each channel of [batch, NumFeatures, height, width].
type BatchNorm2dModule struct {
	Module
	NumFeatures       int64
	Eps               float64
	Momentum          float64
	Affine            bool
	TrackRunningStats bool
	Weight            torch.Tensor
	Bias              torch.Tensor
	RunningMean       torch.Tensor `gotorch:"buffer"`
	RunningVar        torch.Tensor `gotorch:"buffer"`
}

// BatchNorm2d makes a BatchNorm2dModule. Without affine it has no weight and bias, without trackRunningStats no running
// mean and variance.
func BatchNorm2d(numFeatures int64, eps, momentum float64, affine, trackRunningStats bool) *BatchNorm2dModule {
	b := &BatchNorm2dModule{NumFeatures: numFeatures, Eps: eps, Momentum: momentum, Affine: affine,
		TrackRunningStats: trackRunningStats}
	shape := []int64{numFeatures}
	if affine {
		b.Weight, b.Bias = torch.Ones(shape, true), torch.Full(shape, 0, true)
	}
	if trackRunningStats {
		b.RunningMean, b.RunningVar = torch.Full(shape, 0, false), torch.Ones(shape, false)
	}
	b.Init(b)
	return b
}

// Forward normalizes by the batch's own mean and variance in training and where no running ones are kept.
func (b *BatchNorm2dModule) Forward(x torch.Tensor) torch.Tensor {
	own := b.IsTraining() || b.RunningMean.T == nil
	return functional.BatchNorm(x, b.RunningMean, b.RunningVar, b.Weight, b.Bias, own, b.Momentum, b.Eps)
}
