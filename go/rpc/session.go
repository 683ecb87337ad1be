package rpc

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Options of [Init]. What is unset comes from the environment that a launcher makes (RANK, WORLD_SIZE, MASTER_ADDR,
// MASTER_PORT), or a scheduler.
type Options struct {
	Name        string           // of this worker, its own: 1 to 128 letters, digits, '-', '_' and ':'; unset: "worker" and the rank
	InitMethod  string           // "env://", "tcp://host:port" or "file:///path"; unset: "env://"
	Store       *dist.Store      // instead of InitMethod
	Rank        gotorch.Opt[int] // of this process, the worker's id
	WorldSize   int              // number of workers
	Timeout     time.Duration    // of meeting the other workers, and of a graceful Shutdown; unset: 5 minutes
	CallTimeout time.Duration    // of a call that names none; unset: a minute
	// Functions that others call run at a time, beside those that wait for calls of their own. Unset: 16.
	NumWorkerThreads int
	// Threads for functions that others call, those that wait among them. A call that finds none is run later, or times out.
	// Unset: 1,024.
	MostWorkerThreads int
	// Calls of this worker under way at a time; later ones wait for room. Unset: 16,384.
	MostOutstanding int
	// Where this worker listens: a numeric address of this machine, or a network interface. Unset: TP_SOCKET_IFNAME of the
	// environment, else loopback, which only workers of one host can share.
	Address string
	// By the name of another worker: GPUs of this machine, and which of its GPUs tensors of calls to it arrive on, one to one.
	// Results come back the same way. Tensors on devices that are not mapped cannot be sent. Source:
	// TensorPipeRpcBackendOptions.set_device_map.
	DeviceMaps map[string]map[gotorch.Device]gotorch.Device
}

// session is what Init has made; its context ends what is under way.
type session struct {
	ctx     context.Context
	release func() bool
}

var current atomic.Pointer[session]

// Init joins the job's workers; from when it returns, others may call this one. A process joins once in its life.
// Cancelling ctx later has this worker leave by force: what is under way fails.
//
// Errors: gotorch.ErrInvalidArgument (a name that is taken or makes no sense, sizes that differ between workers, workers of
// several hosts that listen on loopback), gotorch.ErrNotFound (no such interface), gotorch.ErrTimeout naming the ranks that
// are missing, gotorch.ErrUnsupported for a second time.
func Init(ctx context.Context, options ...Options) error {
	if len(options) > 1 {
		return invalid("rpc.Init", "%d structs of options were given, and one is taken", len(options))
	}
	o := bridge.First(options)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if rank, set := o.Rank.Get(); o.WorldSize < 0 || set && rank < 0 {
		return invalid("rpc.Init", "Rank is %d and WorldSize %d; neither is negative. Leave them out to have those of the launcher", rank, o.WorldSize)
	}
	if o.Name == "" {
		rank, set := o.Rank.Get()
		if !set {
			place, _, _, _, _, _, failure := c.LaunchPlace()
			if failure != nil {
				return errorOf(ctx, "rpc_init", "", failure)
			}
			rank = place
		}
		o.Name = "worker" + strconv.Itoa(rank)
	}
	var store c.Store
	done := func() {}
	if o.Store != nil {
		var err error
		if store, done, err = bridge.Store(o.Store); err != nil {
			return err
		}
	}
	raw := c.RPCOptions{InitMethod: o.InitMethod, Address: o.Address, Rank: o.Rank.Or(-1), WorldSize: cmp.Or(o.WorldSize, -1),
		TimeoutMS: milliseconds(cmp.Or(o.Timeout, 5*time.Minute)), CallTimeoutMS: milliseconds(cmp.Or(o.CallTimeout, time.Minute)),
		MostOutstanding: cmp.Or(o.MostOutstanding, 16384), NumThreads: cmp.Or(o.NumWorkerThreads, 16),
		MostThreads: cmp.Or(o.MostWorkerThreads, 1024)}
	for worker, pairs := range o.DeviceMaps {
		for from, to := range pairs {
			raw.DeviceMaps = append(raw.DeviceMaps, c.RPCDeviceMap{Worker: worker, From: rawDevice(from), To: rawDevice(to)})
		}
	}
	if err := join(ctx, o.Name, raw, store, done); err != nil {
		return err
	}
	s := &session{ctx: ctx}
	current.Store(s)
	s.release = context.AfterFunc(ctx, func() { c.ShutdownRPC(false, 0) })
	return nil
}

// join returns once all have joined or ctx ends; whoever joins too late leaves again.
func join(ctx context.Context, name string, options c.RPCOptions, store c.Store, done func()) error {
	if ctx.Done() == nil {
		defer done()
		return errorOf(ctx, "", "", c.InitRPC(name, options, store))
	}
	came := make(chan *c.Failure, 1)
	go func() {
		defer done()
		failure := c.InitRPC(name, options, store)
		came <- failure
	}()
	select {
	case failure := <-came:
		return errorOf(ctx, "", "", failure)
	case <-ctx.Done():
		go func() {
			if <-came == nil {
				c.ShutdownRPC(false, 0)
			}
		}()
		return ended(ctx, "rpc_init", "", "the context ended before all workers had joined")
	}
}

// Shutdown leaves. graceful: waits until all workers have called it and no call is under way anywhere, at most until ctx's
// deadline, else for Options.Timeout. Otherwise, or after an error, what is under way fails: here with gotorch.ErrAborted,
// on others with gotorch.ErrPeerLost. Functions that others called are waited for. It does nothing outside of a session.
// Errors: gotorch.ErrTimeout naming the workers that have not come, or when functions still run: then it may be called
// again. Where ctx is cancelled meanwhile it goes on beside the program.
func Shutdown(ctx context.Context, graceful bool) error {
	timeout := int64(0)
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(milliseconds(time.Until(deadline)), 1)
	}
	if s := current.Load(); s != nil {
		s.release()
	}
	return apart(ctx, "rpc_shutdown", "", "the context ended; shutting down goes on", func() *c.Failure {
		failure := c.ShutdownRPC(graceful, timeout)
		if !c.RPCIsInitialized() {
			current.Store(nil)
		}
		return failure
	})
}

