package variants_test

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/variants"
)

func ExampleAddOut() {
	x, y := gotorch.NewTensor([]float32{1, 2}), gotorch.NewTensor([]float32{10, 20})
	sum := gotorch.Empty([]int{2})
	for range 3 {
		variants.AddOut(x, y, sum)
		x.CopyI(sum)
	}
	fmt.Println(gotorch.ToSlice[float32](sum))
	// Output: [31 62]
}

func ExampleSumDimOut() {
	total := gotorch.Empty([]int{1, 2})
	variants.SumDimOut(gotorch.NewTensor([][]float32{{1, 2}, {3, 4}}), []int{0}, total, gotorch.SumDimOptions{KeepDim: true})
	fmt.Println(total.Shape(), gotorch.ToSlice[float32](total))
	// Output: [1 2] [4 6]
}

func ExampleViewCopy() {
	x := gotorch.Zeros([]int{4})
	copied := variants.ViewCopy(x, 2, 2)
	x.View(2, 2).FillScalarI(1)
	fmt.Println(gotorch.ToSlice[float32](x), gotorch.ToSlice[float32](copied))
	// Output: [1 1 1 1] [0 0 0 0]
}
