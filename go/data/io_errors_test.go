package data_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

func TestWhatCannotBeReadIsRetriedSkippedOrFails(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large") // records of a line, over several blocks
	line := append(slices.Repeat([]byte{'x'}, 1<<16-1), '\n')
	if err := os.WriteFile(large, slices.Repeat(line, 256), 0o600); err != nil {
		t.Fatal(err)
	}
	var troubles atomic.Int32 // that are left: answers of 503
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if troubles.Add(-1) >= 0 {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		http.ServeFile(w, r, large)
	}))
	defer server.Close()
	fields := []data.Field{{Name: "line", DType: gotorch.Uint8, Shape: []int{1<<16 - 1}, Out: gotorch.Uint8}}
	set := must(data.Records([]string{server.URL + "/large"}, fields, data.FileOptions{Format: "lines", Attempts: 1,
		CacheBytes: gotorch.Some(0), MemoryBytes: gotorch.Some(1), LeastSpeed: 1, RequestTimeout: time.Minute}))
	defer set.Close()
	read := func(o data.Options, failing int32) (count int, err error) {
		troubles.Store(0)
		o.BatchSize, o.Timeout = 64, time.Minute
		loader := open(t, set, o)
		defer loader.Close()
		troubles.Store(failing)
		for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
			if err != nil {
				return count, err
			}
			count += batch.Count
		}
		return count, nil
	}
	if count, err := read(data.Options{}, 3); err != nil || count != 256 {
		t.Error(count, err)
	}
	if count, err := read(data.Options{OnIOError: data.FailIO}, 1<<30); !errors.Is(err, gotorch.ErrIO) {
		t.Error(count, err)
	}
	if count, err := read(data.Options{IORetry: -1}, 1<<30); !errors.Is(err, gotorch.ErrIO) ||
		!strings.Contains(err.Error(), "IORetry") {
		t.Error(count, err)
	}
	skips := data.Options{OnIOError: data.SkipIO, IORetry: time.Millisecond}
	if count, err := read(skips, 1<<30); err != nil || count >= 256 {
		t.Error(count, err)
	}
	_, err := data.NewLoader(set, data.Options{BatchSize: 1, OnIOError: 3})
	if !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Error(err)
	}
}

// Of unreadable samples the last fails as often as `times` says; none is behind it, where a brief search may end.
type unreadable struct {
	err   error
	times atomic.Int32
}

func (*unreadable) Len() int { return 8 }

func (u *unreadable) Get(i int) ([]*gotorch.Tensor, error) {
	if i == 7 && u.times.Add(-1) >= 0 {
		return nil, u.err
	}
	return []*gotorch.Tensor{gotorch.From([]float32{float32(i)}, 1)}, nil
}

func TestWhatTheProgramCannotReadIsRetriedSkippedOrFails(t *testing.T) {
	readings := []error{&gotorch.Error{Code: gotorch.ErrIO, Op: "get", Message: "away"}, gotorch.ErrTimeout,
		&fs.PathError{Op: "read", Path: "/mnt/x", Err: syscall.EIO}, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		context.DeadlineExceeded}
	_, asPicture := os.ReadFile(t.TempDir())
	_, _, asTensors := gotorch.Open(t.TempDir())
	contents := []error{errors.New("it is broken"), &fs.PathError{Op: "open", Path: "/mnt/x", Err: fs.ErrNotExist},
		&fs.PathError{Op: "open", Path: "/mnt/x/y", Err: syscall.ENOTDIR}, asPicture, asTensors, io.ErrUnexpectedEOF}
	read := func(err error, times int32, o data.Options) (count, skipped int, failure error) {
		own := &unreadable{err: fmt.Errorf("sample of the program: %w", err)}
		own.times.Store(times)
		set := must(must(data.FromSamples(own, "x")).Map(func(s []*gotorch.Tensor) ([]*gotorch.Tensor, error) {
			return s, nil
		}))
		defer set.Close()
		o.BatchSize, o.Timeout = 4, time.Minute
		loader := open(t, set, o)
		defer loader.Close()
		for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
			if err != nil {
				return count, skipped, err
			}
			count += batch.Count
			skipped += batch.Skipped
		}
		return count, skipped, nil
	}
	for _, err := range readings {
		if count, skipped, failure := read(err, 2, data.Options{}); failure != nil || count != 8 || skipped != 0 {
			t.Error(err, count, skipped, failure)
		}
		skips := data.Options{OnIOError: data.SkipIO, IORetry: 300 * time.Millisecond}
		if count, skipped, failure := read(err, 1<<30, skips); failure != nil || count != 7 || skipped != 1 {
			t.Error(err, count, skipped, failure)
		}
		_, _, failure := read(err, 1<<30, data.Options{OnIOError: data.FailIO})
		if !errors.Is(failure, err) || !errors.Is(failure, gotorch.ErrIO) && !errors.Is(failure, gotorch.ErrTimeout) {
			t.Error(err, failure)
		}
	}
	for _, err := range contents {
		skips := data.Options{OnIOError: data.SkipIO, IORetry: 300 * time.Millisecond}
		if _, _, failure := read(err, 1, skips); !errors.Is(failure, err) || !errors.Is(failure, gotorch.ErrCallback) {
			t.Error(err, failure)
		}
	}
	if _, _, failure := read(gotorch.ErrOutOfMemory, 1, data.Options{}); !errors.Is(failure, gotorch.ErrOutOfMemory) ||
		errors.Is(failure, gotorch.ErrCallback) {
		t.Error(failure)
	}
}

// Reading what a mapped file has lost is an error; a fault of the program's own is Go's to handle, as ever.
func TestAFileThatIsCutOffWhileItIsMapped(t *testing.T) {
	path, fields := numbers(t, 5000)
	set := must(data.Records([]string{path}, fields, data.FileOptions{}))
	defer set.Close()
	loader := open(t, set, data.Options{BatchSize: 100, Threads: gotorch.Some(2)})
	defer loader.Close()
	if err := os.Truncate(path, 20_000); err != nil {
		t.Fatal(err)
	}
	var failure error
	for _, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
		if failure = err; err != nil {
			break
		}
	}
	if !errors.Is(failure, gotorch.ErrDataLoss) || !strings.Contains(failure.Error(), "cut off while it was read") {
		t.Error(failure)
	}

	file := must(os.Create(filepath.Join(t.TempDir(), "empty")))
	defer file.Close()
	mapped := must(syscall.Mmap(int(file.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED))
	defer syscall.Munmap(mapped)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		fault, ok := recover().(interface {
			runtime.Error
			Addr() uintptr
		})
		if !ok || fault.Addr() != uintptr(unsafe.Pointer(&mapped[0])) {
			t.Error(fault)
		}
	}()
	t.Error(mapped[0])
}

// stuck stands still until its channel is closed.
type stuck chan struct{}

func (stuck) Len() int { return 4 }

func (s stuck) Get(int) ([]*gotorch.Tensor, error) {
	<-s
	return []*gotorch.Tensor{gotorch.From([]float32{1}, 1)}, nil
}

func TestABatchIsNotWaitedForForEver(t *testing.T) {
	goesOn := make(stuck)
	set := must(data.FromSamples(goesOn, "x"))
	defer set.Close()
	loader := open(t, set, data.Options{BatchSize: 4, Timeout: 100 * time.Millisecond})
	for range 2 {
		for _, err := range loader.Epoch(t.Context(), 0) {
			if !errors.Is(err, gotorch.ErrTimeout) || !strings.Contains(err.Error(), "batch 0 is not made after 100 ms") {
				t.Error(err)
			}
			break
		}
	}
	close(goesOn)
}
