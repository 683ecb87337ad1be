package dist

import (
	"context"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

// Error is an error that comes from other processes, or from the way to them: a lost peer (gotorch.ErrPeerLost), a
// late one (gotorch.ErrTimeout), an abort (gotorch.ErrAborted). Functions return it, a forward pass panics with it.
type Error struct {
	Err  *gotorch.Error
	Rank int // this process's, -1 before it has one

	cause error // the context's, when that aborted the group
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

func errorOf(ctx context.Context, rank int, failure *c.Failure) error {
	if failure == nil {
		return nil
	}
	e := &Error{Err: bridge.Error(failure).(*gotorch.Error), Rank: rank}
	if ctx.Err() != nil {
		e.blame(ctx)
	}
	return e
}

// blame a context that ended.
func (e *Error) blame(ctx context.Context) {
	if e.Err.Code != gotorch.ErrInvalidArgument {
		e.cause = context.Cause(ctx)
	}
}

// closed is an error of what the C ABI calls op.
func closed(op, what string) error {
	return &Error{Err: &gotorch.Error{Code: gotorch.ErrClosed, Op: names.Operation(op), Message: "the " + what + " was closed before this use"},
		Rank: -1}
}
