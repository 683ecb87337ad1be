package data

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// DynamicOptions of [NewDynamicLoader].
type DynamicOptions struct {
	BatchSize  int               // of all ranks together
	MicroBatch int               // that a rank is given at a time
	Shuffle    gotorch.Opt[bool] // unset: true
	Seed       uint64            // of the shuffle
	Tail       Tail              // ShortTail, DropTail or RepeatTail
	Threads    int               // that make micro-batches; 0: 1
	Prefetch   gotorch.Opt[int]  // micro-batches of this rank made ahead; unset: 1

	// Bytes of micro-batches ahead: none is begun that would be too much. 0: 256 MiB.
	PrefetchBytes int
	// As in [Options], on micro-batches. A step that fails is an error of its part: no sample is left out for it.
	Transforms []Transform
	PinMemory  bool
	Device     gotorch.Device

	// As in [Options]. A part counts as computed without what was left out of it.
	OnIOError OnIOError
	IORetry   time.Duration

	ShuffleBlock, ShuffleWindow int     // as in [Options], …
	Sampler                     Sampler // … and this

	MostFailures    int              // of a sample in a step, on whichever ranks, before it is left out; 0: 3
	MostQuarantined gotorch.Opt[int] // samples that may be left out; with one more a step fails; unset: 1000

	LostAfter time.Duration // a rank without a sign of life for so long is given up; 0: 30 s
	Timeout   time.Duration // when ranks that live do not complete their parts; 0: 5 minutes

	Name       string // of the loader among those that share the store; "": "loader"
	Generation int    // counts up with every new group of the run; 0: 1
	Rank       int    // of this process in its group …
	WorldSize  int    // … of so many; 0: 1

	// What a checkpoint has: of [DynamicLoader.State], or [Loader.State], and [DynamicLoader.Quarantine].
	State      []byte
	Quarantine []Quarantined

	// The log of a run, to have this rank do again what it did then, in that order and without a store. Of steps that it
	// has twice, since a generation ended, the later counts. Steps past its end fail with ErrOutOfRange.
	Replay []CommittedStep
}

// DynamicLoader deals micro-batches of global batches out to whichever rank is free, so that faster ranks take more.
// The members of a global batch are those that [Loader] has, whatever the number of ranks.
//
// On every rank:
//
//	for loader.Epoch() < 10 {
//		for step, err := range loader.Steps(ctx) {
//			if err != nil {
//				return err
//			}
//			err := ddp.NoSync(func() error {
//				for part, err := range gotorch.Scoped(step.Parts()) { // a rank may get none
//					if err != nil {
//						return err
//					}
//					… // Backward of the sum of the part's losses
//				}
//				return nil
//			})
//			… // sum the gradients over all ranks, and divide by step.GlobalCount()
//			if err := errors.Join(err, optimizer.Step()); err != nil {
//				return err
//			}
//			record, err := step.Commit()
//			if err := errors.Join(err, log.Encode(record)); err != nil {
//				return err
//			}
//		}
//	}
//
// A step counts when it is committed. When ranks are lost, the group's collectives fail; the survivors form the next
// generation, take model, state and quarantine of one of them, and make new loaders: steps that this model has not seen
// are dealt out again, so every sample counts once in the model that survives. A rank that was given up, but lives, gets
// ErrAborted.
//
// One goroutine at a time may use it; any may close it.
type DynamicLoader struct {
	native
	names []string
	begun int // counts steps, so that an older one notices
}

// Step is a step of the optimizer.
type Step struct {
	Epoch int
	Index int // in the epoch

	loader        *DynamicLoader
	ctx           context.Context
	number        int
	local, global int
}

