package data_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

func TestSamplers(t *testing.T) {
	epochOf := func(s data.Sampler, seed uint64, epoch int) []int {
		t.Helper()
		samples, err := s.Epoch(seed, epoch)
		if err != nil {
			t.Fatal(err)
		}
		return samples
	}
	if got := epochOf(data.SequentialSampler(4), 1, 1); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Error(got)
	}
	random := epochOf(data.RandomSampler(30), 1, 1)
	if slices.IsSorted(random) || !slices.Equal(epochOf(data.SubsetSampler(random, false), 7, 3), random) {
		t.Error(random)
	}
	if got := epochOf(data.WeightedSampler([]float64{0, 1, 0, 3}, 100), 1, 0); slices.Contains(got, 0) ||
		slices.Contains(got, 2) || !slices.Contains(got, 1) || len(got) != 100 {
		t.Error(got)
	}
	once := epochOf(data.WeightedSamplerWithoutReplacement([]float64{0, 1, 5, 3}, 3), 1, 0)
	if slices.Sort(once); !slices.Equal(once, []int{1, 2, 3}) {
		t.Error(once)
	}
	batches := epochOf(data.BatchSampler([]int{0, 1, 10, 11, 20, 21, 30}, 2, true), 1, 0)
	for i := 0; i < 6; i += 2 {
		if batches[i]+1 != batches[i+1] || batches[6] != 30 {
			t.Error(batches)
		}
	}
	lengths := []int{9, 1, 9, 1, 9, 1, 9, 1}
	for i, sample := range epochOf(data.LengthSampler(lengths, 4, 2), 1, 0) {
		if first := epochOf(data.LengthSampler(lengths, 4, 2), 1, 0)[i/4*4]; lengths[sample] != lengths[first] {
			t.Error(i, sample)
		}
	}
	if got := epochOf(data.DistributedSampler(data.SequentialSampler(5), 1, 2), 1, 0); !slices.Equal(got, []int{1, 3, 0}) {
		t.Error(got)
	}

	own := must(data.FromSamples(&squares{n: 10}, "i", "squares"))
	loader := open(t, own, data.Options{BatchSize: 3, Sampler: data.SubsetSampler([]int{9, 2, 2, 5}, false)})
	if got := numbersOf(t, loader, 0); len(got) != 2 || !slices.Equal(got[0], []int{9, 2, 2}) || got[1][0] != 5 {
		t.Error(got)
	}
}

// Lists of the program's own may be made by operators, here n-1, n-2 … 0.
func TestSamplersUseOperators(t *testing.T) {
	const n = 10
	backwards := func(first, count int) []int {
		samples := gotorch.ToSlice[int](gotorch.Arange(n).Flip(0))
		return samples[first : first+count]
	}
	own := must(data.FromSamples(&squares{n: n}, "i", "squares"))
	for _, sampler := range []data.Sampler{
		data.PositionSampler("positions", n, func(_ uint64, _, first int, samples []int) error {
			copy(samples, backwards(first, len(samples)))
			return nil
		}),
		data.EpochSampler("epochs", n, func(uint64, int) ([]int, error) { return backwards(0, n), nil }),
	} {
		want := []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}
		if got := must(sampler.Epoch(0, 0)); !slices.Equal(got, want) {
			t.Error(got)
		}
		loader := open(t, own, data.Options{BatchSize: 4, Sampler: sampler, Threads: gotorch.Some(2)})
		if got := slices.Concat(numbersOf(t, loader, 0)...); !slices.Equal(got, want) {
			t.Error(got)
		}
	}
}

func TestSamplerErrors(t *testing.T) {
	own := must(data.FromSamples(&squares{n: 10}, "i", "squares"))
	_, err := data.NewLoader(own, data.Options{BatchSize: 3, Sampler: data.WeightedSampler([]float64{-1}, 3)})
	if err == nil || !strings.Contains(err.Error(), "the weight of sample 0") {
		t.Error(err)
	}
	if _, err := (data.Sampler{}).Epoch(0, 0); err == nil {
		t.Error("no sampler has an epoch")
	}
	tired := errors.New("tired")
	for sampler, says := range map[*data.Sampler]string{
		ptr(data.PositionSampler("lazy", 4, func(uint64, int, int, []int) error { return tired })):    "the sampler 'lazy' failed: tired",
		ptr(data.EpochSampler("short", 4, func(uint64, int) ([]int, error) { return []int{1}, nil })): "gave 1 samples for epoch 0, but has 4",
		ptr(data.EpochSampler("wild", 1, func(uint64, int) ([]int, error) { return []int{99}, nil })): "'wild' gives sample 99, but the data set has 10",
		ptr(data.PositionSampler("panics", 4, func(uint64, int, int, []int) error { panic(tired) })):  "the sampler 'panics' failed: tired",
	} {
		for _, err := range open(t, own, data.Options{BatchSize: 3, Sampler: *sampler}).Epoch(t.Context(), 0) {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v does not say %q", err, says)
			}
			if strings.Contains(says, "tired") && !errors.Is(err, tired) {
				t.Error(err)
			}
			var failed *gotorch.Error
			if !errors.As(err, &failed) {
				t.Error(err)
			}
		}
	}
}

func ptr[T any](value T) *T { return &value }
