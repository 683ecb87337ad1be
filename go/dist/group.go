package dist

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Options of [Init]. What is unset comes from the environment that a launcher makes: RANK, WORLD_SIZE, MASTER_ADDR,
// MASTER_PORT.
type Options struct {
	Backend    string           // "gloo" or "nccl", or "none", which exchanges nothing; unset: by the device
	InitMethod string           // "env://", "tcp://host:port" or "file:///path"; unset: "env://"
	Store      *Store           // instead of InitMethod
	Rank       gotorch.Opt[int] // of this process
	WorldSize  gotorch.Opt[int] // number of processes
	Timeout    time.Duration    // of meeting and of each collective; unset: 30 minutes
	Device     gotorch.Device   // of this rank, for nccl
	Interface  string           // network interface of gloo; unset: by the host's address
	Name       string           // unset: "default"
}

// ProcessGroup connects the processes that train together. Collectives write their results in place; all ranks call
// the same ones in the same order with tensors of the same shape and type. A group may be used from several
// goroutines, but then their order is the program's to see to.
type ProcessGroup struct {
	ctx     context.Context
	mutex   sync.RWMutex // held for reading while the handle is in use
	handle  c.ProcessGroup
	watch   *leak.Watch
	release func() bool // of the context

	rank, size int
	backend    string
	device     gotorch.Device
}

var defaultGroup atomic.Pointer[ProcessGroup]

// Init meets the other processes and connects to them. Cancelling ctx aborts the group: collectives that wait end with
// gotorch.ErrAborted. The first group is the process's default one.
//
// Errors: gotorch.ErrInvalidArgument (a missing RANK, sizes that differ between ranks), gotorch.ErrTimeout naming the
// ranks that are missing, gotorch.ErrIO (a port in use), gotorch.ErrUnsupported.
func Init(ctx context.Context, options ...Options) (*ProcessGroup, error) {
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if o.Backend == "" && o.Device.Kind == gotorch.CUDADevice {
		o.Backend = "nccl"
	}
	device := o.Device
	if device.Kind == gotorch.CPUDevice {
		device = gotorch.CPU
	}
	raw := c.GroupOptions{
		Backend: o.Backend, InitMethod: o.InitMethod, Interface: o.Interface, Name: o.Name,
		Rank: o.Rank.Or(-1), WorldSize: o.WorldSize.Or(-1), TimeoutMS: milliseconds(o.Timeout, 30*time.Minute),
		DeviceKind: int32(device.Kind), DeviceIndex: int32(device.Index),
	}
	handle, err := meet(ctx, raw, o.Store)
	if err != nil {
		return nil, err
	}
	g := &ProcessGroup{ctx: ctx, handle: handle, rank: c.GroupRank(handle), size: c.GroupSize(handle),
		backend: c.GroupBackend(handle), device: device}
	g.watch = leak.Track(g, "dist.ProcessGroup")
	g.release = context.AfterFunc(ctx, func() { g.Abort() })
	defaultGroup.CompareAndSwap(nil, g)
	return g, nil
}

