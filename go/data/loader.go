package data

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

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

// Tail is what becomes of the end of an epoch, less than a global batch.
type Tail int32

const (
	ShortTail  Tail = iota // a smaller global batch; ranks may get none of it
	DropTail               // left out
	PadTail                // a global batch filled up with zeros, which a mask tells from samples
	RepeatTail             // a global batch filled up with the epoch's first samples
	EvenTail               // filled up so far only that all ranks get equally many, which depends on their number
)

// Options of [Open] and [NewLoader].
type Options struct {
	BatchSize int               // of all ranks together, which need not be a multiple of their number …
	PerRank   bool              // … or of each
	Rank      int               // of this process …
	WorldSize int               // … among so many; 0: 1
	Shuffle   gotorch.Opt[bool] // unset: true, but for samples that come one after the other
	Seed      uint64            // of the shuffle
	Tail      Tail
	Threads   gotorch.Opt[int] // that make batches; unset: 1; 0: none, whoever asks for a batch makes it
	Prefetch  gotorch.Opt[int] // batches ahead, of all threads together, but at least one of each; unset: 2

	// For files that are read by the chunk (compressed, remote): shuffles blocks of ShuffleBlock consecutive samples,
	// then the samples within each ShuffleWindow (0: 16) consecutive ones of the shuffled blocks. 0: all samples alike.
	ShuffleBlock, ShuffleWindow int

	Sampler Sampler // in place of Shuffle, ShuffleBlock and ShuffleWindow

	// Bytes of batches ahead: none is begun that would be too much. 0: 256 MiB.
	PrefetchBytes int

	// Steps on each whole batch, in the loader's threads.
	Transforms []Transform
	// Batches in page-locked memory, from which copies to a GPU run beside computation. ErrUnsupported in a process
	// without CUDA.
	PinMemory bool
	// Where all tensors of batches are, but [Batch.Mask]. For a GPU (Index -1: the current one) they are made in
	// page-locked memory and copied by the loader's threads, ahead of their use, on a stream of their own; the stream that
	// is current for who takes a batch waits for the copies, and the CPU does not. What is on the GPU counts for
	// PrefetchBytes, and what is not copied yet. ErrUnsupported in a process without CUDA, ErrOutOfRange past the last GPU.
	Device gotorch.Device

	// Where samples cannot be read, though nothing is known to be wrong with them, and for how long that is tried again
	// (0: three minutes, less: not at all): an outage of minutes is no end of a run.
	OnIOError OnIOError
	IORetry   time.Duration
	// How long a batch is waited for before ErrTimeout; asking again waits for it again. 0: half an hour, less: no limit.
	Timeout time.Duration
}

// OnIOError is what a loader does where files, or the servers that they are on, cannot be read. None of it counts
// against a sample, as only what is wrong with the data itself does.
type OnIOError int32

const (
	// RetryIO tries again, with growing pauses, as long as IORetry says; then it is an error.
	RetryIO OnIOError = iota
	// SkipIO tries again as long, and then leaves the samples that still cannot be read out of their batch, this time.
	SkipIO
	// FailIO is an error at once.
	FailIO
)

// In milliseconds: 0 is the default, and less than that -1, which is none.
func orNone(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return milliseconds(d, 0)
}

// Batch is this rank's part of a global batch.
type Batch struct {
	Epoch   int
	Index   int               // in the epoch
	Tensors []*gotorch.Tensor // one for each field, of shape [rows, …]

	// Samples in it, and in the parts of all ranks. A mean over a rank's samples counts Count × ranks ÷ GlobalCount in
	// the mean over ranks, for that to be the mean over the global batch: see dist.DDPOptions.AverageBySamples.
	Count, GlobalCount int

	// Samples of this rank's part that could not be read and are left out ([SkipIO]). They are in GlobalCount, but in
	// nothing else here.
	Skipped int

	Samples    []int    // whose rows they are; rows behind are zeros (PadTail)
	Randomness []uint64 // for each, a hash of seed, epoch and sample, from which augmentation is to follow

	rows  int
	names []string
}

// Mask is a Bool tensor [rows], on the CPU, that tells which rows are samples.
func (b *Batch) Mask() *gotorch.Tensor {
	mask := make([]bool, b.rows)
	for i := range b.Count {
		mask[i] = true
	}
	return gotorch.From(mask, b.rows)
}

// Field is the tensor of that field; it panics when there is none.
func (b *Batch) Field(name string) *gotorch.Tensor {
	for i, field := range b.names {
		if field == name {
			return b.Tensors[i]
		}
	}
	panic(&gotorch.Error{Code: gotorch.ErrNotFound, Op: "data.Batch", Message: fmt.Sprintf("no field %q", name)})
}