// NewDynamicLoader joins the other ranks of its generation in the store, which may be the group's and serve other
// loaders by other names; data set and store may be closed then. With o.Replay the store may be nil.
//
// Errors: ErrInvalidArgument for options, or where ranks of one generation differ in them; ErrAborted where a newer
// generation has begun; those of [Loader.Restore] and of stores.
func NewDynamicLoader(dataset *Dataset, store *dist.Store, o DynamicOptions) (*DynamicLoader, error) {
	raw, err := o.raw()
	if err != nil {
		return nil, err
	}
	l := &DynamicLoader{native: native{name: "data.DynamicLoader"}, names: dataset.names}
	if err := dataset.use("data.NewDynamicLoader", func(handle c.Dataset) (failure *c.Failure) {
		l.handle, failure, err = o.create(handle, store, raw)
		return failure
	}); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	steps := batchSteps{
		operation:  "data.NewDynamicLoader",
		names:      l.names,
		transforms: func(json string) *c.Failure { return c.AddTransforms(l.handle, json) },
		step:       func(adds []string, body c.Callback) *c.Failure { return c.AddStep(l.handle, adds, body) },
	}
	if err := steps.addAll(o.Transforms); err != nil {
		c.FreeLoader(l.handle)
		return nil, err
	}
	l.names = steps.names
	l.watch = leak.Track(l, "data.DynamicLoader")
	return l, nil
}

func (o DynamicOptions) create(dataset c.Dataset, store *dist.Store, raw c.DynamicLoaderOptions) (handle c.Loader, failure *c.Failure, err error) {
	if o.Replay != nil {
		log, err := records(o.Replay)
		if err != nil {
			return nil, nil, err
		}
		failure = o.Sampler.use(func(sampler c.Sampler) (failure *c.Failure) {
			raw.Sampler = sampler
			handle, failure = c.ReplayDynamicLoader(dataset, log, raw)
			return failure
		})
		return handle, failure, nil
	}
	if store == nil {
		return nil, nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "data.NewDynamicLoader",
			Message: "ranks need a store to share a queue of leases; give one, or a log to replay"}
	}
	native, done, err := bridge.Store(store)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	failure = o.Sampler.use(func(sampler c.Sampler) (failure *c.Failure) {
		raw.Sampler = sampler
		handle, failure = c.CreateDynamicLoader(dataset, native, raw)
		return failure
	})
	return handle, failure, nil
}

func (o DynamicOptions) raw() (c.DynamicLoaderOptions, error) {
	quarantine, err := json.Marshal(append([]Quarantined{}, o.Quarantine...))
	return c.DynamicLoaderOptions{
		BatchSize: o.BatchSize, MicroBatch: o.MicroBatch, Shuffle: o.Shuffle.Or(true), Tail: int32(o.Tail) + 1,
		Seed: o.Seed, ShuffleBlock: o.ShuffleBlock, ShuffleWindow: o.ShuffleWindow, Threads: or(o.Threads, 1),
		Prefetch: o.Prefetch.Or(1), MostFailures: or(o.MostFailures, 3), MostQuarantined: o.MostQuarantined.Or(1000),
		LostAfterMS: milliseconds(o.LostAfter, 30*time.Second), TimeoutMS: milliseconds(o.Timeout, 5*time.Minute),
		Name: o.Name, Generation: or(o.Generation, 1), Rank: o.Rank, WorldSize: or(o.WorldSize, 1), State: o.State,
		Quarantine: string(quarantine), PrefetchBytes: o.PrefetchBytes, PinMemory: o.PinMemory,
		Device: nativeDevice(o.Device), OnIOError: int32(o.OnIOError), IORetryMS: orNone(o.IORetry),
	}, err
}

