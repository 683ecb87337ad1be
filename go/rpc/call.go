package rpc

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

// CallOptions are settings of calls, which it makes as the functions of the same names do:
//
//	sum, err := rpc.CallOptions{Timeout: time.Second, Retries: 2}.Call(ctx, "worker1", "aten::add", a, b)
type CallOptions struct {
	Timeout time.Duration // of each try; unset: Options.CallTimeout
	// How often a call that had no answer in time is made again: only for calls that may happen twice.
	Retries int
}

func (o CallOptions) raw(ctx context.Context) c.RPCCallOptions {
	return c.RPCCallOptions{TimeoutMS: milliseconds(o.Timeout), Retries: o.Retries, Context: contextOf(ctx)}
}

// Call calls a function on a worker, which may be this one, and waits for what it gives: an operator of LibTorch's
// ("aten::add", or with overload "aten::add.Tensor"), with arguments in the order of its schema, or what the worker has
// registered. When ctx ends the wait does; the call goes on. Errors are *[Error]: gotorch.ErrNotFound for a worker or a
// function that there is not, and those that Error lists.
func Call(ctx context.Context, worker, function string, arguments ...any) (any, error) {
	return CallOptions{}.Call(ctx, worker, function, arguments...)
}

// CallAsync is [Call] without waiting, unless Options.MostOutstanding are under way: then for room, at most for the timeout.
func CallAsync(ctx context.Context, worker, function string, arguments ...any) (*Future, error) {
	return CallOptions{}.CallAsync(ctx, worker, function, arguments...)
}

// Remote calls a function as CallAsync does, and gives a reference to its result, which stays there, at once: a failure is
// the error of [RRef.ToHere] and [RRef.LocalValue].
func Remote(ctx context.Context, worker, function string, arguments ...any) (*RRef, error) {
	return CallOptions{}.Remote(ctx, worker, function, arguments...)
}

// Call is [Call] with these settings.
func (o CallOptions) Call(ctx context.Context, worker, function string, arguments ...any) (any, error) {
	const op = "rpc_sync"
	future, err := o.async(ctx, op, worker, function, arguments)
	if err != nil {
		return nil, err
	}
	return future.wait(ctx, op)
}

// CallAsync is [CallAsync] with these settings.
func (o CallOptions) CallAsync(ctx context.Context, worker, function string, arguments ...any) (*Future, error) {
	return o.async(ctx, "rpc_async", worker, function, arguments)
}

func (o CallOptions) async(ctx context.Context, op, worker, function string, arguments []any) (future *Future, err error) {
	err = o.begin(ctx, op, worker, function, arguments, func(frame *c.Frame) *c.Failure {
		handle, failure := c.CallRPC(worker, function, frame, o.raw(ctx))
		if failure == nil {
			future = newFuture(worker, function, handle)
		}
		return failure
	})
	return future, err
}

// Remote is [Remote] with these settings.
func (o CallOptions) Remote(ctx context.Context, worker, function string, arguments ...any) (r *RRef, err error) {
	err = o.begin(ctx, "rpc_remote", worker, function, arguments, func(frame *c.Frame) *c.Failure {
		handle, failure := c.RemoteRPC(worker, function, frame, o.raw(ctx))
		if failure == nil {
			r = newRRef(handle)
		}
		return failure
	})
	return r, err
}

func (o CallOptions) begin(ctx context.Context, op, worker, function string, arguments []any, call func(*c.Frame) *c.Failure) error {
	if ctx.Err() != nil {
		return ended(ctx, op, worker, "the context ended before the call")
	}
	if o.Timeout < 0 {
		return invalid(names.Operation(op), "CallOptions.Timeout is %v; it must be 0 or more", o.Timeout)
	}
	frame := c.NewFrame()
	if err := gotorch.Try(func() {
		for i, one := range arguments {
			put(frame, one, names.Operation(op), fmt.Sprintf("argument %d of %s", i, function))
		}
	}); err != nil {
		frame.Release()
		return withWorker(ctx, worker, err)
	}
	failure := call(frame)
	runtime.KeepAlive(arguments)
	return errorOf(ctx, op, worker, failure)
}

// Future is a call's result, or what Then makes of one. It may be used by several goroutines.
type Future struct {
	worker, function string      // "": of Then
	handle           c.RPCFuture // nil: of Then
	watch            sync.Once
	done             chan struct{}
	value            any // of Then
	err              error
}

func newFuture(worker, function string, handle c.RPCFuture) *Future {
	f := &Future{worker: worker, function: function, handle: handle, done: make(chan struct{})}
	runtime.AddCleanup(f, func(handle c.RPCFuture) { c.FreeRPCFuture(handle) }, handle)
	return f
}

// Done is closed once the result, or the failure, is there.
func (f *Future) Done() <-chan struct{} {
	if f.handle != nil {
		f.watch.Do(func() {
			done := f.done
			if failure := c.OnRPCDone(f.handle, func() { close(done) }); failure != nil {
				close(done) // Wait gives the failure
			}
			runtime.KeepAlive(f)
		})
	}
	return f.done
}

// Wait gives the result, each time values of its own. When ctx ends it returns; the call goes on.
func (f *Future) Wait(ctx context.Context) (any, error) { return f.wait(ctx, "rpc_future_wait") }

func (f *Future) wait(ctx context.Context, op string) (any, error) {
	// Waits by the session's context are ended by that already.
	if f.handle == nil || ctx.Done() != nil && !isSessions(ctx) {
		select {
		case <-f.Done():
		default:
			var err error
			c.WaitingInRPC(func() {
				select {
				case <-f.Done():
				case <-ctx.Done():
					err = ended(ctx, op, f.worker, f.goesOn())
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	if f.handle == nil {
		return f.value, f.err
	}
	value, failure := c.WaitRPC(f.handle)
	runtime.KeepAlive(f)
	if failure != nil {
		return nil, errorOf(ctx, op, f.worker, failure)
	}
	return bridge.FromScript(value), nil
}

func (f *Future) goesOn() string {
	if f.function == "" {
		return "the context ended before the result was there"
	}
	return fmt.Sprintf("the context ended; the call of %s on worker '%s' goes on", f.function, f.worker)
}

// Then calls function, on a goroutine of its own, once this future is done, and gives a future of what that returns. A
// panic is its error.
func (f *Future) Then(function func(value any, err error) (any, error)) *Future {
	next := &Future{worker: f.worker, done: make(chan struct{})}
	go func() {
		defer close(next.done)
		defer func() {
			if problem := recover(); problem != nil {
				next.value, next.err = nil, c.ErrorOfPanic(problem)
			}
		}()
		<-f.Done()
		next.value, next.err = function(f.Wait(context.Background()))
	}()
	return next
}
