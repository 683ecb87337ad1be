package tensorboard_test

import (
	"fmt"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/tensorboard"
)

func Example() {
	runs, err := os.MkdirTemp("", "runs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(runs)

	train := func() error {
		writer, err := tensorboard.NewSummaryWriter(filepath.Join(runs, "first"))
		if err != nil {
			return err
		}
		defer writer.Close()
		layer := nn.NewLinear(8, 4)
		for step := range 3 {
			if err := writer.AddScalar("loss", 1/float64(step+1), step); err != nil {
				return err
			}
			if err := writer.AddHistogram("layer/weight", layer.Weight, step); err != nil {
				return err
			}
		}
		picture := gotorch.Rand([]int{3, 16, 16})
		if err := writer.AddImage("picture", picture, tensorboard.CHW, 0); err != nil {
			return err
		}
		return writer.AddText("settings", "batch **64**", 0)
	}
	if err := train(); err != nil {
		panic(err)
	}
	files, _ := filepath.Glob(filepath.Join(runs, "first", "events.out.tfevents.*"))
	fmt.Println(len(files), "file; tensorboard --logdir runs")
	// Output: 1 file; tensorboard --logdir runs
}