// milliseconds of a duration, rounded up; 0 is the fallback.
func milliseconds(d, fallback time.Duration) int64 {
	if d == 0 {
		d = fallback
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// until runs a call that waits, for other ranks or for batches. When ctx ends it aborts the loader.
func until(ctx context.Context, handle c.Loader, call func() error) error {
	aborted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(aborted)
		c.AbortLoader(handle)
	})
	err := call()
	if !stop() {
		<-aborted // the handle may be freed then
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Steps gives those that are left of the epoch. Each must be committed before the next. It ends after an error, which
// ctx's end is one of: where that comes while the loader waits for other ranks, it is the loader's end too.
func (l *DynamicLoader) Steps(ctx context.Context) iter.Seq2[*Step, error] {
	return func(yield func(*Step, error) bool) {
		for {
			step, err := l.next(ctx)
			if step == nil && err == nil {
				return
			}
			if !yield(step, err) || err != nil {
				return
			}
		}
	}
}

func (l *DynamicLoader) next(ctx context.Context) (step *Step, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err = l.with(func(handle c.Loader) error {
		has, failure := c.NextStep(handle)
		if failure == nil && has {
			l.begun++
			step = &Step{Epoch: c.LoaderCurrentEpoch(handle), Index: c.LoaderCurrentStep(handle), loader: l, ctx: ctx,
				number: l.begun}
		}
		return bridge.Error(failure)
	})
	return step, err
}

// with calls with the handle of its loader, if this is its open step.
func (s *Step) with(call func(c.Loader) error) error {
	return s.loader.with(func(handle c.Loader) error {
		if s.number != s.loader.begun {
			return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "data.Step",
				Message: "another step of this loader was begun"}
		}
		return call(handle)
	})
}

// Parts gives micro-batches of the step to this rank, until all of the global batch is computed by whichever ranks; then
// all of them join the exchange of gradients, also those that had no part. Asking for a part says that the one before is
// computed. A part's GlobalCount is that of the step with all its samples.
//
// Errors: ErrAborted for a rank that was given up; ErrTimeout naming the ranks that did not complete their parts;
// ErrPeerLost where the rank that keeps the queue is gone, after which there is to be another generation; ErrDataLoss
// where too many samples cannot be loaded; the cause of the context's end.
func (s *Step) Parts() iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for {
			part, err := s.next()
			if part == nil && err == nil {
				return
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}

func (s *Step) next() (part *Batch, err error) {
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	err = s.with(func(handle c.Loader) error {
		made := make([]c.Made, len(s.loader.names))
		var about *c.LoaderBatch
		err := until(s.ctx, handle, func() error {
			var failure *c.Failure
			about, failure = c.Next(handle, made)
			return failed("data.Step.Parts", failure)
		})
		s.local, s.global = c.LoaderStepCounts(handle)
		if err == nil && about != nil {
			part = newBatch(about, made, s.loader.names)
		}
		return err
	})
	return part, err
}

// Fail says, instead of computing the part that was given last, that a sample of it cannot be computed. The part goes
// back, and the sample's failures are counted as if it could not be loaded.
func (s *Step) Fail(sample int, reason error) error {
	return s.with(func(handle c.Loader) error {
		return bridge.Error(c.FailPart(handle, sample, reason.Error()))
	})
}

// Count is the number of samples of the step that this rank computed.
func (s *Step) Count() int { return s.local }

// GlobalCount is the number of them that all ranks did; 0 before [Step.Parts] is through.
func (s *Step) GlobalCount() int { return s.global }

// Commit says that the optimizer has made the step: state and quarantine count it from now on, whatever the others say to
// it, which the next step tells. Its record belongs into the run's log.
func (s *Step) Commit() (record CommittedStep, err error) {
	err = s.with(func(handle c.Loader) error {
		text, failure := c.CommitStep(handle)
		if failure != nil {
			return failed("data.Step.Commit", failure)
		}
		return json.Unmarshal([]byte(text), &record)
	})
	return record, err
}

// Epoch is that of the open step, or of the next one.
func (l *DynamicLoader) Epoch() (epoch int) {
	l.with(func(handle c.Loader) error {
		epoch = c.LoaderCurrentEpoch(handle)
		return nil
	})
	return epoch
}

// State is where training goes on: less than 256 bytes, the same on every rank and as of a [Loader] that has come as
// far. Save the model with it, and with [DynamicLoader.Quarantine], after [Step.Commit].
func (l *DynamicLoader) State() (state []byte, err error) {
	err = l.with(func(handle c.Loader) error {
		var failure *c.Failure
		state, failure = c.LoaderState(handle)
		return failed("data.DynamicLoader.State", failure)
	})
	return state, err
}

// Quarantine lists the samples that are left out, by the steps that this model has seen.
func (l *DynamicLoader) Quarantine() (items []Quarantined, err error) {
	err = l.with(func(handle c.Loader) error {
		text, failure := c.LoaderQuarantine(handle)
		if failure != nil {
			return bridge.Error(failure)
		}
		return json.Unmarshal([]byte(text), &items)
	})
	return items, err
}

// Close stops the loader's threads, and leaves the generation: parts of a step that is not whole go to other ranks.
// Calls that wait end with ErrAborted. A second Close does nothing.
func (l *DynamicLoader) Close() error {
	l.close()
	return nil
}
