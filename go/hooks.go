package gotorch

import (
	"runtime"

	"tandem.example/gotorch/internal/c"
)

// Hook is a function that Backward calls, until it is removed or its tensor is gone. Forgetting the Hook does not
// remove it.
type Hook struct{ native c.Hook }

func newHook(native c.Hook, err *c.Failure) *Hook {
	must(err)
	h := &Hook{native}
	runtime.AddCleanup(h, func(native c.Hook) { c.FreeHook(native) }, native)
	return h
}

// Remove has the function not be called any more. A second Remove does nothing.
func (h *Hook) Remove() {
	c.RemoveHook(h.native)
	runtime.KeepAlive(h)
}

// RegisterHook has body called with each gradient of t, which must require gradients, before it goes on to where t
// came from. body may return another tensor to go on with instead, or nil. What holds for callbacks:
//
//   - Tensors that body is given or makes are freed when it returns, but those it Keeps. Operations are recorded only
//     under CreateGraph.
//   - An error, or a panic, ends Backward, which returns a *[CallbackError].
//   - body may run on another thread than Backward's caller, never on two at once for one Backward.
//   - body must not hold on to t, which would then never be freed; it is told what it needs.
//   - runtime.Goexit, and so testing.T.FailNow, must not be called.
//
// Source: torch.Tensor.register_hook.
func (t *Tensor) RegisterHook(body func(gradient *Tensor) (*Tensor, error)) *Hook {
	native, err := c.RegisterHook(t.handle("Tensor.RegisterHook"), func(call c.Invocation) ([]c.Tensor, error) {
		return inCallback(call, func(inputs []*Tensor) ([]*Tensor, error) {
			replacement, err := body(inputs[0])
			return []*Tensor{replacement}, err
		})
	})
	runtime.KeepAlive(t)
	return newHook(native, err)
}

// RegisterPostAccumulateGradHook has body called with t, a leaf that requires gradients, each time Backward added to
// its gradient: to look at the gradient, or to use it and free it at once. [Tensor.RegisterHook] says what holds for
// body. Source: torch.Tensor.register_post_accumulate_grad_hook.
func (t *Tensor) RegisterPostAccumulateGradHook(body func(t *Tensor) error) *Hook {
	native, err := c.RegisterPostAccumulateGradHook(t.handle("Tensor.RegisterPostAccumulateGradHook"),
		func(call c.Invocation) ([]c.Tensor, error) {
			return inCallback(call, func(inputs []*Tensor) ([]*Tensor, error) { return nil, body(inputs[0]) })
		})
	runtime.KeepAlive(t)
	return newHook(native, err)
}
