package jit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/jit"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// train is what models.py does; rank 0 saves.
func train(ctx context.Context) error {
	group, err := dist.Init(ctx)
	if err != nil {
		return err
	}
	defer group.Close()
	name, folder := os.Getenv("NAME"), os.Getenv("FOLDER")
	module, err := jit.Load(files + name + ".pt")
	if err != nil {
		return err
	}
	ddp, err := dist.NewDDP(group, module)
	if err != nil {
		return err
	}
	defer ddp.Close()
	reference, _, err := gotorch.Open(files + "expected.safetensors")
	if err != nil {
		return err
	}
	optimizer := optim.SGD(nn.Parameters(module), 0.1, optim.SGDOptions{Momentum: 0.9})
	for step := range 20 {
		var failed error
		gotorch.Scope(func() {
			batch := func(name string) *gotorch.Tensor { return reference[name].Select(0, group.Rank()).Select(0, step) }
			failed = optimizer.Minimize(F.MSELoss(ddp.Forward(batch("inputs")), batch("targets")))
		})
		if failed != nil {
			return failed
		}
	}
	if group.Rank() != 0 {
		return nil
	}
	return module.Save(filepath.Join(folder, name+".pt"))
}

func TestTrainsUnderDDPAsInPython(t *testing.T) {
	reference := expected(t)
	for _, name := range []string{"mlp", "norm", "tied", "traced"} {
		folder := t.TempDir()
		trainOnRanks(t, name, folder)
		module, err := jit.Load(filepath.Join(folder, name+".pt"))
		if err != nil {
			t.Fatal(err)
		}
		stored := name
		if name == "traced" {
			stored = "mlp"
		}
		for key, tensor := range nn.State(module) {
			gotorch.NoGrad(func() {
				if want := reference[stored+".trained."+key]; want == nil || !isClose(tensor, want) {
					t.Errorf("%s: %s is %v, and in Python %v", name, key, tensor, want)
				}
			})
		}
	}
}

func trainOnRanks(t *testing.T, name, folder string) {
	t.Helper()
	onRanks(t, "train", name, folder)
}

// onRanks runs a child on two processes.
func onRanks(t *testing.T, child, name, folder string) {
	t.Helper()
	port := testmain.FreePort(t)
	var outputs [2]strings.Builder
	wait := make([]func() error, 2)
	for rank := range wait {
		command := testmain.Command(t, child, "RANK="+strconv.Itoa(rank), "WORLD_SIZE=2", "LOCAL_RANK="+strconv.Itoa(rank),
			"MASTER_ADDR=127.0.0.1", fmt.Sprintf("MASTER_PORT=%d", port), "OMP_NUM_THREADS=1", "NAME="+name, "FOLDER="+folder)
		command.Stdout, command.Stderr = &outputs[rank], &outputs[rank]
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		wait[rank] = command.Wait
	}
	for rank := range wait {
		if err := wait[rank](); err != nil {
			t.Fatalf("rank %d: %v: %s", rank, err, outputs[rank].String())
		}
	}
}

// nested takes and gives values of all structures under DDP.
func nested(ctx context.Context) error {
	group, err := dist.Init(ctx)
	if err != nil {
		return err
	}
	defer group.Close()
	module, err := jit.Load(files + "nested.pt")
	if err != nil {
		return err
	}
	ddp, err := dist.NewDDP(group, module)
	if err != nil {
		return err
	}
	defer ddp.Close()
	x := gotorch.NewTensor([]float64{float64(1 + group.Rank())})
	result := dist.Forward(ddp, []any{gotorch.Tuple{x, x}, []*gotorch.Tensor{x, x}, map[string]*gotorch.Tensor{"a": x, "b": x}},
		func(inputs []any) map[string]any { return module.Call("forward", inputs...).(map[string]any) })
	sums := result["all"].(gotorch.Tuple)[1].([]*gotorch.Tensor)
	if err := sums[0].Add(sums[1]).Sum().Backward(); err != nil {
		return err
	}
	if gradient := nn.Parameters(module)[0].Grad().Item(); gradient != 3 {
		return fmt.Errorf("the mean of 2 and 4 is %v", gradient)
	}
	return nil
}

func TestNestedValuesUnderDDP(t *testing.T) { onRanks(t, "nested", "", t.TempDir()) }

// For `models.py check`.
func TestFilesForPython(t *testing.T) {
	folder := os.Getenv("TANDEM_JIT_FOLDER")
	if folder == "" {
		t.Skip("no TANDEM_JIT_FOLDER to write to")
	}
	trainOnRanks(t, "norm", folder)
	traced, err := jit.Trace(func(x *gotorch.Tensor) *gotorch.Tensor { return x.Tanh().Add(x.Tanh()).AddScalar(1) },
		gotorch.Ones([]int{2, 2}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}))
	if err != nil {
		t.Fatal(err)
	}
	if err := traced.Save(filepath.Join(folder, "traced_function.pt")); err != nil {
		t.Fatal(err)
	}
}
