package dist_test

import (
	"context"
	"fmt"
	"log"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// A program's main is dist.Run(train): the launcher starts it once for each rank.
func Example() {
	train := func(ctx context.Context, group *dist.ProcessGroup) error {
		net := nn.NewLinear(4, 1)
		model, err := dist.NewDDP(group, net)
		if err != nil {
			return err
		}
		defer model.Close()
		sgd := optim.SGD(nn.Parameters(net), 0.1)
		for range gotorch.Steps(3) {
			x := gotorch.Rand([]int{8, 4}) // this rank's part of the batch
			if err := sgd.Minimize(model.Forward(x).Square().Mean()); err != nil {
				return err
			}
		}
		return group.Barrier(ctx)
	}
	_ = func() { dist.Run(train) } // main
}

// Ranks that are goroutines of one process meet in a store of their own.
func ExampleInit() {
	store, err := dist.NewHashStore()
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	group, err := dist.Init(ctx, dist.Options{Backend: "gloo", Store: store, Rank: gotorch.Some(0), WorldSize: 1, Name: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer group.Close()
	x := gotorch.Ones([]int{2})
	if err := group.AllReduce(ctx, x, dist.Sum); err != nil {
		log.Fatal(err)
	}
	fmt.Println(gotorch.ToSlice[float32](x), group.Rank(), group.Size())
	// Output: [1 1] 0 1
}

// Processes can also tell one another values by name.
func ExampleStore() {
	store, err := dist.NewHashStore()
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := store.Set("learning rate", []byte("0.1")); err != nil {
		log.Fatal(err)
	}
	value, err := store.Get(context.Background(), "learning rate")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(value))
	// Output: 0.1
}
