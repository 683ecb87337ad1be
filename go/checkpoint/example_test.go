package checkpoint_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// A training that is stopped after its third epoch goes on from there.
func Example() {
	parent, err := os.MkdirTemp("", "checkpoints")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	train := func(from, epochs int) error {
		model := nn.NewLinear(2, 1)
		optimizer := optim.Adam(nn.Parameters(model), 0.1)
		folder, err := checkpoint.Open(filepath.Join(parent, "run"))
		if err != nil {
			return err
		}
		defer folder.Close()
		state := checkpoint.State{Model: model, Optimizer: optimizer}
		loaded, err := folder.Load(context.Background(), &state)
		if err != nil {
			return err
		}
		if loaded != nil {
			from = loaded.Step + 1
		}
		for epoch := from; epoch < epochs; epoch++ {
			if err := optimizer.Minimize(model.Forward(gotorch.Ones([]int{4, 2})).Sum()); err != nil {
				return err
			}
			fmt.Println("epoch", epoch)
			if err := folder.SaveAsync(context.Background(), epoch, state); err != nil {
				return err
			}
		}
		return folder.Wait(context.Background())
	}
	for _, epochs := range []int{3, 5} {
		if err := train(0, epochs); err != nil {
			log.Fatal(err)
		}
		fmt.Println("stopped")
	}
	// Output:
	// epoch 0
	// epoch 1
	// epoch 2
	// stopped
	// epoch 3
	// epoch 4
	// stopped
}
