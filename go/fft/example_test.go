package fft_test

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/fft"
)

func Example() {
	x := gotorch.NewTensor([]float64{1, 2, 3, 4})
	back := fft.IRFFT(fft.RFFT(x))
	fmt.Printf("%.0f\n", gotorch.ToSlice[float64](back))
	// Output: [1 2 3 4]
}
