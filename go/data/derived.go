package data

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// FromTensors is the data set whose sample i is row i of each tensor: dense ones on the CPU, of equally many rows, as
// they are now. Names are theirs; without any "0", "1" and so on.
// Source: torch.utils.data.TensorDataset.
func FromTensors(tensors []*gotorch.Tensor, names ...string) (*Dataset, error) {
	handles := make([]c.Tensor, len(tensors))
	for i, t := range tensors {
		handles[i] = bridge.Handle(t, "data.FromTensors")
	}
	if len(names) == 0 {
		names = numbered(len(tensors))
	}
	if len(names) != len(tensors) {
		return nil, invalid("data.FromTensors", fmt.Sprintf("%d names for %d tensors", len(names), len(tensors)))
	}
	defer runtime.KeepAlive(tensors)
	return wrapDataset(c.CreateTensorDataset(handles, names))
}

func numbered(count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

func invalid(op, message string) error {
	return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op, Message: message}
}

// Concat is one data set after the other; their tensors have the same names. Source: torch.utils.data.ConcatDataset.
func Concat(parts ...*Dataset) (*Dataset, error) {
	handles := make([]c.Dataset, len(parts))
	for i, part := range parts {
		if slices.Index(parts, part) == i {
			part.mutex.RLock()
			defer part.mutex.RUnlock()
		}
		if part.handle == nil {
			return nil, closedDataset("data.Concat")
		}
		handles[i] = part.handle
	}
	return wrapDataset(c.ConcatDatasets(handles))
}

// Subset is these samples of it, in this order; one may come several times. Errors: ErrOutOfRange for one that is not
// there. Source: torch.utils.data.Subset.
func (d *Dataset) Subset(samples []int) (subset *Dataset, err error) {
	return d.derive("data.Subset", func(handle c.Dataset) (c.Dataset, *c.Failure) {
		return c.SubsetDataset(handle, samples)
	})
}

// RandomSplit is parts of these sizes, which are d.Len() together: each sample is in one of them, drawn by the seed. No
// part keeps a list of its samples. Source: torch.utils.data.random_split, whose random numbers are others.
func (d *Dataset) RandomSplit(sizes []int, seed uint64) ([]*Dataset, error) {
	var handles []c.Dataset
	if err := d.use("data.RandomSplit", func(handle c.Dataset) (failure *c.Failure) {
		handles, failure = c.SplitDataset(handle, sizes, seed)
		return failure
	}); err != nil {
		return nil, err
	}
	parts := make([]*Dataset, len(handles))
	for i, handle := range handles {
		parts[i], _ = wrapDataset(handle, nil)
	}
	return parts, nil
}

// RandomSplitFractions is [Dataset.RandomSplit] by fractions of all samples, which are 1 together: sizes are rounded
// down, and what that leaves goes to the parts from the first on, one each.
func (d *Dataset) RandomSplitFractions(fractions []float64, seed uint64) ([]*Dataset, error) {
	var sizes []int
	if err := d.use("data.RandomSplitFractions", func(handle c.Dataset) (failure *c.Failure) {
		sizes, failure = c.SplitSizes(handle, fractions)
		return failure
	}); err != nil {
		return nil, err
	}
	return d.RandomSplit(sizes, seed)
}

// Map is each sample as body makes it whenever it is loaded, a tensor for each of names; without any, those of d. The
// loader's threads call body, several at once, each time in a scope: what it is given and makes is freed when it returns,
// but what it gives back or keeps ([gotorch.Tensor.Keep]). Its error, or panic, reaches who asks for the batch, naming
// the sample; errors.Is finds it. A loader's state goes on with another body, too.
func (d *Dataset) Map(body func(sample []*gotorch.Tensor) ([]*gotorch.Tensor, error), names ...string) (*Dataset, error) {
	if len(names) == 0 {
		names = d.names
	}
	return d.derive("data.Map", func(handle c.Dataset) (c.Dataset, *c.Failure) {
		return c.MapDataset(handle, names, reading(func(call c.Invocation) ([]c.Tensor, error) {
			return sampleOf(call, "the map", body)
		}))
	})
}

// derive makes another data set of it.
func (d *Dataset) derive(op string, make func(c.Dataset) (c.Dataset, *c.Failure)) (*Dataset, error) {
	var made c.Dataset
	if err := d.use(op, func(handle c.Dataset) (failure *c.Failure) {
		made, failure = make(handle)
		return failure
	}); err != nil {
		return nil, err
	}
	return wrapDataset(made, nil)
}

// sampleOf has body, in the scope of a callback, give the sample that the callback is to give; what names it in errors.
func sampleOf(call c.Invocation, what string, body func([]*gotorch.Tensor) ([]*gotorch.Tensor, error)) ([]c.Tensor, error) {
	return bridge.InScopeOf(call, call.Inputs, func(given []any) ([]any, error) {
		tensors := make([]*gotorch.Tensor, len(given))
		for i, t := range given {
			tensors[i], _ = t.(*gotorch.Tensor)
		}
		sample, err := body(tensors)
		if err != nil || sample == nil {
			return nil, err
		}
		if len(sample) != call.Room {
			return nil, fmt.Errorf("%s gave %d tensors, but the data set has names for %d", what, len(sample), call.Room)
		}
		results := make([]any, len(sample))
		for i, t := range sample {
			if t == nil {
				return nil, fmt.Errorf("%s gave no tensor %d", what, i)
			}
			results[i] = t
		}
		return results, nil
	})
}
