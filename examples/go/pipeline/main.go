// Pipeline trains a small transformer of bytes that is cut into stages, each on a rank of its own, on a text; with more ranks
// than stages, several such pipelines train data-parallel:
//
//	tandem run -n 4 -- pipeline-go --data FILE --stages 2
//
// are two pipelines of two stages.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/examples/start"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

type settings struct {
	data, schedule               string
	stages, microBatches         int
	layers, heads, width, length int
	size, steps, every           int
	lr                           float64
	seed                         uint64
}

func main() {
	var s settings
	flag.StringVar(&s.data, "data", "", "`FILE` with a text")
	flag.IntVar(&s.stages, "stages", 2, "that the model is cut into; the number of ranks is a multiple of it")
	flag.StringVar(&s.schedule, "schedule", "1f1b", "of forwards and backwards: 1f1b or gpipe")
	flag.IntVar(&s.microBatches, "micro-batches", 4, "that a pipeline's batch is cut into")
	flag.IntVar(&s.layers, "layers", 4, "blocks of the model")
	flag.IntVar(&s.heads, "heads", 4, "of attention")
	flag.IntVar(&s.width, "width", 64, "of the residual stream, a multiple of --heads")
	flag.IntVar(&s.length, "length", 64, "bytes that the model sees")
	flag.IntVar(&s.size, "batch-size", 32, "of all pipelines together")
	flag.IntVar(&s.steps, "steps", 400, "of the optimizer")
	flag.IntVar(&s.every, "every", 50, "steps from one report to the next")
	flag.Float64Var(&s.lr, "lr", 2e-3, "learning rate")
	flag.Uint64Var(&s.seed, "seed", 1, "of all random numbers")
	flag.Parse()
	dist.Run(s.run, dist.Options{Backend: "auto"})
}

func (s *settings) check(world *dist.ProcessGroup, text []byte) error {
	switch {
	case min(s.stages, s.microBatches, s.layers, s.heads, s.width, s.length, s.size, s.steps, s.every) < 1 || s.width%s.heads != 0:
		return fmt.Errorf("numbers must be above 0, and --width a multiple of --heads")
	case world.Size()%s.stages != 0:
		return fmt.Errorf("%d ranks are not pipelines of --stages %d; start a multiple of it: tandem run -n %d", world.Size(),
			s.stages, 2*s.stages)
	case s.stages > s.layers:
		return fmt.Errorf("--stages is %d, for --layers %d; a stage needs a block", s.stages, s.layers)
	case s.size%(world.Size()/s.stages) != 0:
		return fmt.Errorf("--batch-size %d does not divide among %d pipelines", s.size, world.Size()/s.stages)
	case len(text) <= s.length:
		return fmt.Errorf("%s has %d bytes; a window takes %d", s.data, len(text), s.length+1)
	}
	return nil
}

func (s *settings) run(ctx context.Context, world *dist.ProcessGroup) error {
	if s.data == "" || flag.NArg() > 0 {
		return fmt.Errorf("give --data FILE, a text; --help lists all flags")
	}
	text, err := os.ReadFile(s.data)
	if err != nil {
		return err
	}
	if err := s.check(world, text); err != nil {
		return err
	}
	// Neighbours by rank are one pipeline. The ranks of one stage are a group of the dimension dp.
	replicas := world.Size() / s.stages
	mesh, err := dist.NewDeviceMesh(ctx, world, []int{replicas, s.stages}, []string{"dp", "pp"})
	if err != nil {
		return err
	}
	defer mesh.Close()
	index, replica := mesh.LocalRank("pp"), mesh.LocalRank("dp")
	stage, err := newStage(index, s.stages, s.layers, s.heads, s.width, s.length, s.seed)
	if err != nil {
		return err
	}
	pipeline, err := dist.NewMeshPipeline(mesh, "pp", []dist.PipelineStage{stage.piece(index, s.stages)},
		dist.PipelineOptions{Schedule: s.schedule, MicroBatches: s.microBatches, Loss: loss})
	if err != nil {
		return err
	}
	defer pipeline.Close()
	optimizer := optim.AdamW(nn.Parameters(stage), s.lr)
	random := rand.New(rand.NewPCG(s.seed, 0))
	total := 0.0
	for step := 1; step <= s.steps; step++ {
		x, y := batch(text, random.IntN, s.size, s.length, replica, replicas)
		var inputs, targets []*gotorch.Tensor // of the first stage, and of the last
		if stage.first {
			inputs = []*gotorch.Tensor{x}
		}
		if stage.last {
			targets = []*gotorch.Tensor{y}
		}
		if err := optimizer.ZeroGrad(); err != nil {
			return err
		}
		value, err := pipeline.Step(inputs, targets) // the same on all ranks
		if err != nil {
			return err
		}
		if err := optimizer.Step(); err != nil {
			return err
		}
		if total += value; step%s.every == 0 {
			if world.Rank() == 0 {
				fmt.Printf("step %d/%d: %.4f bits per character\n", step, s.steps, total/float64(s.every)/math.Ln2)
			}
			total = 0
		}
	}
	// Each stage's ranks have the same parameters.
	return start.CheckEqual(ctx, mesh.Group("dp"), stage)
}
