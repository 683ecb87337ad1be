package data_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

// squares are samples of the program's own: i, and [i, i²].
type squares struct {
	n      int
	broken error // of sample 5
	asked  atomic.Int32
}

func (s *squares) Len() int { return s.n }

func (s *squares) Get(i int) ([]*gotorch.Tensor, error) {
	s.asked.Add(1)
	if i == 5 && s.broken != nil {
		return nil, s.broken
	}
	return []*gotorch.Tensor{gotorch.Full(nil, i, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Int64)}),
		gotorch.From([]float32{float32(i), float32(i * i)}, 2)}, nil
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// numbersOf the first tensor of each batch of an epoch, batch by batch.
func numbersOf(t *testing.T, loader *data.Loader, number int) (batches [][]int) {
	t.Helper()
	for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), number)) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, gotorch.ToSlice[int](batch.Tensors[0])[:batch.Count])
	}
	return batches
}

func open(t *testing.T, dataset *data.Dataset, o data.Options) *data.Loader {
	t.Helper()
	loader, err := data.NewLoader(dataset, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loader.Close() })
	return loader
}

func TestSamplesOfTheProgram(t *testing.T) {
	own := &squares{n: 12}
	dataset := must(data.FromSamples(own, "i", "squares"))
	loader := open(t, dataset, data.Options{BatchSize: 5, Shuffle: gotorch.Some(false), Threads: gotorch.Some(3), Prefetch: gotorch.Some(4)})
	dataset.Close() // which the loader does not need
	var all []int
	for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		i, both := gotorch.ToSlice[int](batch.Field("i")), gotorch.ToSlice[float32](batch.Field("squares"))
		for row, number := range i {
			if both[2*row] != float32(number) || both[2*row+1] != float32(number*number) {
				t.Fatal(i, both)
			}
		}
		all = append(all, i...)
	}
	if !slices.Equal(all, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) || own.asked.Load() != 12 {
		t.Error(all, own.asked.Load())
	}
	if counted := must(data.FromSamples(own)); !slices.Equal(counted.Names(), []string{"0", "1"}) || counted.Len() != 12 {
		t.Error(counted.Names(), counted.Len())
	}
	_, err := data.NewLoader(dataset, data.Options{BatchSize: 1})
	var failed *gotorch.Error
	if !errors.As(err, &failed) || failed.Code != gotorch.ErrClosed {
		t.Error(err)
	}
}

func TestErrorsOfGetNameTheSample(t *testing.T) {
	gone := errors.New("the disk is gone")
	for _, threads := range []int{1, 3} {
		dataset := must(data.FromSamples(&squares{n: 12, broken: gone}, "i", "squares"))
		loader := open(t, must(dataset.Subset([]int{9, 5})), data.Options{BatchSize: 2, Threads: gotorch.Some(threads)})
		for _, err := range loader.Epoch(t.Context(), 0) {
			if !errors.Is(err, gone) || !strings.Contains(fmt.Sprint(err), "cannot load sample 5: ") {
				t.Error(err)
			}
		}
		if _, err := dataset.Get(5); !errors.Is(err, gone) {
			t.Error(err)
		}
		if _, err := dataset.Get(12); err == nil || !strings.Contains(err.Error(), "no sample 12") {
			t.Error(err)
		}
		if sample := must(dataset.Get(3)); gotorch.ToSlice[float32](sample[1])[1] != 9 {
			t.Error(sample)
		}
	}
	one := must(data.FromSamples(&squares{n: 12}, "only"))
	if _, err := one.Get(0); err == nil || !strings.Contains(err.Error(), "Get gave 2 tensors, but the data set has names for 1") {
		t.Error(err)
	}
	panics := must(one.Map(func([]*gotorch.Tensor) ([]*gotorch.Tensor, error) { return nil, nil }))
	if _, err := panics.Get(0); err == nil {
		t.Error("a map without a result")
	}
}

func TestTensorsAreTakenAsTheyAre(t *testing.T) {
	tensor := gotorch.From([]int{100, 101, 102}, 3)
	dataset := must(data.FromTensors([]*gotorch.Tensor{tensor}, "i"))
	tensor.AddScalarI(50)
	if got := must(dataset.Get(0))[0].ItemInt(); got != 100 {
		t.Error(got)
	}
	loader := open(t, dataset, data.Options{BatchSize: 3, Shuffle: gotorch.Some(false)})
	if got := numbersOf(t, loader, 0); !slices.Equal(got[0], []int{100, 101, 102}) {
		t.Error(got)
	}
}

