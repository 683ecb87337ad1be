package data_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/recordio"
)

// average has DDP exchange what parts added to the gradients, also for a rank that had none, and divides by samples.
func average(ddp *dist.DDP, model nn.Module, samples, ranks int) error {
	none := dist.Forward(ddp, nn.Parameters(model), func(parameters []*gotorch.Tensor) *gotorch.Tensor {
		sum := gotorch.Zeros([]int{})
		for _, p := range parameters {
			sum = sum.Add(p.Sum().MulScalar(0))
		}
		return sum
	})
	if err := none.Backward(); err != nil {
		return err
	}
	for _, p := range nn.Parameters(model) {
		p.Grad().MulScalarI(float64(ranks) / float64(samples))
	}
	return nil
}

// A rank's training with DDP, here of one rank. Parts add sums of losses to the gradients; a last pass has DDP exchange
// them, in which ranks without a part join; its mean over ranks, times ranks ÷ samples, is the mean over the global batch.
func ExampleDynamicLoader() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "train.recordio")
	w, err := recordio.Create(path)
	if err != nil {
		panic(err)
	}
	for i := range 10 {
		if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, uint32(i))); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	train := func(ctx context.Context) error {
		store, err := dist.NewHashStore() // on several hosts: dist.NewTCPStore
		if err != nil {
			return err
		}
		defer store.Close()
		group, err := dist.Init(ctx, dist.Options{Backend: "gloo", Store: store, Rank: gotorch.Some(0),
			WorldSize: 1, Name: "example"})
		if err != nil {
			return err
		}
		defer group.Close()
		model := nn.NewLinear(1, 1)
		ddp, err := dist.NewDDP(group, model)
		if err != nil {
			return err
		}
		defer ddp.Close()
		optimizer := optim.SGD(nn.Parameters(model), 1e-3)

		records, err := data.Records([]string{path}, []data.Field{{Name: "x", DType: gotorch.Int32, Shape: []int{1},
			Out: gotorch.Float32}})
		if err != nil {
			return err
		}
		loader, err := data.NewDynamicLoader(records, store, data.DynamicOptions{BatchSize: 4, MicroBatch: 2,
			Rank: group.Rank(), WorldSize: group.Size()})
		if err != nil {
			return err
		}
		defer loader.Close()
		for loader.Epoch() < 1 {
			for step, err := range loader.Steps(ctx) {
				if err != nil {
					return err
				}
				if err := ddp.NoSync(func() error {
					for part, err := range gotorch.Scoped(step.Parts()) {
						if err != nil {
							return err
						}
						x := part.Field("x")
						losses := ddp.Forward(x).Sub(x).Square()
						if err := losses.Sum().Backward(); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					return err
				}
				if err := average(ddp, model, step.GlobalCount(), group.Size()); err != nil {
					return err
				}
				if err := optimizer.Step(); err != nil {
					return err
				}
				if err := optimizer.ZeroGrad(); err != nil {
					return err
				}
				record, err := step.Commit()
				if err != nil {
					return err
				}
				fmt.Println("step", record.Step, "of", step.GlobalCount(), "samples in", len(record.Parts), "parts")
			}
		}
		return nil
	}
	if err := train(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// step 0 of 4 samples in 2 parts
	// step 1 of 4 samples in 2 parts
	// step 2 of 2 samples in 1 parts
}
