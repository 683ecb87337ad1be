package data_test

import (
	"context"
	"fmt"
	"log"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

func ExampleLoader() {
	x := gotorch.From([]float32{0, 1, 2, 3, 4}, 5, 1)
	samples, err := data.FromTensors([]*gotorch.Tensor{x, x.Square()}, "x", "square")
	if err != nil {
		log.Fatal(err)
	}
	defer samples.Close()
	loader, err := data.NewLoader(samples, data.Options{BatchSize: 2, Shuffle: gotorch.Some(false)})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range gotorch.Scoped(loader.Epoch(context.Background(), 0)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(gotorch.ToSlice[float32](batch.Field("x")), gotorch.ToSlice[float32](batch.Field("square")))
	}
	// Output:
	// [0 1] [0 1]
	// [2 3] [4 9]
	// [4] [16]
}
