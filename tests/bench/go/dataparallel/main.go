// `data-parallel`: trains a model in one process on the joined batches of `ddp-step`, by one thread alone or by replicas
// with a thread each.
//
//	tandem run -n 1 -- bench-data-parallel --model lstm --data FOLDER --batches 2 --replicas 2 --warmup 5 --steps 20
package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/bench/models"
	"tandem.example/gotorch/bench/program"
	"tandem.example/gotorch/bench/rankreport"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

var (
	modelName = flag.String("model", "", "mlp, cnn, lstm or resnet18")
	data      = flag.String("data", "", "folder that prepare.py wrote")
	batches   = flag.Int("batches", 2, "of that folder, which make one batch")
	replicas  = flag.Int("replicas", 1, "1: the module itself, on this thread")
	warmup    = flag.Int("warmup", 5, "steps before the clock starts")
	steps     = flag.Int("steps", 20, "steps that are timed")
	save      = flag.String("save", "", "file to write parameters and buffers to at the end")
)

func main() { program.Alone(run) }

// joined is one batch of several.
func joined() (inputs, targets *gotorch.Tensor, err error) {
	var x, y []*gotorch.Tensor
	for i := range *batches {
		batch, _, err := gotorch.Open(filepath.Join(*data, fmt.Sprintf("rank-%d.safetensors", i)))
		if err != nil {
			return nil, nil, err
		}
		x, y = append(x, batch["inputs"]), append(y, batch["targets"])
	}
	return gotorch.Cat(x, 0), gotorch.Cat(y, 0), nil
}

func run() error {
	model, err := models.Load(*modelName, *data)
	if err != nil {
		return err
	}
	inputs, targets, err := joined()
	if err != nil {
		return err
	}
	parallel := nn.NewDataParallel(model, nn.DataParallelOptions{Replicas: *replicas, Threads: 1})
	defer parallel.Close()
	optimizer := optim.SGD(nn.Parameters(model), 0.01, optim.SGDOptions{Momentum: 0.9})

	var losses []float64
	step := func() (err error) {
		gotorch.Scope(func() {
			loss := F.CrossEntropy(parallel.Forward(inputs), targets)
			if err = optimizer.Minimize(loss); err == nil {
				losses = append(losses, loss.Item())
			}
		})
		return err
	}
	for range *warmup {
		if err := step(); err != nil {
			return err
		}
	}
	start := time.Now()
	for range *steps {
		if err := step(); err != nil {
			return err
		}
	}
	elapsed := time.Since(start)

	if *save != "" {
		if err := nn.Save(*save, model); err != nil {
			return err
		}
	}
	return rankreport.Write(0, map[string]any{
		"step_ms": elapsed.Seconds() * 1000 / float64(max(*steps, 1)), "losses": losses,
	})
}
