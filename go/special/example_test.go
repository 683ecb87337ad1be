package special_test

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/special"
)

func Example() {
	fmt.Printf("%.3f\n", gotorch.ToSlice[float64](special.Expit(gotorch.NewTensor([]float64{0, 2}))))
	// Output: [0.500 0.881]
}
