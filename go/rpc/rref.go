package rpc

import (
	"context"
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// RRef is a reference to a value that stays on the worker where it was made, its owner, and lives there as long as anyone has
// a reference. As an argument, a result or a part of one it gives whoever gets it a reference too. Close gives it up, and
// so does the collector once nothing leads to it. It may be used by several goroutines. Source: torch.distributed.rpc.RRef.
type RRef struct {
	handle  c.RRef
	users   users
	cleanup runtime.Cleanup
}

func init() {
	bridge.NewRRef = func(handle c.RRef) any { return newRRef(handle) }
}

func newRRef(handle c.RRef) *RRef {
	r := &RRef{handle: handle}
	r.cleanup = runtime.AddCleanup(r, func(handle c.RRef) { c.FreeRRef(handle) }, handle)
	return r
}

// NewRRef makes a reference to a value of this worker's: a tensor itself, not a copy of it.
func NewRRef(value any) (*RRef, error) {
	frame := c.NewFrame()
	if err := gotorch.Try(func() { put(frame, value, "rpc.NewRRef", "the value") }); err != nil {
		frame.Release()
		return nil, withWorker(context.Background(), "", err)
	}
	handle, failure := c.CreateRRef(frame)
	runtime.KeepAlive(value)
	if failure != nil {
		return nil, errorOf(context.Background(), "", "", failure)
	}
	return newRRef(handle), nil
}

func (r *RRef) release() {
	if r.users.release() {
		c.FreeRRef(r.handle)
	}
}

// native is the handle for a call named op, until the call's frame is released; it panics with *gotorch.Error where it was
// closed.
func (r *RRef) native(frame *c.Frame, op string) c.RRef {
	if !r.users.acquire() {
		panic(&gotorch.Error{Code: gotorch.ErrClosed, Op: op, Message: "the reference (RRef) was closed before this use"})
	}
	frame.After(r.release)
	return r.handle
}

// Owner is the worker that has the value.
func (r *RRef) Owner() (Worker, error) { return r.owner("rref_owner") }

func (r *RRef) owner(op string) (Worker, error) {
	if !r.users.acquire() {
		return Worker{}, closed(op, "reference (RRef)")
	}
	defer r.release()
	id, failure := c.RRefOwner(r.handle)
	if failure != nil {
		return Worker{}, errorOf(context.Background(), op, "", failure)
	}
	return workerOf(id, op)
}

// IsOwner tells whether this worker has the value; false after Close.
func (r *RRef) IsOwner() bool {
	if !r.users.acquire() {
		return false
	}
	defer r.release()
	return c.RRefIsOwner(r.handle)
}

// ConfirmedByOwner tells whether the owner knows of this reference; false after Close.
func (r *RRef) ConfirmedByOwner() bool {
	if !r.users.acquire() {
		return false
	}
	defer r.release()
	return c.RRefIsConfirmed(r.handle)
}

// ToHere gives a copy of the value, on its owner the value itself. When ctx ends it returns. Errors: those of [Call].
func (r *RRef) ToHere(ctx context.Context) (any, error) {
	options := CallOptions{}.raw(ctx)
	if options.Context < 0 {
		options.Context = c.CurrentAutogradContext() // of this goroutine's thread; the wait may be on another
	}
	return r.fetch(ctx, "rref_to_here", func(handle c.RRef) (c.Value, *c.Failure) { return c.RRefToHere(handle, options) })
}

// LocalValue gives the value itself on its owner; waits where it is still computed. Errors: gotorch.ErrInvalidArgument on
// other workers; what computing it failed with.
func (r *RRef) LocalValue(ctx context.Context) (any, error) {
	return r.fetch(ctx, "rref_local_value", c.RRefLocalValue)
}

func (r *RRef) fetch(ctx context.Context, op string, get func(c.RRef) (c.Value, *c.Failure)) (any, error) {
	owner, err := r.owner(op)
	if err != nil {
		return nil, err
	}
	var value any
	err = blocking(ctx, op, owner.Name, "the context ended", func() *c.Failure {
		if !r.users.acquire() {
			return &c.Failure{Code: c.CodeClosed, Op: op, Message: "the reference (RRef) was closed before this use"}
		}
		defer r.release()
		got, failure := get(r.handle)
		if failure == nil {
			value = bridge.FromScript(got)
		}
		return failure
	})
	runtime.KeepAlive(r)
	if err != nil {
		return nil, err // value may still come
	}
	return value, nil
}

// Close gives the reference up, once no ToHere or LocalValue waits any more, and calls that have it as an argument have begun.
// A second Close does nothing.
func (r *RRef) Close() error {
	r.cleanup.Stop()
	if r.users.close() {
		c.FreeRRef(r.handle)
	}
	return nil
}

// RRefCounts is what this worker holds for references.
type RRefCounts struct {
	Owners  int // values that others have references to, or had asked for
	Forks   int // references to them
	Pending int // references of this worker's that their owners have not confirmed yet
}

// CountRRefs counts them.
func CountRRefs() (RRefCounts, error) {
	counts, failure := c.CountRRefs()
	return RRefCounts(counts), errorOf(context.Background(), "rref_get_counts", "", failure)
}
