package gotorch

import (
	"runtime"

	"tandem.example/gotorch/internal/c"
)

// Checkpoint calls body with the inputs, nil ones among them, without keeping what Backward needs of its intermediate
// tensors. When Backward gets there it calls body again, with the same random numbers, autocast and grad mode, and
// frees the tensors as it uses them: memory of one part of a model at a time, for about a third more time. The
// gradients are those of a pass without it, those of parameters that body uses too.
//
// body must compute the same each time, from inputs that are not changed in place, and not hold on to what it made.
// The second call runs as [Tensor.RegisterHook] says of callbacks; a panic in it ends Backward with a *[CallbackError].
// Source: torch.utils.checkpoint with use_reentrant=False.
func Checkpoint(body func(inputs []*Tensor) []*Tensor, inputs ...*Tensor) (outputs []*Tensor) {
	given := handles(inputs, "checkpoint")
	inMode(func() (c.Mode, *c.Failure) {
		return c.EnterCheckpoint(given, true, func(call c.Invocation) ([]c.Tensor, error) {
			return inCallback(call, func(inputs []*Tensor) ([]*Tensor, error) {
				body(inputs)
				return nil, nil
			})
		})
	}, func() { outputs = body(inputs) })
	runtime.KeepAlive(inputs)
	return outputs
}
