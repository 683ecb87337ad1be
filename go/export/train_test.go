package export_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

func batchOf(name string, rank, step int) []any {
	seed := 1000 + 10*step + rank
	switch name {
	case "cnn":
		return []any{pattern([]int{3, 1, 8, 8}, seed)}
	case "decoder":
		return []any{classes([]int{2, 6}, seed, 13)}
	}
	padding := gotorch.Zeros([]int{2, 7}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Bool)})
	padding.Select(0, 1).Narrow(0, 5, 2).FillScalarI(1)
	return []any{classes([]int{2, 7}, seed, 11), padding}
}

// train is what models.py does; rank 0 compares with what came of it there.
func train(ctx context.Context) error {
	group, err := dist.Init(ctx)
	if err != nil {
		return err
	}
	defer group.Close()
	name := os.Getenv("NAME")
	program, err := export.Load(files + "files/" + name + ".pt2")
	if err != nil {
		return err
	}
	ddp, err := dist.NewDDP(group, program)
	if err != nil {
		return err
	}
	defer ddp.Close()
	optimizer := optim.SGD(nn.Parameters(program), 0.05, optim.SGDOptions{Momentum: 0.9})
	for step := range 20 {
		var failed error
		gotorch.Scope(func() {
			out := dist.Forward(ddp, batchOf(name, group.Rank(), step), func(batch []any) any { return program.Call(batch...) })
			if dict, ok := out.(map[string]any); ok {
				out = dict["logits"]
			}
			first := out.(*gotorch.Tensor)
			failed = optimizer.Minimize(first.Sub(pattern(first.Shape(), 500+step)).Square().Mean())
		})
		if failed != nil {
			return failed
		}
	}
	if group.Rank() != 0 {
		return nil
	}
	trained := references(&testing.B{})[name].Trained
	state := nn.State(program)
	if len(state) != len(trained) || len(trained) == 0 {
		return fmt.Errorf("the state has %d tensors, and Python's %d", len(state), len(trained))
	}
	var wrong []error
	for key, digest := range trained {
		if state[key] == nil || !same(state[key], digest, 1e-9) {
			wrong = append(wrong, fmt.Errorf("%s of %s is not what it is in Python", key, name))
		}
	}
	path := filepath.Join(os.Getenv("FOLDER"), name+".pt2")
	if err := program.Save(path); err != nil {
		return err
	}
	again, err := export.Load(path)
	if err != nil {
		return err
	}
	if nn.Fingerprint(again) != nn.Fingerprint(program) {
		wrong = append(wrong, errors.New("what was saved is not what was trained"))
	}
	return errors.Join(wrong...)
}

func TestTrainsUnderDDPAsInPython(t *testing.T) {
	for _, name := range []string{"cnn", "transformer", "decoder"} {
		port := testmain.FreePort(t)
		folder := t.TempDir()
		results := make(chan error, 2)
		for rank := range 2 {
			command := testmain.Command(t, "train", "RANK="+strconv.Itoa(rank), "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1",
				"MASTER_PORT="+strconv.Itoa(port), "NAME="+name, "FOLDER="+folder)
			go func() {
				output, err := command.CombinedOutput()
				if err != nil {
					err = fmt.Errorf("%s, rank %d: %w\n%s", name, rank, err, output)
				}
				results <- err
			}()
		}
		for range 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	}
}
