package dist_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

// threads runs body on n ranks that are goroutines and meet in a HashStore.
func threads(t *testing.T, n int, body func(ctx context.Context, group *dist.ProcessGroup) error) {
	t.Helper()
	threadsOver(t, "gloo", n, body)
}

func threadsOver(t *testing.T, backend string, n int, body func(ctx context.Context, group *dist.ProcessGroup) error) {
	t.Helper()
	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var wait sync.WaitGroup
	errs := make([]error, n)
	for rank := range n {
		wait.Go(func() {
			runtime.LockOSThread() // as dist.Main: backward passes of all ranks exchange in one order
			group, err := dist.Init(t.Context(), dist.Options{Backend: backend, Store: store,
				Rank: gotorch.Some(rank), WorldSize: n, Timeout: testTimeout, Name: t.Name()})
			if err != nil {
				errs[rank] = err
				return
			}
			defer group.Close()
			errs[rank] = body(t.Context(), group)
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Of CPU tensors.
var backends = []string{"gloo", "shm"}

// collectives checks every one of them, synchronous and not.
func collectives(ctx context.Context, group *dist.ProcessGroup) error {
	rank, size := group.Rank(), group.Size()
	sum := gotorch.Full([]int{3}, float64(rank+1))
	if err := group.AllReduce(ctx, sum, dist.Sum); err != nil {
		return err
	}
	want := float32(size * (size + 1) / 2)
	if got := gotorch.ToSlice[float32](sum); !slices.Equal(got, []float32{want, want, want}) {
		return fmt.Errorf("AllReduce gives %v", got)
	}
	largest := gotorch.From([]int{rank})
	if err := group.AllReduce(ctx, largest, dist.Max); err != nil || largest.ItemInt() != size-1 {
		return fmt.Errorf("AllReduce, Max: %v %v", largest, err)
	}
	given := gotorch.From([]int{rank})
	if err := group.Broadcast(ctx, given, size-1); err != nil || given.ItemInt() != size-1 {
		return fmt.Errorf("Broadcast: %v %v", given, err)
	}
	total := gotorch.From([]int{rank})
	if err := group.Reduce(ctx, total, 0, dist.Sum); err != nil || rank == 0 && total.ItemInt() != size*(size-1)/2 {
		return fmt.Errorf("Reduce: %v %v", total, err)
	}
	all := make([]*gotorch.Tensor, size)
	for i := range all {
		all[i] = gotorch.Zeros([]int{1})
	}
	if err := group.AllGather(ctx, all, gotorch.From([]float32{float32(rank)})); err != nil {
		return err
	}
	for i, one := range all {
		if one.ItemInt() != i {
			return fmt.Errorf("AllGather: %d is %v", i, one)
		}
	}
	var works []*dist.Work
	var tensors []*gotorch.Tensor
	for i := range 10 {
		tensors = append(tensors, gotorch.Full([]int{1000}, i))
		work, err := group.AllReduceAsync(tensors[i], dist.Sum)
		if err != nil {
			return err
		}
		works = append(works, work)
	}
	for i, work := range works {
		if err := errors.Join(work.Wait(ctx), work.Wait(ctx)); err != nil {
			return err
		}
		if !work.IsDone() || tensors[i].Select(0, 999).ItemInt() != i*size {
			return fmt.Errorf("AllReduceAsync %d gives %v", i, tensors[i].Select(0, 999))
		}
	}
	equal, err := group.AllEqual(ctx, []byte("same"))
	if err != nil || !equal {
		return fmt.Errorf("AllEqual: %v %v", equal, err)
	}
	if equal, err = group.AllEqual(ctx, []byte{byte(rank)}); err != nil || equal != (size == 1) {
		return fmt.Errorf("AllEqual of different values: %v %v", equal, err)
	}
	work, err := group.BarrierAsync()
	if err != nil {
		return err
	}
	return errors.Join(work.WaitTimeout(testTimeout), group.Barrier(ctx))
}

func TestCollectivesOfThreads(t *testing.T) {
	for _, backend := range backends {
		for _, n := range []int{1, 2, 3} {
			t.Run(fmt.Sprint(backend, n), func(t *testing.T) { threadsOver(t, backend, n, collectives) })
		}
	}
}

func TestABackendForEachDevice(t *testing.T) {
	threadsOver(t, "cpu:auto", 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		if group.Backend() != "cpu:shm" {
			return fmt.Errorf("Backend: %q", group.Backend())
		}
		return collectives(ctx, group)
	})
	gpus, err := gotorch.CUDADeviceCount()
	if err != nil {
		t.Fatal(err)
	}
	if gpus > 0 {
		t.Skip("this machine has a GPU")
	}
	_, err = dist.Init(t.Context(), dist.Options{Backend: "cpu:shm,cuda:nccl", Rank: gotorch.Some(0),
		WorldSize: 1, Device: gotorch.Device{Kind: gotorch.CUDADevice},
		InitMethod: "file://" + filepath.Join(t.TempDir(), "meet")})
	if !errors.Is(err, gotorch.ErrUnsupported) || !strings.Contains(err.Error(), "nccl") {
		t.Fatal(err)
	}
}

func collectivesChild(ctx context.Context) error {
	var o dist.Options
	if path := environment("MEET"); path != "" {
		o.InitMethod = "file://" + path
	}
	group, err := dist.Init(ctx, o)
	if err != nil {
		return err
	}
	defer group.Close()
	if dist.Default() != group || dist.Rank() != group.Rank() || dist.WorldSize() != 2 || dist.LocalRank() != group.Rank() {
		return fmt.Errorf("rank %d, world %d, local rank %d", dist.Rank(), dist.WorldSize(), dist.LocalRank())
	}
	return errors.Join(collectives(ctx, group), exchanges(ctx, group))
}

func TestCollectivesOfProcesses(t *testing.T) {
	succeed(t, ranks(t, 2, "collectives"))
	succeed(t, ranks(t, 2, "collectives", "MEET="+filepath.Join(t.TempDir(), "meet"), "MASTER_ADDR="))
}

func TestMisuse(t *testing.T) {
	t.Setenv("WORLD_SIZE", "1")
	t.Setenv("RANK", "")
	os.Unsetenv("RANK")
	_, err := dist.Init(t.Context())
	if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "RANK") {
		t.Fatal(err)
	}
	if _, err := dist.Init(t.Context(), dist.Options{Backend: "carrier pigeon", Rank: gotorch.Some(0),
		WorldSize: 1, InitMethod: "file://" + filepath.Join(t.TempDir(), "meet")}); err == nil || !strings.Contains(err.Error(), "carrier pigeon") {
		t.Fatal(err)
	}
	for backend, part := range map[string]string{"cpu:shm,tpu:gloo": "no device 'tpu'", "cpu:shm,cpu:gloo": "cpu twice",
		"cpu:nccl": "nccl takes tensors on GPUs", "cpu:smoke": "no backend 'smoke'"} {
		if _, err := dist.Init(t.Context(), dist.Options{Backend: backend, Rank: gotorch.Some(0), WorldSize: 1,
			InitMethod: "file://" + filepath.Join(t.TempDir(), "meet")}); err == nil || !strings.Contains(err.Error(), part) {
			t.Fatal(backend, err)
		}
	}
	threads(t, 1, func(ctx context.Context, group *dist.ProcessGroup) error {
		var ours *dist.Error
		if err := group.Broadcast(ctx, gotorch.Ones([]int{1}), 5); !errors.As(err, &ours) || !errors.Is(err, gotorch.ErrInvalidArgument) {
			return fmt.Errorf("Broadcast from rank 5: %v", err)
		}
		closed := gotorch.Ones([]int{1})
		closed.Close()
		if err := group.AllReduce(ctx, closed, dist.Sum); !errors.Is(err, gotorch.ErrClosed) {
			return fmt.Errorf("AllReduce of a closed tensor: %v", err)
		}
		group.Close()
		if err := errors.Join(group.Close(), nil); err != nil {
			return err
		}
		if err := group.Barrier(ctx); !errors.Is(err, gotorch.ErrClosed) {
			return fmt.Errorf("Barrier after Close: %v", err)
		}
		return nil
	})
}

func TestMissingRankTimesOut(t *testing.T) {
	start := time.Now()
	_, err := dist.Init(t.Context(), dist.Options{InitMethod: "file://" + filepath.Join(t.TempDir(), "meet"),
		Rank: gotorch.Some(0), WorldSize: 2, Timeout: 500 * time.Millisecond})
	if !errors.Is(err, gotorch.ErrTimeout) || !strings.Contains(err.Error(), "1") || time.Since(start) > 20*time.Second {
		t.Fatal(err, time.Since(start))
	}
}

func TestCancelledContextAborts(t *testing.T) {
	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	ready := make(chan struct{})
	var wait sync.WaitGroup
	for rank := range 2 {
		wait.Go(func() {
			group, err := dist.Init(ctx, dist.Options{Store: store, Rank: gotorch.Some(rank), WorldSize: 2,
				Timeout: testTimeout})
			if err != nil {
				t.Error(err)
				return
			}
			defer group.Close()
			if err := group.Barrier(ctx); err != nil {
				t.Error(err)
			}
			if rank == 1 {
				select { // else the abort could meet the barrier
				case <-ready:
				case <-time.After(testTimeout):
				}
				cancel(reason)
				return
			}
			close(ready)
			start := time.Now()
			err = group.AllReduce(ctx, gotorch.Ones([]int{1}), dist.Sum)
			if !errors.Is(err, reason) || !(errors.Is(err, gotorch.ErrAborted) || errors.Is(err, gotorch.ErrPeerLost)) {
				t.Errorf("AllReduce: %v", err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("the abort took %v", took)
			}
		})
	}
	wait.Wait()

	// The same while the ranks still meet.
	ctx, cancel = context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(reason) })
	_, err = dist.Init(ctx, dist.Options{InitMethod: "file://" + filepath.Join(t.TempDir(), "meet"),
		Rank: gotorch.Some(0), WorldSize: 2, Timeout: 2 * time.Second})
	if !errors.Is(err, reason) {
		t.Fatal(err)
	}
}

func TestStores(t *testing.T) {
	server, err := dist.NewTCPStore("127.0.0.1", 0, dist.TCPStoreOptions{Server: true, Timeout: testTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := dist.NewTCPStore("127.0.0.1", server.Port(), dist.TCPStoreOptions{Timeout: testTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	file, err := dist.NewFileStore(filepath.Join(t.TempDir(), "store"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	hash, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	defer hash.Close()
	prefix, err := dist.NewPrefixStore("inner", hash)
	if err != nil {
		t.Fatal(err)
	}
	defer prefix.Close()
	for name, store := range map[string]*dist.Store{"tcp": client, "file": file, "hash": hash, "prefix": prefix} {
		if err := store.Set("key", []byte("a\x00b")); err != nil {
			t.Fatal(name, err)
		}
		if value, err := store.Get(t.Context(), "key"); err != nil || string(value) != "a\x00b" {
			t.Fatal(name, value, err)
		}
		if sum, err := store.Add("count", 5); err != nil || sum != 5 {
			t.Fatal(name, sum, err)
		}
		if sum, err := store.Add("count", -2); err != nil || sum != 3 {
			t.Fatal(name, sum, err)
		}
		if there, err := store.Check("key", "nowhere"); err != nil || there {
			t.Fatal(name, there, err)
		}
		if err := store.Wait(t.Context(), "key"); err != nil {
			t.Fatal(name, err)
		}
		soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := store.Wait(soon, "nowhere"); !errors.Is(err, gotorch.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(name, err)
		}
		stop()
		ending, end := context.WithCancelCause(t.Context())
		end(errors.New("the program ends"))
		if _, err := store.Get(ending, "nowhere"); !errors.Is(err, gotorch.ErrAborted) || !strings.Contains(err.Error(), "the program ends") {
			t.Fatal(name, err)
		}
	}
	if value, err := server.Get(t.Context(), "key"); err != nil || string(value) != "a\x00b" {
		t.Fatal(string(value), err)
	}
	if value, err := hash.Get(context.Background(), "inner/key"); err != nil || string(value) != "a\x00b" {
		t.Fatal(string(value), err)
	}
	if value, err := client.CompareSet("key", "a\x00b", "c\x00d"); err != nil || string(value) != "c\x00d" {
		t.Fatal(string(value), err)
	}
	if value, err := client.CompareSet("key", "c", "e"); err != nil || string(value) != "c\x00d" {
		t.Fatal(string(value), err)
	}
	if deleted, err := client.Delete("key"); err != nil || !deleted {
		t.Fatal(deleted, err)
	}
	if err := client.SetTimeout(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{context.Background(), t.Context()} {
		if _, err := client.Get(ctx, "nowhere"); !errors.Is(err, gotorch.ErrTimeout) {
			t.Fatal(err)
		}
	}
	if err := prefix.SetTimeout(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := hash.Wait(t.Context(), "nowhere"); !errors.Is(err, gotorch.ErrTimeout) {
		t.Fatal("the timeout of a prefix store is that of the store below it:", err)
	}
	if _, err := dist.NewTCPStore("127.0.0.1", server.Port(), dist.TCPStoreOptions{Server: true}); !errors.Is(err, gotorch.ErrIO) ||
		!strings.Contains(err.Error(), fmt.Sprint(server.Port())) {
		t.Fatal(err)
	}
	client.Close()
	if err := client.Set("key", nil); !errors.Is(err, gotorch.ErrClosed) {
		t.Fatal(err)
	}
}

func lostPeerChild(ctx context.Context) error {
	group, err := dist.Init(ctx)
	if err != nil {
		return err
	}
	defer group.Close()
	if err := group.Barrier(ctx); err != nil {
		return err
	}
	if group.Rank() == 1 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return group.AllReduce(ctx, gotorch.Ones([]int{1}), dist.Sum)
}

func TestLostPeer(t *testing.T) {
	all := ranks(t, 2, "lost peer")
	start := time.Now()
	all[1].wait(t)
	code := all[0].wait(t)
	if text := all[0].output.String(); code != 1 || !strings.Contains(text, "all_reduce") || time.Since(start) > 30*time.Second {
		t.Fatalf("exit code %d after %v: %s", code, time.Since(start), text)
	}
}