// IsInitialized tells whether this process is a worker: between [Init] and [Shutdown].
func IsInitialized() bool { return c.RPCIsInitialized() }

// Worker is one of the job's.
type Worker struct {
	Name string
	ID   int // the rank with which it called Init
}

// Workers are all of them, in order of id. gotorch.ErrClosed outside of a session.
func Workers() ([]Worker, error) { return workersFor("rpc_workers") }

func workersFor(op string) ([]Worker, error) {
	names, failure := c.RPCWorkers()
	if failure != nil {
		return nil, errorOf(context.Background(), op, "", failure)
	}
	workers := make([]Worker, len(names))
	for id, name := range names {
		workers[id] = Worker{name, id}
	}
	return workers, nil
}

// Self is this worker.
func Self() (Worker, error) {
	const op = "rpc_worker_id"
	id, failure := c.RPCWorkerID()
	if failure != nil {
		return Worker{}, errorOf(context.Background(), op, "", failure)
	}
	return workerOf(id, op)
}

func workerOf(id int, op string) (Worker, error) {
	workers, err := workersFor(op)
	if err != nil {
		return Worker{}, err
	}
	return workers[id], nil
}

// blocking runs a call that waits for other workers, and returns when ctx ends. What ends with the context of Init is ended
// by that already, and runs on this goroutine's thread.
func blocking(ctx context.Context, op, worker, goesOn string, call func() *c.Failure) error {
	if isSessions(ctx) {
		return errorOf(ctx, op, worker, call())
	}
	if ctx.Err() != nil {
		return ended(ctx, op, worker, goesOn)
	}
	return apart(ctx, op, worker, goesOn, call)
}

// apart returns when the call does, or ctx ends.
func apart(ctx context.Context, op, worker, goesOn string, call func() *c.Failure) error {
	if ctx.Done() == nil {
		return errorOf(ctx, op, worker, call())
	}
	came := make(chan *c.Failure, 1)
	go func() { came <- call() }()
	failure, err := result(ctx, came, op, worker, goesOn)
	return cmp.Or(err, errorOf(ctx, op, worker, failure))
}

// made is what create gives, which waits for other workers. Where ctx ends before, drop gets it once it has come.
func made[T any](ctx context.Context, op, goesOn string, create func() (T, *c.Failure), drop func(T)) (T, error) {
	if ctx.Done() == nil || isSessions(ctx) {
		one, failure := create()
		return one, errorOf(ctx, op, "", failure)
	}
	var one, none T
	came := make(chan *c.Failure, 1)
	go func() {
		handle, failure := create()
		one = handle
		came <- failure
	}()
	failure, err := result(ctx, came, op, "", goesOn)
	if err == nil {
		return one, errorOf(ctx, op, "", failure)
	}
	go func() {
		if <-came == nil {
			drop(one)
		}
	}()
	return none, err
}

// result of a call on another goroutine; err: ctx has ended before.
func result(ctx context.Context, of <-chan *c.Failure, op, worker, goesOn string) (failure *c.Failure, err error) {
	c.WaitingInRPC(func() {
		select {
		case failure = <-of:
		case <-ctx.Done():
			err = ended(ctx, op, worker, goesOn)
		}
	})
	return failure, err
}

// isSessions tells whether ctx ends with that of Init and not before.
func isSessions(ctx context.Context) bool {
	s := current.Load()
	return s != nil && s.ctx.Done() == ctx.Done()
}

func milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

func invalid(op, format string, arguments ...any) error {
	return &Error{Err: &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op, Message: fmt.Sprintf(format, arguments...)}}
}

func rawDevice(d gotorch.Device) c.Device {
	return c.Device{Kind: int32(d.Kind), Index: int32(d.Index)}
}
