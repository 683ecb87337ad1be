package data_test

import (
	"errors"
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
		!strings.Contains(err.Error(), "io_retry") {
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

// Reading what a mapped file has lost is an error; a fault of the program's own is Go's to handle, as ever.
func TestAFileThatIsCutOffWhileItIsMapped(t *testing.T) {
	path, fields := numbers(t, 5000)
	set := must(data.Records([]string{path}, fields, data.FileOptions{}))
	defer set.Close()
	loader := open(t, set, data.Options{BatchSize: 100, Threads: 2})
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
