package rpc

import (
	"context"
	"runtime"
	"sync/atomic"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// AutogradContext is one pass forward and back over several workers:
//
//	pass, err := rpc.NewAutogradContext()
//	if err != nil {
//		return err
//	}
//	defer pass.Close()
//	hidden, err := rpc.Call(pass.In(ctx), "worker1", "encode", x)
//	if err != nil {
//		return err
//	}
//	loss := F.MSELoss(decode(hidden.(*gotorch.Tensor)), y)
//	if err := pass.Backward(ctx, loss); err != nil {
//		return err
//	}
//	return optimizer.Step(ctx, pass)
//
// Gradients are kept with it, on each worker for the parameters there, instead of in Tensor.Grad, so that several passes may
// go on at a time. Source: torch.distributed.autograd.
type AutogradContext struct {
	id     int64
	watch  *leak.Watch // nil: another's, by its id
	closed atomic.Bool
}

// NewAutogradContext makes one, which must be closed. gotorch.ErrClosed outside of a session.
func NewAutogradContext() (*AutogradContext, error) {
	id, failure := c.NewAutogradContext()
	if failure != nil {
		return nil, errorOf(context.Background(), "", "", failure)
	}
	pass := &AutogradContext{id: id}
	pass.watch = leak.Track(pass, "rpc.AutogradContext")
	return pass, nil
}

// AutogradContextByID is that of another worker, as functions that are called before and after a step are told it.
func AutogradContextByID(id int) *AutogradContext { return &AutogradContext{id: int64(id)} }

// CurrentAutogradContext is the one that the registered function on this goroutine was called in; false: none.
func CurrentAutogradContext() (*AutogradContext, bool) {
	id := c.CurrentAutogradContext()
	return &AutogradContext{id: id}, id >= 0
}

// ID is the same on all workers.
func (a *AutogradContext) ID() int { return int(a.id) }

type contextKey struct{}

// In gives a context whose calls take part in the pass.
func (a *AutogradContext) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, a.id)
}

// contextOf is the id of the pass that calls take part in, -1: that of the function on this thread.
func contextOf(ctx context.Context) int64 {
	if id, ok := ctx.Value(contextKey{}).(int64); ok {
		return id
	}
	return -1
}

// BackwardOptions of [AutogradContext.Backward].
type BackwardOptions struct {
	RetainGraph bool // Backward may be called again
}

// Backward goes from the roots, tensors of one number each, through all workers that took part, to the tensors without
// history that require gradients. What no root depends on is left alone. Errors: gotorch.ErrInvalidArgument for roots without
// history; gotorch.ErrPeerLost and gotorch.ErrTimeout; what a node of the graph fails with, on whatever worker. When ctx ends it returns.
func (a *AutogradContext) Backward(ctx context.Context, roots ...*gotorch.Tensor) error {
	return a.backward(ctx, "rpc.AutogradContext.Backward", BackwardOptions{}, roots)
}

// BackwardWith is Backward with options.
func (a *AutogradContext) BackwardWith(ctx context.Context, options BackwardOptions, roots ...*gotorch.Tensor) error {
	return a.backward(ctx, "rpc.AutogradContext.BackwardWith", options, roots)
}

func (a *AutogradContext) backward(ctx context.Context, op string, options BackwardOptions, roots []*gotorch.Tensor) error {
	if a.closed.Load() {
		return closed(op, "autograd context")
	}
	handles, err := handlesOf(roots, op)
	if err != nil {
		return err
	}
	return blocking(ctx, op, "", "the context ended; the pass goes on", func() *c.Failure {
		defer runtime.KeepAlive(roots)
		return c.DistBackward(a.id, handles, options.RetainGraph)
	})
}

// Gradients of tensors of this worker's; nil where there is none.
func (a *AutogradContext) Gradients(of ...*gotorch.Tensor) ([]*gotorch.Tensor, error) {
	if a.closed.Load() {
		return nil, closed("dist_autograd_gradients", "autograd context")
	}
	handles, err := handlesOf(of, "rpc.AutogradContext.Gradients")
	if err != nil {
		return nil, err
	}
	made, failure := c.DistGradients(a.id, handles)
	runtime.KeepAlive(of)
	if failure != nil {
		return nil, errorOf(context.Background(), "", "", failure)
	}
	gradients := make([]*gotorch.Tensor, len(made))
	for i, one := range made {
		if one.Handle != nil {
			gradients[i] = bridge.Wrap(one).(*gotorch.Tensor)
		}
	}
	return gradients, nil
}

func handlesOf(tensors []*gotorch.Tensor, op string) ([]c.Tensor, error) {
	handles := make([]c.Tensor, len(tensors))
	err := gotorch.Try(func() {
		for i, t := range tensors {
			handles[i] = bridge.Handle(t, op)
		}
	})
	if err != nil {
		return nil, withWorker(context.Background(), "", err)
	}
	return handles, nil
}

// Close drops what all workers keep of it; of another's context it does nothing. A second Close does nothing.
func (a *AutogradContext) Close() error {
	if a.watch == nil || a.closed.Swap(true) {
		return nil
	}
	a.watch.Done()
	if failure := c.ReleaseAutogradContext(a.id); failure != nil && gotorch.Code(failure.Code) != gotorch.ErrClosed {
		return errorOf(context.Background(), "", "", failure)
	}
	return nil
}
