package data_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
)

func dataset(t *testing.T, n int) *data.Dataset {
	t.Helper()
	path, fields := numbers(t, n)
	set, err := data.Records([]string{path}, fields)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set
}

func hashStore(t *testing.T) *dist.Store {
	t.Helper()
	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func dynamic(t *testing.T, set *data.Dataset, store *dist.Store, o data.DynamicOptions) *data.DynamicLoader {
	t.Helper()
	loader, err := data.NewDynamicLoader(set, store, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loader.Close() })
	return loader
}

// inRanks runs body on a goroutine a rank, with a group of them.
func inRanks(t *testing.T, n int, store *dist.Store, body func(group *dist.ProcessGroup) error) {
	t.Helper()
	var wait sync.WaitGroup
	errs := make([]error, n)
	for rank := range n {
		wait.Go(func() {
			runtime.LockOSThread() // backward passes of all ranks exchange in one order
			group, err := dist.Init(t.Context(), dist.Options{Backend: "gloo", Store: store, Rank: gotorch.Some(rank),
				WorldSize: n, Timeout: time.Minute, Name: t.Name()})
			if err == nil {
				err = errors.Join(body(group), group.Close())
			}
			errs[rank] = err
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// epochOf goes through one epoch, in which each step ends with meet, and gives what the parts held, by step, and the log.
func epochOf(ctx context.Context, loader *data.DynamicLoader, meet func() error) (steps map[int][]int, log []data.CommittedStep, err error) {
	steps = map[int][]int{}
	for step, err := range loader.Steps(ctx) {
		if err != nil {
			return nil, nil, err
		}
		own := 0
		for part, err := range gotorch.Scoped(step.Parts()) {
			if err != nil {
				return nil, nil, err
			}
			found := gotorch.ToSlice[int](part.Field("number"))
			if !slices.Equal(found, part.Samples) || part.Index != step.Index || len(part.Randomness) != part.Count {
				return nil, nil, fmt.Errorf("%v of step %d: %v", found, step.Index, part)
			}
			steps[step.Index] = append(steps[step.Index], found...)
			own += part.Count
		}
		if step.Count() != own {
			return nil, nil, fmt.Errorf("%d samples were computed, not %d", own, step.Count())
		}
		if err := meet(); err != nil {
			return nil, nil, err
		}
		record, err := step.Commit()
		if err != nil {
			return nil, nil, err
		}
		all := 0
		for _, part := range record.Parts {
			all += part.Samples
		}
		if step.GlobalCount() != all || record.Step != step.Index || record.Epoch != step.Epoch {
			return nil, nil, fmt.Errorf("%d samples of step %d: %v", step.GlobalCount(), step.Index, record)
		}
		log = append(log, record)
	}
	return steps, log, nil
}

func none() error { return nil }

func TestDynamicBatchesAreThoseOfTheStaticPartition(t *testing.T) {
	set := dataset(t, 45)
	static, err := data.NewLoader(set, data.Options{BatchSize: 8, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer static.Close()
	want := map[int][]int{}
	for batch, err := range gotorch.Scoped(static.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		want[batch.Index] = slices.Sorted(slices.Values(batch.Samples))
	}
	endState, err := static.State()
	if err != nil {
		t.Fatal(err)
	}
	for size := 1; size <= 3; size++ {
		store := hashStore(t)
		var mutex sync.Mutex
		all := map[int][]int{}
		logs := make([][]data.CommittedStep, size)
		own := make([]map[int][]int, size)
		o := data.DynamicOptions{BatchSize: 8, MicroBatch: 3, Seed: 5, WorldSize: size}
		inRanks(t, size, store, func(group *dist.ProcessGroup) error {
			o := o
			o.Rank = group.Rank()
			loader, err := data.NewDynamicLoader(set, store, o)
			if err != nil {
				return err
			}
			defer loader.Close()
			steps, log, err := epochOf(t.Context(), loader, func() error { return group.Barrier(t.Context()) })
			if err != nil {
				return err
			}
			if loader.Epoch() != 1 {
				return fmt.Errorf("epoch %d is next", loader.Epoch())
			}
			if state, err := loader.State(); err != nil || !bytes.Equal(state, endState) {
				return fmt.Errorf("the state is not that of the static partition: %w", err)
			}
			mutex.Lock()
			defer mutex.Unlock()
			own[o.Rank], logs[o.Rank] = steps, log
			for step, samples := range steps {
				all[step] = append(all[step], samples...)
			}
			return nil
		})
		for step := range all {
			slices.Sort(all[step])
		}
		if !maps.EqualFunc(all, want, slices.Equal) {
			t.Fatalf("%d ranks: %v, want %v", size, all, want)
		}
		// A log, through JSON, has each rank do again what it did.
		text, err := json.Marshal(logs[0])
		if err != nil {
			t.Fatal(err)
		}
		for rank := range size {
			var log []data.CommittedStep
			if err := json.Unmarshal(text, &log); err != nil {
				t.Fatal(err)
			}
			o := o
			o.Rank, o.Replay = rank, log
			again, _, err := epochOf(t.Context(), dynamic(t, set, nil, o), none)
			if err != nil || !maps.EqualFunc(again, own[rank], slices.Equal) {
				t.Fatalf("rank %d of %d: %v, %v, want %v", rank, size, again, err, own[rank])
			}
		}
	}
}

// Gradients of parts, summed over ranks by DDP and divided by the global count, are those of the global batch.
func TestDynamicGradientsAreWeighted(t *testing.T) {
	set := dataset(t, 7)
	store := hashStore(t)
	var mutex sync.Mutex
	var counts [2]int
	inRanks(t, 2, store, func(group *dist.ProcessGroup) error {
		rank := group.Rank()
		layer := nn.NewLinear(3, 1, nn.LinearOptions{Bias: nn.Some(false)})
		ddp, err := dist.NewDDP(group, layer)
		if err != nil {
			return err
		}
		defer ddp.Close()
		loader, err := data.NewDynamicLoader(set, store, data.DynamicOptions{BatchSize: 7, MicroBatch: 7, Rank: rank,
			WorldSize: 2})
		if err != nil {
			return err
		}
		defer loader.Close()
		for step, err := range loader.Steps(t.Context()) {
			if err != nil {
				return err
			}
			if err := ddp.NoSync(func() error {
				for part, err := range gotorch.Scoped(step.Parts()) {
					if err != nil {
						return err
					}
					if err := ddp.Forward(part.Field("bytes")).Sum().Backward(); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				return err
			}
			// The pass in which DDP exchanges what was added up, also for a rank that had no part.
			exchange := dist.Forward(ddp, layer.Weight, func(weight *gotorch.Tensor) *gotorch.Tensor {
				return weight.Sum().MulScalar(0)
			})
			if err := exchange.Backward(); err != nil {
				return err
			}
			mean := layer.Weight.Grad().MulScalar(float64(group.Size()) / float64(step.GlobalCount()))
			// Of byte j of sample i the field is 4·(i+j) − 2, and a mean over i from 0 to 6 has i = 3.
			if got := gotorch.ToSlice[float32](mean); !slices.EqualFunc(got, []float32{10, 14, 18}, func(a, b float32) bool {
				return a-b < 1e-4 && b-a < 1e-4
			}) {
				return fmt.Errorf("rank %d has the gradient %v", rank, got)
			}
			if _, err := step.Commit(); err != nil {
				return err
			}
			mutex.Lock()
			counts[rank] = step.Count()
			mutex.Unlock()
		}
		return nil
	})
	if counts != [2]int{7, 0} && counts != [2]int{0, 7} {
		t.Fatal("one rank has the one part:", counts)
	}
}

func TestDynamicContextEndsAWait(t *testing.T) {
	set, store := dataset(t, 4), hashStore(t)
	o := data.DynamicOptions{BatchSize: 4, MicroBatch: 4, WorldSize: 2}
	first := dynamic(t, set, store, o)
	for step, err := range first.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for part, err := range step.Parts() {
			if err != nil {
				t.Fatal(err)
			}
			part.Close()
			break // and computes it for long
		}
		break
	}
	o.Rank = 1
	second := dynamic(t, set, store, o)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	for step, err := range second.Steps(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range step.Parts() {
			if !errors.Is(err, cause) {
				t.Fatal(err)
			}
		}
		break
	}
	for _, err := range second.Steps(ctx) {
		if !errors.Is(err, cause) {
			t.Fatal(err)
		}
	}
	// Close ends a wait as well.
	o.Generation = 2
	o.Rank = 0
	holder := dynamic(t, set, store, o)
	o.Rank = 1
	waiter := dynamic(t, set, store, o)
	for _, loader := range []*data.DynamicLoader{holder, waiter} {
		for step, err := range loader.Steps(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if loader == waiter {
				time.AfterFunc(20*time.Millisecond, func() { waiter.Close() })
			}
			for part, err := range step.Parts() {
				if loader == holder && err == nil {
					part.Close()
					break
				}
				var ours *gotorch.Error
				if !errors.As(err, &ours) || ours.Code != gotorch.ErrAborted && ours.Code != gotorch.ErrClosed {
					t.Fatal(part, err)
				}
			}
			break
		}
	}
}

// Samples that fail are left out, with a record, and stay out in what goes on from the checkpoint.
func TestDynamicQuarantine(t *testing.T) {
	set := dataset(t, 6)
	o := data.DynamicOptions{BatchSize: 6, MicroBatch: 1, MostFailures: 2}
	loader := dynamic(t, set, hashStore(t), o)
	var log []data.CommittedStep
	for step, err := range loader.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for part, err := range gotorch.Scoped(step.Parts()) {
			if err != nil {
				t.Fatal(err)
			}
			if part.Samples[0] == 3 {
				if err := step.Fail(3, errors.New("the loss is NaN")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if step.GlobalCount() != 5 {
			t.Fatal(step.GlobalCount())
		}
		record, err := step.Commit()
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, record)
	}
	want := []data.Quarantined{{Sample: 3, Failures: 2, Reason: "the loss is NaN"}}
	quarantine, err := loader.Quarantine()
	if err != nil || !slices.Equal(quarantine, want) || len(log) != 1 || !slices.Equal(log[0].LeftOut, want) {
		t.Fatal(quarantine, err, log)
	}
	state, err := loader.State()
	if err != nil {
		t.Fatal(err)
	}
	o.State, o.Quarantine, o.Generation = state, quarantine, 2
	next := dynamic(t, set, hashStore(t), o)
	if next.Epoch() != 1 {
		t.Fatal(next.Epoch())
	}
	steps, _, err := epochOf(t.Context(), next, none)
	if err != nil || !slices.Equal(slices.Sorted(slices.Values(steps[0])), []int{0, 1, 2, 4, 5}) {
		t.Fatal(steps, err)
	}
}

func TestDynamicMisuse(t *testing.T) {
	set, store := dataset(t, 4), hashStore(t)
	refused := func(err error, code gotorch.Code, part string) {
		t.Helper()
		var ours *gotorch.Error
		if !errors.As(err, &ours) || ours.Code != code || !strings.Contains(err.Error(), part) {
			t.Fatalf("%v, want %v with %q", err, code, part)
		}
	}
	make := func(o data.DynamicOptions) error {
		_, err := data.NewDynamicLoader(set, store, o)
		return err
	}
	_, err := data.NewDynamicLoader(set, nil, data.DynamicOptions{BatchSize: 2, MicroBatch: 1})
	refused(err, gotorch.ErrInvalidArgument, "store")
	refused(make(data.DynamicOptions{BatchSize: 2}), gotorch.ErrInvalidArgument, "MicroBatch")
	refused(make(data.DynamicOptions{BatchSize: 2, MicroBatch: 1, Tail: data.PadTail}), gotorch.ErrInvalidArgument, "ail")
	refused(make(data.DynamicOptions{BatchSize: 2, MicroBatch: 1, Timeout: -1}), gotorch.ErrInvalidArgument, "imeout")
	refused(make(data.DynamicOptions{BatchSize: 2, MicroBatch: 1, State: []byte("none")}), gotorch.ErrDataLoss, "state")
	_, err = data.NewDynamicLoader(set, nil, data.DynamicOptions{BatchSize: 2, MicroBatch: 1,
		Replay: []data.CommittedStep{{Generation: 1}}})
	refused(err, gotorch.ErrInvalidArgument, "step 0 of epoch 0")

	loader := dynamic(t, set, store, data.DynamicOptions{BatchSize: 2, MicroBatch: 1, Name: "other"})
	var old *data.Step
	for step, err := range loader.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := step.Commit(); old == nil {
			refused(err, gotorch.ErrInvalidArgument, "before next() gave nothing")
		}
		if old != nil {
			_, err := old.Commit()
			refused(err, gotorch.ErrInvalidArgument, "another step")
			break
		}
		old = step
		for part := range step.Parts() {
			part.Close()
		}
		if _, err := step.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range loader.Steps(t.Context()) {
		refused(err, gotorch.ErrInvalidArgument, "commit() it")
	}
	loader.Close()
	loader.Close()
	_, err = loader.State()
	refused(err, gotorch.ErrClosed, "closed")
	for _, err := range loader.Steps(t.Context()) {
		refused(err, gotorch.ErrClosed, "closed")
	}
}