func TestDerivedDatasets(t *testing.T) {
	tensors := must(data.FromTensors([]*gotorch.Tensor{gotorch.From([]int{100, 101, 102}, 3)}, "i"))
	own := must(must(data.FromSamples(&squares{n: 20}, "i", "squares")).Map(
		func(sample []*gotorch.Tensor) ([]*gotorch.Tensor, error) { return sample[:1], nil }, "i"))
	both := must(data.Concat(own, tensors, own))
	if both.Len() != 43 {
		t.Fatal(both.Len())
	}
	some := must(both.Subset([]int{21, 4, 42}))
	loader := open(t, some, data.Options{BatchSize: 3, Shuffle: gotorch.Some(false)})
	if got := numbersOf(t, loader, 0); !slices.Equal(got[0], []int{101, 4, 19}) {
		t.Error(got)
	}

	parts := must(own.RandomSplitFractions([]float64{0.7, 0.3}, 1))
	if parts[0].Len() != 14 || parts[1].Len() != 6 {
		t.Fatal(parts[0].Len(), parts[1].Len())
	}
	var all []int
	for _, part := range parts {
		for _, batch := range numbersOf(t, open(t, part, data.Options{BatchSize: 4}), 0) {
			all = append(all, batch...)
		}
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 20 {
		t.Error(all)
	}

	for what, err := range map[string]error{
		"other names":         second(data.Concat(own, must(data.FromSamples(&squares{n: 1})))),
		"no data set":         second(data.Concat()),
		"no sample 20":        second(own.Subset([]int{20})),
		"has 20":              second(own.RandomSplit([]int{1, 2}, 0)),
		"must be 1":           second(own.RandomSplitFractions([]float64{0.7}, 0)),
		"2 names for 1":       second(data.FromTensors([]*gotorch.Tensor{gotorch.Ones([]int{2})}, "a", "b")),
		"its first dimension": second(data.FromTensors([]*gotorch.Tensor{gotorch.Ones(nil)})),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v does not say %q", err, what)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// counting is a stream of first, first + 1 … of n numbers. Each of its methods uses operators.
type counting struct {
	at, n  int
	first  *gotorch.Tensor
	failed error
	closed *atomic.Int32
}

func (s *counting) Next() ([]*gotorch.Tensor, error) {
	if s.at == s.n {
		return nil, io.EOF
	}
	if s.at == 7 && s.failed != nil {
		return nil, s.failed
	}
	s.at++
	return []*gotorch.Tensor{integer(s.at - 1).Add(s.first)}, nil
}

func (s *counting) Close() error {
	if integer(s.at).Sub(s.first).Add(s.first).ItemInt() == s.at {
		s.closed.Add(1)
	}
	s.first.Close()
	return nil
}

func integer(i int) *gotorch.Tensor {
	return gotorch.Full(nil, i, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Int64)})
}

type counters struct {
	n              int
	failed         error
	opened, closed atomic.Int32
}

func (c *counters) Open(seed uint64, epoch int) (data.Stream, error) {
	c.opened.Add(1)
	first := integer(epoch).MulScalar(1000).AddScalar(int(seed)).Keep()
	return &counting{n: c.n, first: first, failed: c.failed, closed: &c.closed}, nil
}

// skippers are counters whose streams skip by themselves.
type skippers struct{ counters }

type skipping struct{ *counting }

func (s *skippers) Open(seed uint64, epoch int) (data.Stream, error) {
	stream, err := s.counters.Open(seed, epoch)
	return skipping{stream.(*counting)}, err
}

func (s skipping) Skip(n int) (skipped int, err error) {
	before := integer(s.at)
	s.at = min(s.at+n, s.n)
	return integer(s.at).Sub(before).ItemInt(), nil
}

func TestStreams(t *testing.T) {
	source := &counters{n: 11}
	dataset := must(data.FromIterable(source, "i"))
	if dataset.Len() != -1 {
		t.Error(dataset.Len())
	}
	for _, threads := range []int{1, 2} {
		loader := open(t, dataset, data.Options{BatchSize: 4, Seed: 100, Threads: gotorch.Some(threads)})
		if loader.Len() != -1 || loader.Samples() != -1 {
			t.Error(loader.Len(), loader.Samples())
		}
		for number := range 2 {
			first := 1000*number + 100
			got := numbersOf(t, loader, number)
			want := [][]int{{first, first + 1, first + 2, first + 3}, {first + 4, first + 5, first + 6, first + 7},
				{first + 8, first + 9, first + 10}}
			if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
				t.Error(got)
			}
		}
		loader.Close()
	}
	if source.opened.Load() != source.closed.Load() {
		t.Error(source.opened.Load(), "opened, but closed", source.closed.Load())
	}
	var global []int
	for rank := range 2 {
		loader := open(t, dataset, data.Options{BatchSize: 4, WorldSize: 2, Rank: rank})
		for _, batch := range numbersOf(t, loader, 0) {
			global = append(global, batch...)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(global)), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Error(global)
	}

	source.failed = errors.New("the line is dead")
	loader := open(t, dataset, data.Options{BatchSize: 4})
	var last error
	for _, err := range loader.Epoch(t.Context(), 0) {
		last = err
	}
	if !errors.Is(last, source.failed) || !strings.Contains(last.Error(), "sample 7 of the stream of epoch 0") {
		t.Error(last)
	}
	if _, err := dataset.Subset([]int{1}); err == nil || !strings.Contains(err.Error(), "one after the other") {
		t.Error(err)
	}
	if _, err := data.NewLoader(dataset, data.Options{BatchSize: 1, Shuffle: gotorch.Some(true)}); err == nil ||
		!strings.Contains(err.Error(), "its own order") {
		t.Error(err)
	}
	if _, err := data.FromIterable(source); err == nil || !strings.Contains(err.Error(), "names") {
		t.Error(err)
	}
}

