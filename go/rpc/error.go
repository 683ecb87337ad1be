package rpc

import (
	"context"
	"errors"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

// Error is what a call failed with: gotorch.ErrTimeout, gotorch.ErrPeerLost for a worker that is gone, gotorch.ErrAborted
// where this one has left or the context ended, and whatever the function there failed with, by its code:
// gotorch.ErrCallback where that was no error of gotorch's. errors.Is finds codes, and the context's cause.
type Error struct {
	Err    *gotorch.Error
	Worker string // that was called; "": none

	cause error // the context's, when that ended the wait
}

// Error is what happened, and why the context ended when that is the reason.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Err.Error() + " (" + e.cause.Error() + ")"
	}
	return e.Err.Error()
}

// Unwrap gives the *gotorch.Error and the context's error.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Err, e.cause}
	}
	return []error{e.Err}
}

// errorOf is the error of what the C ABI calls op.
func errorOf(ctx context.Context, op, worker string, failure *c.Failure) error {
	if failure == nil {
		return nil
	}
	if op != "" {
		failure.Op = op
	}
	return withWorker(ctx, worker, bridge.Error(failure))
}

func withWorker(ctx context.Context, worker string, err error) error {
	var ours *gotorch.Error
	if !errors.As(err, &ours) {
		return err
	}
	e := &Error{Err: ours, Worker: worker}
	if ctx.Err() != nil && ours.Code != gotorch.ErrInvalidArgument {
		e.cause = context.Cause(ctx)
	}
	return e
}

// ended is the error of a wait that the context ended.
func ended(ctx context.Context, op, worker, what string) error {
	return &Error{Err: &gotorch.Error{Code: gotorch.ErrAborted, Op: names.Operation(op), Message: what}, Worker: worker,
		cause: context.Cause(ctx)}
}

func closed(op, what string) error {
	return &Error{Err: &gotorch.Error{Code: gotorch.ErrClosed, Op: names.Operation(op), Message: "the " + what + " was closed before this use"}}
}
