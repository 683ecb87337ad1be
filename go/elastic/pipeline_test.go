package elastic_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/elastic"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

const pipedLayers, pipedSteps, pipedSaveEvery = 3, 16, 4

func pipedModel() *nn.Sequential {
	net := nn.NewSequential()
	for i := range pipedLayers {
		layer := nn.NewLinear(4, 4)
		nn.ToDType(layer, gotorch.Float64)
		gotorch.NoGrad(func() {
			for k, parameter := range nn.Parameters(layer) {
				parameter.CopyI(pipedNumbers(parameter.Numel(), i+k).Reshape(parameter.Shape()...))
			}
		})
		net.Append(layer)
	}
	return net
}

func pipedNumbers(count, seed int) *gotorch.Tensor {
	values := make([]float64, count)
	for i := range values {
		values[i] = math.Sin(float64(i + seed))
	}
	return gotorch.From(values)
}

func pipedLoss(outputs, targets []*gotorch.Tensor) *gotorch.Tensor {
	return outputs[0].Sub(targets[0]).Square().Mean()
}

// pipedChild trains a pipeline with a stage on each rank of the epoch, from the newest checkpoint on. The process that KILL
// names kills itself in the middle of a micro-batch of step 6, once.
func pipedChild(ctx context.Context) error {
	folderPath := os.Getenv("FOLDER")
	outcome, err := elastic.Run(ctx, &checkpoint.State{}, func(ctx context.Context, job *elastic.Job) error {
		layers, group := dist.PipelineLayers(pipedModel()), job.Group()
		if job.Size() > len(layers) {
			return fmt.Errorf("%d ranks are more than there are layers", job.Size())
		}
		first := make([]int, job.Size())
		for i := range first {
			first[i] = i * len(layers) / len(first)
		}
		stage := dist.JoinPipelineLayers(layers, first)[job.Rank()]
		progress := 0
		layer := &stage.Layers[0]
		inner := layer.Module.(nn.Layer).Forward
		layer.Forward = func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
			if os.Getenv("KILL") == os.Getenv("TANDEM_MEMBER") && progress == 6 && once(folderPath) {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return []*gotorch.Tensor{inner(inputs[0])}
		}
		pipeline, err := dist.NewPipeline(group, []dist.PipelineStage{stage}, dist.PipelineOptions{MicroBatches: 4, Loss: pipedLoss})
		if err != nil {
			return err
		}
		defer pipeline.Close()
		sgd := optim.SGD(stage.Parameters(), 0.1, optim.SGDOptions{Momentum: 0.9})
		folder, err := checkpoint.Open(filepath.Join(folderPath, "run"), checkpoint.Options{Group: group})
		if err != nil {
			return err
		}
		defer folder.Close()
		state := checkpoint.State{Pipeline: pipeline, Optimizer: sgd, Values: &progress}
		if _, err := folder.Load(ctx, &state); err != nil {
			return err
		}
		fmt.Println("stages", job.Size(), "from step", progress)
		for progress < pipedSteps {
			x := []*gotorch.Tensor{pipedNumbers(32, progress).Reshape(8, 4)}
			if _, err := pipeline.Step(x, x); err != nil {
				return err
			}
			if err := sgd.Step(); err != nil {
				return err
			}
			sgd.ZeroGrad()
			progress++
			if progress%pipedSaveEvery == 0 {
				if err := folder.Save(ctx, progress, state); err != nil {
					return err
				}
			}
			if err := job.Step(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Println("outcome", outcome)
	return nil
}

func once(folder string) bool {
	file, err := os.OpenFile(filepath.Join(folder, "once"), os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		file.Close()
	}
	return err == nil
}

// A stage's process is killed within a step: the others make a pipeline of as many stages as they are, and go on from the last
// checkpoint, to the parameters of one process that nothing disturbed.
func TestAPipelineGoesOnWithoutAKilledStage(t *testing.T) {
	tool := os.Getenv("TANDEM_TOOL")
	if tool == "" {
		t.Skip("TANDEM_TOOL does not name the launcher: run it by ctest -R go.test")
	}
	net := pipedModel()
	sgd := optim.SGD(nn.Parameters(net), 0.1, optim.SGDOptions{Momentum: 0.9})
	for step := range pipedSteps {
		x := pipedNumbers(32, step).Reshape(8, 4)
		if err := sgd.Minimize(pipedLoss([]*gotorch.Tensor{net.Forward(x)}, []*gotorch.Tensor{x})); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range []struct {
		ranks, kill string
		said        []string
	}{
		{"3", "1", []string{"stages 3 from step 0", "killed by SIGKILL", "stages 2 from step 4", "outcome 0"}},
		{"2", "0", []string{"stages 2 from step 0", "stages 1 from step 4", "outcome 0"}},
	} {
		path := t.TempDir()
		child := testmain.Command(t, "pipeline", "FOLDER="+path, "KILL="+one.kill, "OMP_NUM_THREADS=1")
		command := exec.CommandContext(t.Context(), tool, "run", "-n", one.ranks, "--no-prefix", "--", child.Path)
		command.Env = child.Env
		text, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, words := range one.said {
			if !strings.Contains(string(text), words) {
				t.Errorf("nothing says %q:\n%s", words, text)
			}
		}
		if err := compareCheckpoint(filepath.Join(path, "run"), net); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

func compareCheckpoint(path string, net *nn.Sequential) error {
	folder, err := checkpoint.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	trained := pipedModel()
	steps := 0
	if _, err := folder.Load(context.Background(), &checkpoint.State{Model: trained, Values: &steps}); err != nil {
		return err
	}
	if steps != pipedSteps {
		return fmt.Errorf("the last checkpoint is of step %d", steps)
	}
	want := nn.State(net)
	for name, tensor := range nn.State(trained) {
		if apart := tensor.Sub(want[name]).Abs().Max().Item(); apart > 1e-11 {
			err = errors.Join(err, fmt.Errorf("%s differs by %g", name, apart))
		}
	}
	return err
}
