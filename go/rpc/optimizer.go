package rpc

import (
	"context"
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// OptimizerOptions of [NewDistributedOptimizer].
type OptimizerOptions struct {
	// Steps of several workers may update the same parameters at a time (Hogwild!). Else each owner makes one at a time.
	Unlocked bool
	// Names of functions that each owner has registered, called there around its step with the id of the autograd context:
	// [AutogradContextByID].
	BeforeStep, AfterStep string
}

// DistributedOptimizer steps parameters on the workers that have them, with an optimizer and its state on each. Several may
// have the same parameters. It may be used by several goroutines, and must be closed. Source:
// torch.distributed.optim.DistributedOptimizer.
type DistributedOptimizer struct {
	handle c.DistributedOptimizer
	users  users
	watch  *leak.Watch
}

// NewDistributedOptimizer makes one of references to tensors without history that require gradients. kind is an optimizer of
// torch.optim but LBFGS, with options by LibTorch's names, which optim's constructors have as parameters and fields:
//
//	optimizer, err := rpc.NewDistributedOptimizer(ctx, "SGD", parameters, map[string]any{"lr": 0.1, "momentum": 0.9})
//
// Errors: gotorch.ErrInvalidArgument for no parameters, or no such option, naming the worker; those of calls.
func NewDistributedOptimizer(ctx context.Context, kind string, parameters []*RRef, options map[string]any,
	more ...OptimizerOptions) (*DistributedOptimizer, error) {
	if len(more) > 1 {
		return nil, invalid("rpc.NewDistributedOptimizer", "%d structs of options were given, and one is taken", len(more))
	}
	var o OptimizerOptions
	if len(more) == 1 {
		o = more[0]
	}
	handles := make([]c.RRef, len(parameters))
	frame := c.NewFrame()
	if err := gotorch.Try(func() {
		for i, one := range parameters {
			if one == nil {
				panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "rpc.NewDistributedOptimizer", Message: "a parameter is nil"})
			}
			handles[i] = one.native(frame, "rpc.NewDistributedOptimizer")
		}
		for name, value := range options {
			frame.Name(name)
			put(frame, value, "rpc.NewDistributedOptimizer", "option '"+name+"'")
		}
	}); err != nil {
		frame.Release()
		return nil, withWorker(ctx, "", err)
	}
	if !isSessions(ctx) && ctx.Err() != nil {
		frame.Release()
		return nil, ended(ctx, "distributed_optimizer_create", "", "the context ended before the call")
	}
	handle, err := made(ctx, "distributed_optimizer_create", "the context ended", func() (c.DistributedOptimizer, *c.Failure) {
		defer runtime.KeepAlive(parameters)
		return c.CreateDistributedOptimizer(kind, handles, frame,
			c.DistributedOptimizerOptions{BeforeStep: o.BeforeStep, AfterStep: o.AfterStep, Locked: !o.Unlocked})
	}, c.FreeDistributedOptimizer)
	if err != nil {
		return nil, err
	}
	optimizer := &DistributedOptimizer{handle: handle}
	optimizer.watch = leak.Track(optimizer, "rpc.DistributedOptimizer")
	return optimizer, nil
}

func (d *DistributedOptimizer) use(ctx context.Context, op string, call func(c.DistributedOptimizer) *c.Failure) error {
	return blocking(ctx, op, "", "the context ended; workers go on", func() *c.Failure {
		if !d.users.acquire() {
			return &c.Failure{Code: c.CodeClosed, Op: op, Message: "the optimizer was closed before this use"}
		}
		defer d.release()
		return call(d.handle)
	})
}

func (d *DistributedOptimizer) release() {
	if d.users.release() {
		c.FreeDistributedOptimizer(d.handle)
	}
}

// Step applies the gradients of a pass, on all owners at a time; parameters without one are left alone. Errors:
// gotorch.ErrClosed after the pass's Close; gotorch.ErrNotFound where no owner had part in it; those of calls, and other owners
// may have made their step then.
func (d *DistributedOptimizer) Step(ctx context.Context, pass *AutogradContext) error {
	if pass.closed.Load() {
		return closed("distributed_optimizer_step", "autograd context")
	}
	return d.use(ctx, "distributed_optimizer_step", func(handle c.DistributedOptimizer) *c.Failure {
		return c.StepDistributedOptimizer(handle, pass.id)
	})
}

// SetOption sets an option on all owners, for schedules of learning rates.
func (d *DistributedOptimizer) SetOption(ctx context.Context, name string, value any) error {
	frame := c.NewFrame()
	if err := gotorch.Try(func() {
		frame.Name(name)
		put(frame, value, "rpc.DistributedOptimizer.SetOption", "option '"+name+"'")
	}); err != nil {
		frame.Release()
		return withWorker(ctx, "", err)
	}
	return d.use(ctx, "distributed_optimizer_set_option", func(handle c.DistributedOptimizer) *c.Failure {
		return c.SetDistributedOption(handle, frame)
	})
}

// Close has the owners drop their optimizers, once no Step waits any more. A second Close does nothing.
func (d *DistributedOptimizer) Close() error {
	if d.watch.Done() && d.users.close() {
		c.FreeDistributedOptimizer(d.handle)
	}
	return nil
}
