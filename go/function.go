package gotorch

import (
	"fmt"
	"runtime"
	"strings"

	"tandem.example/gotorch/internal/c"
)

// Function is a computation with a derivative of its own. [Apply] calls Forward; Backward is called when gradients of
// what that gave are there.
//
// Forward computes the outputs; its operations are not recorded. What Backward needs of tensors it saves by
// [FunctionContext.SaveForBackward], never in fields, which would keep the graph alive for ever; other things go to
// FunctionContext.Data.
//
// Backward gives a gradient, or nil, for each input, from the gradient of each output. Its operations are recorded
// under CreateGraph, so that derivatives of higher order follow. It runs as [Tensor.RegisterHook] says of callbacks; a
// panic in it ends Backward with a *[CallbackError].
//
// Source: torch.autograd.Function.
type Function interface {
	Forward(ctx *FunctionContext, inputs []*Tensor) []*Tensor
	Backward(ctx *FunctionContext, gradients []*Tensor) []*Tensor
}

// FunctionContext is what the two parts of a [Function] share about one call of it.
type FunctionContext struct {
	// Data is whatever Forward leaves for Backward beside tensors.
	Data any

	needs                          []bool
	saved, dirty, undifferentiated []*Tensor
	sparse                         bool // gradients that are missing are nil
}

// SaveForBackward keeps tensors, nil ones too, for Backward: inputs, outputs or others. A change in place before then is
// an error of Backward. Forward calls it at most once.
func (ctx *FunctionContext) SaveForBackward(tensors ...*Tensor) { ctx.saved = tensors }

// SavedTensors are, in Backward, what Forward saved. They are freed with the other tensors of Backward.
func (ctx *FunctionContext) SavedTensors() []*Tensor { return ctx.saved }

// NeedsInputGrad tells whether the gradient of input i is asked for; Backward need not compute it else.
func (ctx *FunctionContext) NeedsInputGrad(i int) bool { return ctx.needs[i] }

// MarkDirty tells of inputs that Forward changed in place; it returns them as well.
func (ctx *FunctionContext) MarkDirty(inputs ...*Tensor) { ctx.dirty = inputs }

// MarkNonDifferentiable tells of outputs that have no gradient.
func (ctx *FunctionContext) MarkNonDifferentiable(outputs ...*Tensor) { ctx.undifferentiated = outputs }

// SetMaterializeGrads says whether Backward is given zeros, as it is by default, or nil for outputs without a gradient.
func (ctx *FunctionContext) SetMaterializeGrads(on bool) { ctx.sparse = !on }

// Apply calls fn's Forward, and records it for Backward where gradients of an input, which may be nil, are asked for.
func Apply(fn Function, inputs ...*Tensor) []*Tensor {
	ctx := &FunctionContext{needs: make([]bool, len(inputs))}
	recording := IsGradEnabled()
	for i, input := range inputs {
		ctx.needs[i] = recording && input != nil && input.RequiresGrad()
	}
	var outputs []*Tensor
	NoGrad(func() { outputs = fn.Forward(ctx, inputs) })
	name := functionName(fn)
	record := c.FunctionRecord{
		Name:              name,
		Inputs:            handles(inputs, name),
		Outputs:           handles(outputs, name),
		Saved:             handles(ctx.saved, name),
		Dirty:             handles(ctx.dirty, name),
		NonDifferentiable: handles(ctx.undifferentiated, name),
		MaterializeGrads:  !ctx.sparse,
	}
	// Backward's closure must not see the tensors of this call.
	data, count := ctx.Data, len(inputs)
	recorded, err := c.RecordFunction(record, func(call c.Invocation) ([]c.Tensor, error) {
		return inCallback(call, func(gradients []*Tensor) ([]*Tensor, error) {
			ctx := &FunctionContext{Data: data, needs: call.Needs, saved: wrapAll(call.Saved)}
			results := fn.Backward(ctx, gradients)
			if len(results) != count {
				return nil, invalid(name, "Backward gave %d gradients for %d inputs; give one, or nil, for each",
					len(results), count)
			}
			return results, nil
		})
	})
	runtime.KeepAlive(inputs)
	runtime.KeepAlive(ctx)
	must(err)
	results := make([]*Tensor, len(outputs))
	for i, m := range recorded {
		results[i] = outputs[i]
		if c.IsSame(m.Handle, outputs[i].handle(name)) {
			c.Free(m.Handle)
		} else {
			results[i] = wrap(m)
		}
	}
	return results
}

// functionName is "Clamp" for a *main.Clamp.
func functionName(fn Function) string {
	name := fmt.Sprintf("%T", fn)
	return name[strings.LastIndex(name, ".")+1:]
}
