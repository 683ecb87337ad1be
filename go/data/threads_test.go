package data_test

import (
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

// Zero threads, and zero batches ahead, are other settings than none given.
func TestThreadsThatAreSetToNone(t *testing.T) {
	set, err := data.FromTensors([]*gotorch.Tensor{gotorch.From([]int{0, 1, 2, 3, 4, 5}, 6, 1)}, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for want, threads := range []gotorch.Opt[int]{gotorch.Some(0), {}, gotorch.Some(2)} {
		loader := open(t, set, data.Options{BatchSize: 2, Shuffle: gotorch.Some(false), Threads: threads, Prefetch: gotorch.Some(0)})
		var all []int
		for batch, err := range loader.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, gotorch.ToSlice[int](batch.Field("x"))...)
			batch.Close()
		}
		statistics, err := loader.Statistics()
		if err != nil || len(all) != 6 || statistics.Threads != int64(want) {
			t.Errorf("%v: %v of %d threads, not %d: %v", threads, all, statistics.Threads, want, err)
		}
	}
}