// meet blocks until the group is there or ctx ends; a group that comes too late is freed.
func meet(ctx context.Context, options c.GroupOptions, store *Store) (c.ProcessGroup, error) {
	type result struct {
		handle  c.ProcessGroup
		failure *c.Failure
	}
	var base c.Store
	done := func() {}
	if store != nil {
		var err error
		if base, done, err = store.use("process_group_create"); err != nil {
			return nil, err
		}
	}
	create := func() result {
		defer done()
		handle, failure := c.CreateGroup(options, base)
		return result{handle, failure}
	}
	if ctx.Done() == nil {
		r := create()
		return r.handle, errorOf(ctx, options.Rank, r.failure)
	}
	came := make(chan result)
	go func() {
		r := create()
		select {
		case came <- r:
		case <-ctx.Done():
			if r.failure == nil {
				c.FreeGroup(r.handle)
			}
		}
	}()
	select {
	case r := <-came:
		return r.handle, errorOf(ctx, options.Rank, r.failure)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Default is the first group that [Init] made and that is not closed; nil when there is none.
func Default() *ProcessGroup { return defaultGroup.Load() }

// Rank of this process in the default group; without one, RANK of the environment, or 0.
func Rank() int {
	if g := Default(); g != nil {
		return g.rank
	}
	return number("RANK", 0)
}

// WorldSize is the number of processes in the default group; without one, WORLD_SIZE of the environment, or 1.
func WorldSize() int {
	if g := Default(); g != nil {
		return g.size
	}
	return number("WORLD_SIZE", 1)
}

// LocalRank is this process's number on its host, which is that of its GPU: LOCAL_RANK of the environment, or 0.
func LocalRank() int { return number("LOCAL_RANK", 0) }

func number(name string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return fallback
}

// Rank of this process.
func (g *ProcessGroup) Rank() int { return g.rank }

// Size is the number of processes.
func (g *ProcessGroup) Size() int { return g.size }

// Backend is "gloo", "nccl" or "none".
func (g *ProcessGroup) Backend() string { return g.backend }

// use runs call with the handle.
func (g *ProcessGroup) use(op string, call func(c.ProcessGroup) *c.Failure) error {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	if g.handle == nil {
		return closed(op, "process group")
	}
	failure := call(g.handle)
	if failure == nil {
		return nil
	}
	return errorOf(g.ctx, g.rank, failure)
}

// Abort wakes every collective that waits, on this rank, with gotorch.ErrAborted. Afterwards the group can only be
// closed. It may be called from any goroutine.
func (g *ProcessGroup) Abort() error { return g.use("abort", c.AbortGroup) }

// Close aborts what is pending and frees the group. A second Close does nothing. DDP wrappers and works of the group
// are to be closed first.
func (g *ProcessGroup) Close() error {
	if !g.watch.Done() {
		return nil
	}
	g.release()
	defaultGroup.CompareAndSwap(g, nil)
	if !g.mutex.TryLock() {
		// Another goroutine is in a collective: wake it.
		g.Abort()
		g.mutex.Lock()
	}
	defer g.mutex.Unlock()
	c.FreeGroup(g.handle)
	g.handle = nil
	return nil
}

// ReduceOp is how a reduction combines elements. The numbers are those of tandem.h.
type ReduceOp int32

// The ways.
const (
	Sum     ReduceOp = 0
	Avg     ReduceOp = 1
	Product ReduceOp = 2
	Min     ReduceOp = 3
	Max     ReduceOp = 4
	BitAnd  ReduceOp = 5
	BitOr   ReduceOp = 6
	BitXor  ReduceOp = 7
)

// collective runs one on tensors; async gives the work.
func (g *ProcessGroup) collective(op string, async bool, tensors []*gotorch.Tensor,
	call func(group c.ProcessGroup, handles []c.Tensor) (c.Work, *c.Failure)) (work *Work, err error) {
	err = gotorch.Try(func() {
		handles := make([]c.Tensor, len(tensors))
		for i, t := range tensors {
			handles[i] = bridge.Handle(t, op)
		}
		problem := g.use(op, func(group c.ProcessGroup) *c.Failure {
			handle, failure := call(group, handles)
			if failure == nil && async {
				work = newWork(g, handle)
			}
			return failure
		})
		runtime.KeepAlive(tensors)
		if problem != nil {
			panic(problem)
		}
	})
	return work, err
}

// AllReduce combines t over all ranks, which all get the result.
func (g *ProcessGroup) AllReduce(t *gotorch.Tensor, op ReduceOp) error {
	_, err := g.allReduce(t, op, false)
	return err
}

// AllReduceAsync starts an [ProcessGroup.AllReduce]; t must not be used before the work's Wait.
func (g *ProcessGroup) AllReduceAsync(t *gotorch.Tensor, op ReduceOp) (*Work, error) {
	return g.allReduce(t, op, true)
}

func (g *ProcessGroup) allReduce(t *gotorch.Tensor, op ReduceOp, async bool) (*Work, error) {
	return g.collective("all_reduce", async, []*gotorch.Tensor{t}, func(group c.ProcessGroup, h []c.Tensor) (c.Work, *c.Failure) {
		return c.AllReduce(group, h[0], int32(op), async)
	})
}

// Broadcast overwrites t on all ranks with root's.
func (g *ProcessGroup) Broadcast(t *gotorch.Tensor, root int) error {
	_, err := g.broadcast(t, root, false)
	return err
}

// BroadcastAsync starts a [ProcessGroup.Broadcast].
func (g *ProcessGroup) BroadcastAsync(t *gotorch.Tensor, root int) (*Work, error) {
	return g.broadcast(t, root, true)
}

func (g *ProcessGroup) broadcast(t *gotorch.Tensor, root int, async bool) (*Work, error) {
	return g.collective("broadcast", async, []*gotorch.Tensor{t}, func(group c.ProcessGroup, h []c.Tensor) (c.Work, *c.Failure) {
		return c.Broadcast(group, h[0], root, async)
	})
}

// Reduce combines t over all ranks; root alone gets the result.
func (g *ProcessGroup) Reduce(t *gotorch.Tensor, root int, op ReduceOp) error {
	_, err := g.reduce(t, root, op, false)
	return err
}

// ReduceAsync starts a [ProcessGroup.Reduce].
func (g *ProcessGroup) ReduceAsync(t *gotorch.Tensor, root int, op ReduceOp) (*Work, error) {
	return g.reduce(t, root, op, true)
}

func (g *ProcessGroup) reduce(t *gotorch.Tensor, root int, op ReduceOp, async bool) (*Work, error) {
	return g.collective("reduce", async, []*gotorch.Tensor{t}, func(group c.ProcessGroup, h []c.Tensor) (c.Work, *c.Failure) {
		return c.Reduce(group, h[0], root, int32(op), async)
	})
}

// AllGather writes every rank's input to outputs, one tensor for each rank, in order of rank.
func (g *ProcessGroup) AllGather(outputs []*gotorch.Tensor, input *gotorch.Tensor) error {
	_, err := g.allGather(outputs, input, false)
	return err
}

// AllGatherAsync starts an [ProcessGroup.AllGather].
func (g *ProcessGroup) AllGatherAsync(outputs []*gotorch.Tensor, input *gotorch.Tensor) (*Work, error) {
	return g.allGather(outputs, input, true)
}

func (g *ProcessGroup) allGather(outputs []*gotorch.Tensor, input *gotorch.Tensor, async bool) (*Work, error) {
	all := append(append([]*gotorch.Tensor(nil), outputs...), input)
	return g.collective("all_gather", async, all, func(group c.ProcessGroup, h []c.Tensor) (c.Work, *c.Failure) {
		return c.AllGather(group, h[:len(outputs)], h[len(outputs)], async)
	})
}

// Barrier waits until all ranks have come to it.
func (g *ProcessGroup) Barrier() error {
	_, err := g.collective("barrier", false, nil, func(group c.ProcessGroup, _ []c.Tensor) (c.Work, *c.Failure) {
		return c.Barrier(group, false)
	})
	return err
}

// BarrierAsync starts a [ProcessGroup.Barrier].
func (g *ProcessGroup) BarrierAsync() (*Work, error) {
	return g.collective("barrier", true, nil, func(group c.ProcessGroup, _ []c.Tensor) (c.Work, *c.Failure) {
		return c.Barrier(group, true)
	})
}

// Work is a collective that was started.
type Work struct {
	group  *ProcessGroup
	mutex  sync.Mutex
	handle c.Work
	watch  *leak.Watch
	result error
}

func newWork(g *ProcessGroup, handle c.Work) *Work {
	w := &Work{group: g, handle: handle}
	w.watch = leak.Track(w, "dist.Work")
	return w
}

// Wait until the collective is done, at most as long as the group's timeout. A second Wait gives the same result.
func (w *Work) Wait() error { return w.wait(-1) }

// WaitTimeout waits at most timeout; gotorch.ErrTimeout leaves the work to be waited for again.
func (w *Work) WaitTimeout(timeout time.Duration) error {
	return w.wait(milliseconds(timeout, time.Millisecond))
}

func (w *Work) wait(timeoutMS int64) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle == nil {
		return w.result
	}
	failure := c.WaitWork(w.handle, timeoutMS)
	err := errorOf(w.group.ctx, w.group.rank, failure)
	if failure != nil && gotorch.Code(failure.Code) == gotorch.ErrTimeout && timeoutMS >= 0 {
		return err
	}
	w.free(err)
	return err
}

func (w *Work) free(result error) {
	w.watch.Done()
	c.FreeWork(w.handle)
	w.handle, w.result = nil, result
}

// IsDone tells whether Wait would not block.
func (w *Work) IsDone() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.handle == nil || c.WorkIsCompleted(w.handle)
}

// Close waits for the collective and forgets its result; after Wait it does nothing.
func (w *Work) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle != nil {
		w.free(closed("wait", "work"))
	}
	return nil
}

// AllEqual tells whether all ranks gave the same bytes, of which there are the same number on each, such as a hash of
// their parameters.
func (g *ProcessGroup) AllEqual(value []byte) (equal bool, err error) {
	problem := gotorch.Try(func() {
		gotorch.Scope(func() {
			own := gotorch.From(value).ToDevice(g.device)
			all := make([]*gotorch.Tensor, g.size)
			for i := range all {
				all[i] = own.Clone()
			}
			if err = g.AllGather(all, own); err == nil {
				equal = !slices.ContainsFunc(all, func(other *gotorch.Tensor) bool { return !own.Equal(other) })
			}
		})
	})
	return equal, errors.Join(err, problem)
}
