package data

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Samples are the program's own, by number. Get gives the tensors of sample i, 0 ≤ i < Len(): dense ones on the CPU,
// alike in all samples, which a batch stacks. The loader's threads call it, several at once, each time in a scope:
// tensors that it makes are freed when it returns, but those it gives back or keeps ([gotorch.Tensor.Keep]). Its error,
// or panic, reaches who asks for the batch, naming the sample; errors.Is finds it. An error of files or the network
// ([gotorch.ErrIO], [gotorch.ErrTimeout], [net.Error], [fs.PathError], but neither [fs.ErrNotExist] nor a folder in the
// place of a file) says that the sample cannot be read now: loaders do what [Options.OnIOError] says. Neither it nor
// [gotorch.ErrOutOfMemory] counts against the sample in a [DynamicLoader].
//
// A method Fingerprint() uint64 tells data sets apart in the states of loaders, beyond their size.
type Samples interface {
	Len() int
	Get(i int) ([]*gotorch.Tensor, error)
}

// reading has native code told which of a callback's errors say nothing of the sample, see [Samples].
func reading(answer c.Callback) c.Callback {
	return func(call c.Invocation) ([]c.Tensor, error) {
		tensors, err := answer(call)
		if code := noSamplesFault(err); code != 0 {
			err = &c.CodedError{Code: int32(code), Err: err}
		}
		return tensors, err
	}
}

// noSamplesFault is gotorch.ErrIO or gotorch.ErrTimeout for what is of reading, gotorch.ErrOutOfMemory, and 0 for all
// else. A file that is not there is no better the next time, nor is a folder that was given as one.
func noSamplesFault(err error) gotorch.Code {
	var timeout interface{ Timeout() bool }
	var network net.Error
	var path *fs.PathError
	var system *os.SyscallError
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR):
		return 0
	case errors.Is(err, gotorch.ErrTimeout) || errors.As(err, &timeout) && timeout.Timeout():
		return gotorch.ErrTimeout
	case errors.Is(err, gotorch.ErrIO) || errors.As(err, &network) || errors.As(err, &path) || errors.As(err, &system):
		return gotorch.ErrIO
	case errors.Is(err, gotorch.ErrOutOfMemory):
		return gotorch.ErrOutOfMemory
	}
	return 0
}

type fingerprinted interface{ Fingerprint() uint64 }

func fingerprintOf(data any) uint64 {
	if f, ok := data.(fingerprinted); ok {
		return f.Fingerprint()
	}
	return 0
}

// FromSamples is the data set of the program's own samples, with the names of a sample's tensors. Without any it gets
// sample 0 to count them, and their names are "0", "1" and so on. Source: torch.utils.data.Dataset.
func FromSamples(samples Samples, names ...string) (*Dataset, error) {
	if len(names) == 0 {
		names = numbered(1)
		if samples.Len() > 0 {
			first, err := samples.Get(0)
			if err != nil {
				return nil, fmt.Errorf("sample 0, whose tensors are counted: %w", err)
			}
			names = numbered(len(first))
		}
	}
	return wrapDataset(c.CreateDataset(samples.Len(), names, fingerprintOf(samples),
		reading(func(call c.Invocation) ([]c.Tensor, error) {
			return sampleOf(call, "Get", func([]*gotorch.Tensor) ([]*gotorch.Tensor, error) {
				sample, err := samples.Get(call.Data.Number)
				if err == nil && sample == nil {
					err = errors.New("Get gave no tensors")
				}
				return sample, err
			})
		})))
}

// Stream gives the samples of an epoch, one after the other, as [Samples.Get] does; io.EOF at the end. One goroutine at
// a time uses it. Each call is in a scope of its own: what a stream goes on with has to be kept, also by [Iterable]'s Open.
//
// With a method Skip(n int) (skipped int, err error) it leaves n samples out for less than n calls of Next, and gives
// how many there were, less where it ended. With a method Close() error it is told when nobody goes on with it.
type Stream interface {
	Next() ([]*gotorch.Tensor, error)
}

