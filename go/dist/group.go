package dist

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Options of [Init]. What is unset comes from the environment that a launcher makes (RANK, WORLD_SIZE, MASTER_ADDR,
// MASTER_PORT), or a scheduler: srun, mpirun, Kubeflow (docs/schedulers.md).
type Options struct {
	Backend    string           // "gloo", "nccl", "shm", "auto", "none" (exchanges nothing), or a map: "cpu:shm,cuda:nccl"; unset: by the device
	InitMethod string           // "env://", "tcp://host:port" or "file:///path"; unset: "env://"
	Store      *Store           // instead of InitMethod
	Rank       gotorch.Opt[int] // of this process
	WorldSize  int              // number of processes
	Timeout    time.Duration    // of meeting and of each collective; unset: 30 minutes
	Device     gotorch.Device   // of this rank, for nccl
	Interface  string           // network interface of gloo; unset: by the host's address
	Name       string           // unset: "default"
}

// ProcessGroup connects the processes that train together. Collectives write their results in place; all ranks call
// the same ones in the same order with tensors of the same type, and of the shapes that each one says. A group may be
// used from several goroutines, but then their order is the program's to see to.
//
// Calls that wait for other ranks take a context. When it ends they end, with gotorch.ErrAborted and the context's
// cause, and so does the group, on this rank: where the others stand is not known then. Ranks are the group's own.
type ProcessGroup struct {
	ctx     context.Context
	mutex   sync.RWMutex // held for reading while the handle is in use
	handle  c.ProcessGroup
	watch   *leak.Watch
	release func() bool // of the context

	rank, size int
	backend    string
	name       string
	device     gotorch.Device
}

func init() {
	bridge.UseGroup = func(ctx context.Context, group any, op string, call func(c.ProcessGroup) *c.Failure) error {
		return group.(*ProcessGroup).blocking(ctx, op, call)
	}
	bridge.NewGroup = func(ctx context.Context, handle c.ProcessGroup, kind, index int32) any {
		g := newGroup(ctx, handle, gotorch.Device{Kind: gotorch.DeviceKind(kind), Index: int(index)})
		defaultGroup.CompareAndSwap(nil, g)
		return g
	}
}

var defaultGroup atomic.Pointer[ProcessGroup]

// Init meets the other processes and connects to them. Cancelling ctx aborts the group: collectives that wait end with
// gotorch.ErrAborted. The first group is the process's default one.
//
// Errors: gotorch.ErrInvalidArgument (no RANK and no scheduler, sizes that differ between ranks), gotorch.ErrTimeout naming the
// ranks that are missing, gotorch.ErrIO (a port in use), gotorch.ErrUnsupported.
func Init(ctx context.Context, options ...Options) (*ProcessGroup, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if o.Backend == "" && o.Device.Kind == gotorch.CUDADevice {
		o.Backend = "nccl"
	}
	if rank, set := o.Rank.Get(); o.WorldSize < 0 || set && rank < 0 {
		return nil, &Error{Err: &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.Init", Message: fmt.Sprintf(
			"Rank is %d and WorldSize %d; neither is negative. Leave them out to have those of the launcher", rank, o.WorldSize)}, Rank: -1}
	}
	device := o.Device
	if device.Kind == gotorch.CPUDevice {
		device = gotorch.CPU
	}
	raw := c.GroupOptions{
		Backend: o.Backend, InitMethod: o.InitMethod, Interface: o.Interface, Name: o.Name,
		Rank: o.Rank.Or(-1), WorldSize: cmp.Or(o.WorldSize, -1), TimeoutMS: milliseconds(o.Timeout, 30*time.Minute),
		DeviceKind: int32(device.Kind), DeviceIndex: int32(device.Index),
	}
	handle, err := meet(ctx, raw, o.Store)
	if err != nil {
		return nil, err
	}
	g := newGroup(ctx, handle, device)
	defaultGroup.CompareAndSwap(nil, g)
	return g, nil
}

func newGroup(ctx context.Context, handle c.ProcessGroup, device gotorch.Device) *ProcessGroup {
	g := &ProcessGroup{ctx: ctx, handle: handle, rank: c.GroupRank(handle), size: c.GroupSize(handle),
		backend: c.GroupBackend(handle), name: c.GroupName(handle), device: device}
	g.watch = leak.Track(g, "dist.ProcessGroup")
	g.release = context.AfterFunc(ctx, func() { g.Abort() })
	return g
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
		if base, done, err = store.hold("process_group_create"); err != nil {
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

// Rank of this process.
func (g *ProcessGroup) Rank() int { return g.rank }

// Size is the number of processes.
func (g *ProcessGroup) Size() int { return g.size }

// Backend is "gloo", "nccl", "shm" or "none", or one for each device as [Options] has them.
func (g *ProcessGroup) Backend() string { return g.backend }

// Name is that of [Options], "default" unless given, or a sub-group's.
func (g *ProcessGroup) Name() string { return g.name }

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

// blocking is use for a call that waits for other ranks: when ctx ends it aborts the group.
func (g *ProcessGroup) blocking(ctx context.Context, op string, call func(c.ProcessGroup) *c.Failure) error {
	// What ends with the context of Init is watched already; the watch of another takes as long as a small collective.
	if done := ctx.Done(); done != nil && done != g.ctx.Done() {
		stop := context.AfterFunc(ctx, func() { g.Abort() })
		defer stop()
	}
	if ctx.Err() != nil {
		g.Abort()
	}
	err := g.use(op, call)
	if ours, ok := err.(*Error); ok && ours.cause == nil && ctx.Err() != nil {
		ours.blame(ctx)
	}
	return err
}

// Abort wakes every collective that waits, on this rank, with gotorch.ErrAborted. Afterwards the group can only be
// closed. It may be called from any goroutine.
func (g *ProcessGroup) Abort() error { return g.use("process_group_abort", c.AbortGroup) }

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