// Strings are the texts of a field of [Bytes], padded or of one size, one a row; it panics when there is none.
func (b *Batch) Strings(name string) []string {
	field := b.Field(name)
	refuse := func(format string, args ...any) {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "data.Batch",
			Message: fmt.Sprintf("field %q ", name) + fmt.Sprintf(format, args...)})
	}
	if field.DType() != gotorch.Uint8 || field.Dim() != 2 || field.Size(0) != b.rows {
		refuse("has no texts: it is no Uint8 tensor of a row a sample")
	}
	bytes, longest := gotorch.ToSlice[uint8](field), field.Size(1)
	var lengths []int
	if slices.Contains(b.names, name+"_lengths") {
		if lengths = gotorch.ToSlice[int](b.Field(name + "_lengths")); len(lengths) != b.rows {
			refuse("has texts in %d rows, but lengths of %d", b.rows, len(lengths))
		}
	}
	texts := make([]string, b.rows)
	for i := range texts {
		length := longest
		if lengths != nil {
			length = lengths[i]
		}
		if length < 0 || length > longest {
			refuse("has texts of up to %d bytes, but a length of %d", longest, length)
		}
		texts[i] = string(bytes[i*longest : i*longest+length])
	}
	return texts
}

// Close frees the tensors at once.
func (b *Batch) Close() {
	for _, t := range b.Tensors {
		t.Close()
	}
}

// Loader reads RecordIO files into batches. One goroutine at a time may use it; any may close it.
type Loader struct {
	native
	names   []string
	samples int
	batches int
	epoch   int // counts calls of Epoch, so that an older one notices
}

// Open files of records with those fields: a loader of [Records].
func Open(paths []string, fields []Field, o Options) (*Loader, error) {
	dataset, err := Records(paths, fields)
	if err != nil {
		return nil, err
	}
	defer dataset.Close()
	l, err := makeLoader(dataset, o)
	if err == nil {
		l.watch = leak.Track(l, "data.Loader")
	}
	return l, err
}

// NewLoader makes batches of a data set, which may be closed then.
func NewLoader(dataset *Dataset, o Options) (*Loader, error) {
	l, err := makeLoader(dataset, o)
	if err == nil {
		l.watch = leak.Track(l, "data.Loader")
	}
	return l, err
}

func makeLoader(dataset *Dataset, o Options) (*Loader, error) {
	l := &Loader{native: native{name: "data.Loader"}, names: dataset.names}
	if err := dataset.use("data.NewLoader", func(handle c.Dataset) *c.Failure {
		return o.Sampler.use(func(sampler c.Sampler) (failure *c.Failure) {
			raw := o.raw(!dataset.iterable)
			raw.Sampler = sampler
			l.handle, failure = c.CreateLoader(handle, raw)
			return failure
		})
	}); err != nil {
		return nil, err
	}
	steps := batchSteps{
		operation:  "data.NewLoader",
		names:      l.names,
		transforms: func(json string) *c.Failure { return c.AddTransforms(l.handle, json) },
		step:       func(adds []string, body c.Callback) *c.Failure { return c.AddStep(l.handle, adds, body) },
	}
	if err := steps.addAll(o.Transforms); err != nil {
		c.FreeLoader(l.handle)
		return nil, err
	}
	l.names = steps.names
	l.samples, l.batches = c.LoaderSamples(l.handle), c.LoaderBatches(l.handle)
	return l, nil
}

// raw, which shuffles where that is unset and shuffle says so.
func (o Options) raw(shuffle bool) c.LoaderOptions {
	return c.LoaderOptions{
		BatchSize: o.BatchSize, GlobalBatch: !o.PerRank, Rank: o.Rank, WorldSize: or(o.WorldSize, 1),
		Shuffle: o.Shuffle.Or(shuffle), Seed: o.Seed, Tail: int32(o.Tail) + 1, Threads: o.Threads.Or(1),
		Prefetch: o.Prefetch.Or(2), ShuffleBlock: o.ShuffleBlock, ShuffleWindow: o.ShuffleWindow,
		PrefetchBytes: o.PrefetchBytes, PinMemory: o.PinMemory, Device: nativeDevice(o.Device),
		OnIOError: int32(o.OnIOError), IORetryMS: orNone(o.IORetry), TimeoutMS: orNone(o.Timeout),
	}
}

func nativeDevice(device gotorch.Device) c.Device {
	return c.Device{Kind: int32(device.Kind), Index: int32(device.Index)}
}

