package data

import (
	"fmt"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Sampler says which samples an epoch visits, and in which order, for [Options.Sampler]: a function of seed, epoch and
// position, the same on every rank. Unless noted otherwise, an epoch can be entered anywhere at no cost. Errors of what
// it is made of are those of [NewLoader] and [Sampler.Epoch]. The zero value is none.
type Sampler struct {
	make func() (c.Sampler, *c.Failure)
}

// use makes it for the length of a call; with nil for none.
func (s Sampler) use(call func(c.Sampler) *c.Failure) *c.Failure {
	if s.make == nil {
		return call(nil)
	}
	handle, failure := s.make()
	if failure != nil {
		return failure
	}
	defer c.FreeSampler(handle)
	return call(handle)
}

// Epoch lists the samples of an epoch.
func (s Sampler) Epoch(seed uint64, epoch int) (samples []int, err error) {
	failure := s.use(func(handle c.Sampler) (failure *c.Failure) {
		samples, failure = c.SamplerSamples(handle, seed, epoch, 0, c.SamplerSize(handle))
		return failure
	})
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	return samples, nil
}

// SequentialSampler is 0, 1, 2 … n − 1. Source: torch.utils.data.SequentialSampler.
func SequentialSampler(n int) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) { return c.SequentialSampler(n) }}
}

// RandomSampler is n samples, shuffled anew in each epoch. Source: torch.utils.data.RandomSampler.
func RandomSampler(n int) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) { return c.RandomSampler(n) }}
}

// WeightedSampler is n samples an epoch, each drawn by its weight among all, so that one may come several times. Keeps 8
// bytes a sample. Source: torch.utils.data.WeightedRandomSampler.
func WeightedSampler(weights []float64, n int) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) { return c.WeightedSampler(weights, n, true) }}
}

// WeightedSamplerWithoutReplacement is n different samples an epoch, as if drawn by weight one after the other without
// being put back. Entering an epoch sorts all samples.
func WeightedSamplerWithoutReplacement(weights []float64, n int) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) { return c.WeightedSampler(weights, n, false) }}
}

// SubsetSampler is these samples, shuffled or as they are listed. Source: torch.utils.data.SubsetRandomSampler.
func SubsetSampler(samples []int, shuffle bool) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) { return c.SubsetSampler(samples, shuffle) }}
}

// BatchSampler is batches of the program's choice: batchSize samples each, listed one batch after the other; the last may
// have fewer, and stays the last. They are shuffled as whole batches, or come as they are listed. For a loader of that
// BatchSize. Source: torch.utils.data.BatchSampler.
func BatchSampler(samples []int, batchSize int, shuffle bool) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) { return c.BatchSampler(samples, batchSize, shuffle) }}
}

// LengthSampler has samples of similar length come in one batch: in each window of so many batches of a shuffle, samples
// are sorted by length, and the batches shuffled. Each sample comes once an epoch. For a loader of that BatchSize.
func LengthSampler(lengths []int, batchSize, window int) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) { return c.LengthSampler(lengths, batchSize, window) }}
}

// DistributedSampler is every worldSize-th position of another sampler from rank on, filled up from its start: for a
// loader that knows nothing of other ranks. Source: torch.utils.data.DistributedSampler.
func DistributedSampler(of Sampler, rank, worldSize int) Sampler {
	return Sampler{func() (made c.Sampler, _ *c.Failure) {
		failure := of.use(func(handle c.Sampler) (failure *c.Failure) {
			made, failure = c.DistributedSampler(handle, rank, worldSize)
			return failure
		})
		return made, failure
	}}
}

// PositionSampler is the program's own, of n positions an epoch: list sets samples to those at positions from first on,
// the same for the same seed, epoch and position in every process. The loader's threads call it, several at once, each time
// in a scope, which frees the tensors that it makes. name, at most 80 bytes, tells it from others in the states of loaders.
func PositionSampler(name string, n int, list func(seed uint64, epoch, first int, samples []int) error) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) {
		return c.CreateSampler(name, n, false, func(call c.Invocation) ([]c.Tensor, error) {
			request := call.Data
			return inScope(call, func() error {
				return list(request.Seed, request.Epoch, request.Number, request.Samples)
			})
		})
	}}
}

// EpochSampler is the program's own where only a whole epoch can be told: list gives its n samples. It gives up entering
// an epoch at no cost: that lists all of it, once, on every rank, and keeps 8 bytes a position. Ranks, restarts and other
// numbers of ranks see the same batches only as far as list gives the same for the same seed and epoch everywhere. name
// is as for [PositionSampler].
func EpochSampler(name string, n int, list func(seed uint64, epoch int) ([]int, error)) Sampler {
	return Sampler{func() (c.Sampler, *c.Failure) {
		return c.CreateSampler(name, n, true, func(call c.Invocation) ([]c.Tensor, error) {
			request := call.Data
			return inScope(call, func() error {
				samples, err := list(request.Seed, request.Epoch)
				if err == nil && len(samples) != n {
					err = fmt.Errorf("it gave %d samples for epoch %d, but has %d positions", len(samples), request.Epoch, n)
				}
				copy(request.Samples, samples)
				return err
			})
		})
	}}
}
