package gotorch_test

import (
	"errors"
	"fmt"
	"log"

	"tandem.example/gotorch"
)

func Example() {
	x := gotorch.From([]float32{1, 2, 3, 4}, 2, 2).SetRequiresGrad(true)
	y := x.Mul(x).Sum()
	if err := y.Backward(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(y.Item(), gotorch.ToSlice[float32](x.Grad()))
	// Output: 30 [2 4 6 8]
}

func ExampleScope() {
	var mean *gotorch.Tensor
	gotorch.Scope(func() {
		x := gotorch.Arange(10.0)
		mean = gotorch.Keep(x.Mean()) // x is freed at the end of the scope
	})
	fmt.Println(mean.Item())
	mean.Close()
	// Output: 4.5
}

func ExampleTry() {
	err := gotorch.Try(func() {
		gotorch.Zeros([]int{2, 3}).MatMul(gotorch.Zeros([]int{2, 3}))
	})
	fmt.Println(errors.Is(err, gotorch.ErrInvalidArgument))
	// Output: true
}

func ExampleCall() {
	x := gotorch.From([]float32{3, 1, 2})
	results := gotorch.Call("aten::sort", "", x)
	fmt.Println(gotorch.ToSlice[float32](results[0].(*gotorch.Tensor)), gotorch.ToSlice[int](results[1].(*gotorch.Tensor)))
	// Output: [1 2 3] [1 2 0]
}

// A block's intermediate tensors are computed again in Backward, in the place of being kept.
func ExampleCheckpoint() {
	x := gotorch.From([]float32{1, 2}).SetRequiresGrad(true)
	y := gotorch.Checkpoint(func(in []*gotorch.Tensor) []*gotorch.Tensor {
		return []*gotorch.Tensor{in[0].Square().MulScalar(3)}
	}, x)[0]
	if err := y.Sum().Backward(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(gotorch.ToSlice[float32](x.Grad()))
	// Output: [6 12]
}
