package nn_test

import (
	"os"
	"path/filepath"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// What tests/weights/reference.py has in Python.
type trained struct {
	*nn.Sequential
	adam *optim.Optimizer
}

func newTrained() trained {
	m := nn.NewSequential(nn.NewConv2d(2, 4, 3, nn.ConvOptions{Bias: nn.Some(false)}), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(16, 3))
	parameters := nn.Parameters(m)
	last := len(parameters) - 2
	adam := optim.AdamW(parameters[:last], 0.01)
	if err := adam.AddGroup(parameters[last:], optim.Settings{"lr": 0.02}); err != nil {
		panic(err)
	}
	return trained{m, adam}
}

func (m trained) train(file map[string]any) {
	nn.Train(m.Sequential)
	for range 3 {
		loss := F.MSELoss(m.Forward(file["inputs"].(*gotorch.Tensor)), file["targets"].(*gotorch.Tensor))
		if err := m.adam.Minimize(loss); err != nil {
			panic(err)
		}
	}
}

func (m trained) evaluate(file map[string]any) *gotorch.Tensor {
	nn.Eval(m.Sequential)
	return m.Forward(file["inputs"].(*gotorch.Tensor)).Detach()
}

// wrapped is the state dict as it is under Python's DistributedDataParallel.
func (m trained) wrapped() map[string]any {
	state := map[string]any{}
	for name, t := range nn.State(m.Sequential) {
		state["module."+name] = t.Detach().Clone()
	}
	return state
}

// goOn from a file, to where it says that this leads.
func goOn(t *testing.T, path string) {
	t.Helper()
	value, err := gotorch.LoadPt(path)
	if err != nil {
		t.Fatal(err)
	}
	file := value.(map[string]any)
	if file["epoch"] != 1 {
		t.Errorf("epoch %v", file["epoch"])
	}
	m := newTrained()
	state, err := gotorch.StateDict(file["model"])
	if err != nil {
		t.Fatal(err)
	}
	if err := nn.LoadState(m.Sequential, state); err == nil {
		t.Error("names begin with module.")
	}
	if state, err = gotorch.Rename(state, gotorch.RenameRule{Pattern: `^module\.`}); err != nil {
		t.Fatal(err)
	}
	if err := nn.LoadState(m.Sequential, state); err != nil {
		t.Fatal(err)
	}
	same := func(what string, found *gotorch.Tensor, expected any) {
		t.Helper()
		if !found.AllClose(expected.(*gotorch.Tensor), gotorch.AllCloseOptions{RTol: gotorch.Some(1e-4), ATol: gotorch.Some(1e-5)}) {
			t.Errorf("%s is %v, and not %v", what, found, expected)
		}
	}
	same("the output", m.evaluate(file), file["outputs"])
	if err := m.adam.SetLR(7); err != nil { // is loaded
		t.Fatal(err)
	}
	if err := m.adam.LoadStateDict(file["optimizer"]); err != nil {
		t.Fatal(err)
	}
	m.train(file)
	for name, expected := range file["next"].(map[string]any) {
		same(name, m.wrapped()[name].(*gotorch.Tensor), expected)
	}
	same("the output later", m.evaluate(file), file["next_outputs"])
}

func TestTrainingGoesOnFromPython(t *testing.T) { goOn(t, "testdata/trained.pt") }

// Python goes on from the file where tests/weights/reference.py runs this.
func TestTrainingGoesOnInPython(t *testing.T) {
	if err := gotorch.ManualSeed(1); err != nil {
		t.Fatal(err)
	}
	file := map[string]any{"inputs": gotorch.RandN([]int{5, 2, 4, 4}), "targets": gotorch.RandN([]int{5, 3}), "epoch": 1}
	m := newTrained()
	m.train(file)
	state, err := m.adam.StateDict()
	if err != nil {
		t.Fatal(err)
	}
	file["model"], file["outputs"], file["optimizer"] = m.wrapped(), m.evaluate(file), state
	folder := os.Getenv("TANDEM_PT_FOLDER")
	if folder == "" {
		folder = t.TempDir()
	}
	path := filepath.Join(folder, "go.pt")
	if err := gotorch.SavePt(path, file); err != nil { // now, for the state goes on
		t.Fatal(err)
	}
	saved, err := gotorch.LoadPt(path, gotorch.PtOptions{Copy: true, CheckCRC: true})
	if err != nil {
		t.Fatal(err)
	}
	m.train(file)
	whole := saved.(map[string]any)
	whole["next"], whole["next_outputs"] = m.wrapped(), m.evaluate(file)
	if err := gotorch.SavePt(path, whole); err != nil {
		t.Fatal(err)
	}
	goOn(t, path)
}