func or[T int | float64](value, fallback T) T {
	if value == 0 || math.IsNaN(float64(value)) {
		return fallback
	}
	return value
}

// Len is the number of batches of an epoch, the same on every rank; -1 where it is unknown, see [FromIterable].
func (l *Loader) Len() int { return l.batches }

// Samples is the number of samples of the data set; -1 where it is unknown.
func (l *Loader) Samples() int { return l.samples }

// Epoch gives this rank's batches of an epoch, whose order follows from the seed and the epoch's number. The epoch that
// [Loader.Restore] went on with begins where that was, the first time. It ends after an error, which ctx's end is one
// of: where that comes while a batch is waited for, it is the loader's end too, and only State and Close are left. A new
// epoch ends the one before. Each batch is new tensors:
//
//	for epoch := loader.CurrentEpoch(); epoch < 10; epoch++ {
//		for batch, err := range gotorch.Scoped(loader.Epoch(ctx, epoch)) {
//			if err != nil {
//				return err
//			}
//			…
//			if err := errors.Join(optimizer.Step(), loader.Commit()); err != nil {
//				return err
//			}
//		}
//	}
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.batchesOf(ctx, epoch, -1)
}

// EpochFrom is the epoch from its batch first on.
func (l *Loader) EpochFrom(ctx context.Context, epoch, first int) iter.Seq2[*Batch, error] {
	return l.batchesOf(ctx, epoch, max(first, 0))
}

func (l *Loader) batchesOf(ctx context.Context, epoch, first int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		number, err := l.start(epoch, first)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			batch, err := l.next(ctx, number)
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
	err = l.with(func(handle c.Loader) error {
		l.epoch++
		number = l.epoch
		return bridge.Error(c.StartEpoch(handle, epoch, first))
	})
	return number, err
}

func (l *Loader) next(ctx context.Context, number int) (batch *Batch, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err = l.with(func(handle c.Loader) error {
		if number != l.epoch {
			return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "data.Epoch",
				Message: "another epoch of this loader was begun; open a second loader to have both"}
		}
		made := make([]c.Made, len(l.names))
		var about *c.LoaderBatch
		err := until(ctx, handle, func() error {
			var failure *c.Failure
			about, failure = c.Next(handle, made)
			return bridge.Error(failure)
		})
		if err == nil && about != nil {
			batch = newBatch(about, made, l.names)
		}
		return err
	})
	return batch, err
}

func newBatch(about *c.LoaderBatch, made []c.Made, names []string) *Batch {
	batch := &Batch{Epoch: about.Epoch, Index: about.Number, Tensors: make([]*gotorch.Tensor, len(made)),
		Count: about.LocalCount, GlobalCount: about.GlobalCount, Skipped: about.Skipped, Samples: about.Samples,
		Randomness: about.Randomness, rows: about.Rows, names: names}
	for i, m := range made {
		batch.Tensors[i] = bridge.Wrap(m).(*gotorch.Tensor)
	}
	return batch
}

// Commit has [Loader.State] count the batch that was given last. Call it after the optimizer's step.
func (l *Loader) Commit() error {
	return l.with(func(handle c.Loader) error { return bridge.Error(c.CommitLoader(handle)) })
}

// State is where training goes on, less than 256 bytes, the same on every rank: it counts the batches up to the last one
// that was committed, and those before the one that was given last, which the program was done with when it asked for
// that. Batches that are only made ahead never count.
func (l *Loader) State() (state []byte, err error) {
	err = l.with(func(handle c.Loader) (err error) {
		var failure *c.Failure
		state, failure = c.LoaderState(handle)
		return bridge.Error(failure)
	})
	return state, err
}

// Restore has the loader go on where a [Loader.State] says: with its seed and epoch, at the sample where its last batch
// ended, on however many ranks, with batches of this loader's size. Errors: ErrDataLoss for what is no state or damaged;
// ErrInvalidArgument for that of another data set, naming both fingerprints, or of another order, or after the first
// epoch was started.
func (l *Loader) Restore(state []byte) error {
	return l.with(func(handle c.Loader) error { return bridge.Error(c.RestoreLoader(handle, state)) })
}

// CurrentEpoch is the epoch to go on with: 0, or that of [Loader.Restore]; after an epoch's last batch the one behind it.
func (l *Loader) CurrentEpoch() (epoch int) {
	l.with(func(handle c.Loader) error {
		epoch = c.LoaderCurrentEpoch(handle)
		return nil
	})
	return epoch
}

// Close stops the loader's threads. Another goroutine that waits for a batch gets ErrAborted. A second Close does nothing.
func (l *Loader) Close() error {
	l.close()
	return nil
}
