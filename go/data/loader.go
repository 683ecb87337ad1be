package data

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Field is one field of a record of fixed layout; fields follow one another without gaps. A batch has one tensor per
// field, of shape [batch, Shape…].
type Field struct {
	Name  string
	DType gotorch.DType // in the record
	Shape []int         // of one sample; empty: a scalar
	Out   gotorch.DType // of the batch: DType, Float32 or Int64

	// For Out Float32: (x · Scale − Mean) / Std. Zero values of Scale and Std mean 1.
	Scale, Mean, Std float64
}

// Options of [Open].
type Options struct {
	BatchSize int               // of this rank
	Rank      int               // of this process …
	WorldSize int               // … among so many; 0: 1
	Shuffle   gotorch.Opt[bool] // unset: true
	Seed      uint64            // of the shuffle
	DropLast  bool              // ranks get full batches only; else the tail is dealt out too, padded from the start
	Threads   int               // that fill batches; 0: 1
	Prefetch  int               // batches ahead; 0: 2
}

// Batch of samples.
type Batch struct {
	Index   int               // in this rank's epoch
	Tensors []*gotorch.Tensor // one for each field
	fields  []Field
}

// Field is the tensor of that field; it panics when there is none.
func (b *Batch) Field(name string) *gotorch.Tensor {
	for i, field := range b.fields {
		if field.Name == name {
			return b.Tensors[i]
		}
	}
	panic(&gotorch.Error{Code: gotorch.ErrNotFound, Op: "data.Batch", Message: fmt.Sprintf("no field %q", name)})
}

// Close frees the tensors at once.
func (b *Batch) Close() {
	for _, t := range b.Tensors {
		t.Close()
	}
}

// Loader reads RecordIO files into batches. One goroutine at a time may use it.
type Loader struct {
	mutex   sync.Mutex
	handle  c.Loader
	fields  []Field
	samples int
	batches int
	epoch   int // counts calls of Epoch, so that an older one notices
	watch   *leak.Watch
}

// Open RecordIO files of records with those fields.
func Open(paths []string, fields []Field, o Options) (*Loader, error) {
	raw := make([]c.Field, len(fields))
	for i, f := range fields {
		raw[i] = c.Field{Name: f.Name, DType: int32(f.DType), OutDType: int32(f.Out), Sizes: f.Shape, Mean: f.Mean,
			Std: or(f.Std, 1), Scale: or(f.Scale, 1)}
	}
	handle, failure := c.CreateLoader(paths, raw, c.LoaderOptions{
		BatchSize: o.BatchSize, Rank: o.Rank, WorldSize: or(o.WorldSize, 1), Shuffle: o.Shuffle.Or(true), Seed: o.Seed,
		DropLast: o.DropLast, Threads: or(o.Threads, 1), Prefetch: or(o.Prefetch, 2),
	})
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	l := &Loader{handle: handle, fields: fields, samples: c.LoaderSamples(handle), batches: c.LoaderBatches(handle)}
	l.watch = leak.Track(l, "data.Loader")
	return l, nil
}

func or[T int | float64](value, fallback T) T {
	if value == 0 || math.IsNaN(float64(value)) {
		return fallback
	}
	return value
}

// Len is the number of batches that an epoch gives this rank.
func (l *Loader) Len() int { return l.batches }

// Samples is the number of samples in all files.
func (l *Loader) Samples() int { return l.samples }

// Epoch gives this rank's batches of an epoch, whose order follows from the seed and the epoch's number. It ends after
// an error, which ctx's end is one of. A new epoch ends the one before. Each batch is new tensors:
//
//	for batch, err := range gotorch.Scoped(loader.Epoch(ctx, epoch)) {
//		if err != nil {
//			return err
//		}
//		…
//	}
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.EpochFrom(ctx, epoch, 0)
}

// EpochFrom is [Loader.Epoch] from its batch first on.
func (l *Loader) EpochFrom(ctx context.Context, epoch, first int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		number, err := l.start(epoch, first)
		if err != nil {
			yield(nil, err)
			return
		}
		for index := first; ; index++ {
			batch, err := l.next(ctx, number, index)
			if batch == nil && err == nil {
				return
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

func (l *Loader) start(epoch, first int) (number int, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.handle == nil {
		return 0, closed()
	}
	l.epoch++
	return l.epoch, bridge.Error(c.StartEpoch(l.handle, epoch, first))
}

func (l *Loader) next(ctx context.Context, number, index int) (*Batch, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.handle == nil {
		return nil, closed()
	}
	if number != l.epoch {
		return nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "data.Epoch",
			Message: "another epoch of this loader was begun; open a second loader to have both"}
	}
	made := make([]c.Made, len(l.fields))
	has, failure := c.Next(l.handle, made)
	if failure != nil || !has {
		return nil, bridge.Error(failure)
	}
	batch := &Batch{Index: index, Tensors: make([]*gotorch.Tensor, len(made)), fields: l.fields}
	for i, m := range made {
		batch.Tensors[i] = bridge.Wrap(m).(*gotorch.Tensor)
	}
	return batch, nil
}

func closed() error {
	return &gotorch.Error{Code: gotorch.ErrClosed, Op: "data.Epoch", Message: "the loader was closed before this use"}
}

// Close stops the loader's threads. A second Close does nothing.
func (l *Loader) Close() error {
	if l.watch.Done() {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		c.FreeLoader(l.handle)
		l.handle = nil
	}
	return nil
}