// Iterable is a data set whose samples cannot be asked for by number: each epoch is a sequence of them, made anew from
// its start by Open, which several goroutines call at once. Its order is its own, and may follow from seed and epoch.
//
// As far as every stream of an epoch gives the same samples, in every process, all holds that does for other data sets:
// global batches are the same on any number of ranks, states resume, each sample comes once. What it gives up: each rank,
// and each of a loader's threads, has a stream of its own and goes through all samples, skipping those that are others',
// and after [Loader.Restore] those before; the loader does not shuffle; and with an unknown length the number of batches
// is unknown too.
//
// A method Len() int says how many samples each epoch has; Fingerprint() uint64 is as for [Samples].
type Iterable interface {
	Open(seed uint64, epoch int) (Stream, error)
}

// FromIterable is the data set of samples that come one after the other, with the names of a sample's tensors. Only
// [NewLoader] takes it. Its Len is -1 where that is unknown. Source: torch.utils.data.IterableDataset.
func FromIterable(iterable Iterable, names ...string) (*Dataset, error) {
	size := -1
	if sized, ok := iterable.(interface{ Len() int }); ok {
		size = sized.Len()
	}
	own := &streams{iterable: iterable, open: map[int]Stream{}}
	d, err := wrapDataset(c.CreateIterable(size, names, fingerprintOf(iterable), reading(own.answer)))
	if err == nil {
		d.iterable = true
	}
	return d, err
}

// streams are those of an iterable that native code has open, by the numbers that it knows them by.
type streams struct {
	iterable Iterable
	mutex    sync.Mutex
	open     map[int]Stream
	last     int
}

func (s *streams) answer(call c.Invocation) ([]c.Tensor, error) {
	request := call.Data
	switch request.What {
	case c.DataOpen:
		return inScope(call, func() error {
			stream, err := s.iterable.Open(request.Seed, request.Epoch)
			if err == nil && stream == nil {
				err = errors.New("Open gave no stream")
			}
			if err == nil {
				request.Result = s.add(stream)
			}
			return err
		})
	case c.DataNext:
		return sampleOf(call, "Next", func([]*gotorch.Tensor) ([]*gotorch.Tensor, error) {
			sample, err := s.get(request.Stream).Next()
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			if err == nil && sample == nil {
				err = errors.New("the function Next gave no tensors")
			}
			request.Result = 1
			return sample, err
		})
	case c.DataSkip:
		stream := s.get(request.Stream)
		if skipper, ok := stream.(interface{ Skip(n int) (int, error) }); ok {
			return inScope(call, func() (err error) {
				request.Result, err = skipper.Skip(request.Number)
				return err
			})
		}
		// Not in the callback's scope, which would have what Next keeps until all are skipped.
		skipped, err := skipByNext(stream, request.Number)
		request.Result = skipped
		return nil, err
	case c.DataClose:
		if closer, ok := s.remove(request.Stream).(io.Closer); ok {
			return inScope(call, closer.Close)
		}
	}
	return nil, nil
}

// inScope has body, which gives no tensors, run in the scope of a callback.
func inScope(call c.Invocation, body func() error) ([]c.Tensor, error) {
	return bridge.InScopeOf(call, nil, func([]any) ([]any, error) { return nil, body() })
}

// skipByNext frees each sample before it asks for the next one.
func skipByNext(stream Stream, n int) (skipped int, err error) {
	for ; skipped < n; skipped++ {
		gotorch.Scope(func() { _, err = stream.Next() })
		if errors.Is(err, io.EOF) {
			return skipped, nil
		}
		if err != nil {
			return skipped, err
		}
	}
	return skipped, nil
}

func (s *streams) add(stream Stream) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.last++
	s.open[s.last] = stream
	return s.last
}

func (s *streams) get(number int) Stream {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.open[number]
}

func (s *streams) remove(number int) Stream {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	stream := s.open[number]
	delete(s.open, number)
	return stream
}
