package linalg_test

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/linalg"
)

func Example() {
	a := gotorch.NewTensor([][]float64{{2, 0}, {0, 4}})
	x := linalg.Solve(a, gotorch.NewTensor([]float64{2, 2}))
	eigenvalues, _ := linalg.Eigh(a)
	fmt.Println(gotorch.ToSlice[float64](x), gotorch.ToSlice[float64](eigenvalues))
	// Output: [1 0.5] [2 4]
}
