package functional_test

import (
	"fmt"

	"tandem.example/gotorch"
	F "tandem.example/gotorch/nn/functional"
)

func Example() {
	x := gotorch.From([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	padded := F.Pad(x, []int{1, 1, 1, 1})
	fmt.Println(padded.Shape(), F.MaxPool2d(x, []int{2, 2}).Item())
	losses := F.MSELoss(x, x.MulScalar(2), F.MSELossOptions{Reduction: gotorch.Some(F.None)})
	fmt.Println(gotorch.ToSlice[float32](losses))
	// Output:
	// [1 1 4 4] 4
	// [1 4 9 16]
}
