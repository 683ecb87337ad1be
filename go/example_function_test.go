package gotorch_test

import (
	"fmt"

	"tandem.example/gotorch"
)

// clip is the identity, whose gradient is kept within a bound.
type clip struct{ bound float64 }

func (f clip) Forward(ctx *gotorch.FunctionContext, inputs []*gotorch.Tensor) []*gotorch.Tensor {
	ctx.Data = f.bound
	return inputs
}

func (clip) Backward(ctx *gotorch.FunctionContext, gradients []*gotorch.Tensor) []*gotorch.Tensor {
	bound := ctx.Data.(float64)
	within := gotorch.ClampOptions{Min: -bound, Max: bound}
	return []*gotorch.Tensor{gradients[0].Clamp(within)}
}

func ExampleApply() {
	gotorch.Scope(func() {
		x := gotorch.From([]float32{1, 2}).SetRequiresGrad(true)
		y := gotorch.Apply(clip{1}, x)[0]
		if err := y.Mul(gotorch.From([]float32{0.5, 100})).Sum().Backward(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(gotorch.ToSlice[float32](x.Grad()))
	})
	// Output: [0.5 1]
}