// sums are streams of 1, 2, 3 …, each the one before, which the stream keeps, and 1.
type sums struct {
	live, mostLive int // tensors
}

type sum struct {
	of *sums
	at *gotorch.Tensor
}

func (s *sums) Open(uint64, int) (data.Stream, error) { return &sum{s, integer(0).Keep()}, nil }

func (s *sum) Next() ([]*gotorch.Tensor, error) {
	before := s.at
	defer before.Close()
	s.at = before.AddScalar(1).Keep()
	s.of.mostLive = max(s.of.mostLive, gotorch.LiveCounts()["tensor"]-s.of.live)
	return []*gotorch.Tensor{s.at.MulScalar(1)}, nil
}

func (s *sum) Close() error { s.at.Close(); return nil }

func TestSkippedSamplesAreFreedAtOnce(t *testing.T) {
	const first, batchSize = 500, 4
	source := &sums{live: gotorch.LiveCounts()["tensor"]}
	loader := open(t, must(data.FromIterable(source, "i")), data.Options{BatchSize: batchSize})
	for batch, err := range gotorch.Scoped(loader.EpochFrom(t.Context(), 0, first)) {
		if err != nil {
			t.Fatal(err)
		}
		const skipped = first * batchSize
		want := []int{skipped + 1, skipped + 2, skipped + 3, skipped + 4}
		if got := gotorch.ToSlice[int](batch.Tensors[0]); !slices.Equal(got, want) {
			t.Error(got)
		}
		break
	}
	loader.Close()
	if source.mostLive > 100 {
		t.Error(source.mostLive, "tensors at once")
	}
}

// Every record exactly once an epoch, wherever training stops and on however many ranks it goes on, for data sets and
// samplers of the program's own.
func TestLedger(t *testing.T) {
	const n, batchSize = 23, 4
	backwards := func(_ uint64, epoch, first int, samples []int) error {
		for i := range samples {
			samples[i] = (2*n - 1 - first - i - epoch) % n
		}
		return nil
	}
	own := must(must(data.FromSamples(&squares{n: n}, "i", "squares")).Map(
		func(sample []*gotorch.Tensor) ([]*gotorch.Tensor, error) { return sample[:1], nil }, "i"))
	cases := map[string]struct {
		dataset *data.Dataset
		sampler data.Sampler
	}{
		"samples":   {own, data.Sampler{}},
		"positions": {own, data.PositionSampler("backwards", n, backwards)},
		"epochs": {own, data.EpochSampler("by epoch", n, func(seed uint64, epoch int) ([]int, error) {
			samples := make([]int, n)
			return samples, backwards(seed, epoch, 0, samples)
		})},
		"stream":  {must(data.FromIterable(&counters{n: n}, "i")), data.Sampler{}},
		"skipper": {must(data.FromIterable(&skippers{counters{n: n}}, "i")), data.Sampler{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			world := func(size int, state []byte) (loaders []*data.Loader) {
				for rank := range size {
					loader := open(t, c.dataset, data.Options{BatchSize: batchSize, Rank: rank, WorldSize: size,
						Sampler: c.sampler, Threads: gotorch.Some(1 + rank)})
					if state != nil {
						if err := loader.Restore(state); err != nil {
							t.Fatal(err)
						}
					}
					loaders = append(loaders, loader)
				}
				return loaders
			}
			// The global batches that are left of an epoch.
			rest := func(loaders []*data.Loader, epoch int) (global [][]int) {
				for _, loader := range loaders {
					for step, part := range numbersOf(t, loader, epoch) {
						if step == len(global) {
							global = append(global, nil)
						}
						global[step] = append(global[step], part...)
					}
				}
				return global
			}
			expected := rest(world(1, nil), 0)
			seen := slices.Sorted(slices.Values(slices.Concat(expected...)))
			if len(seen) != n || len(slices.Compact(seen)) != n {
				t.Fatal(expected)
			}
			for stop := 1; stop < len(expected); stop++ {
				loader := world(1, nil)[0]
				step := 0
				var state []byte
				for batch, err := range loader.Epoch(t.Context(), 0) {
					if err != nil {
						t.Fatal(err)
					}
					batch.Close()
					if step++; step == stop {
						loader.Commit()
						state = must(loader.State())
						break
					}
				}
				for size := 1; size <= 3; size++ {
					if got := rest(world(size, state), 0); !slices.EqualFunc(got, expected[stop:], slices.Equal[[]int]) {
						t.Fatalf("after %d steps, on %d ranks: %v, not %v", stop, size, got, expected[stop:])
					}
				}
			}
		})
	}
}
