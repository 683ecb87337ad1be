package nn_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

func TestLoadPartial(t *testing.T) {
	a, b := newNet(), newNet()
	state := nn.State(a)
	delete(state, "scale")
	state["other"] = gotorch.Ones([]int{1})
	missing, unexpected, err := nn.LoadPartial(b, state)
	if err != nil || !slices.Equal(missing, []string{"scale"}) || !slices.Equal(unexpected, []string{"other"}) {
		t.Fatal(missing, unexpected, err)
	}
	if !nn.State(b)["classifier.0.weight"].Equal(state["classifier.0.weight"]) {
		t.Fatal("what is there was not loaded")
	}
	state["classifier.0.bias"] = gotorch.Ones([]int{3})
	failed(t, gotorch.ErrInvalidArgument, "classifier.0.bias [3] [2]", func() {
		if _, _, err := nn.LoadPartial(b, state); err != nil {
			panic(err)
		}
	})
}

func TestOtherDTypesAreErrorsUnlessConverted(t *testing.T) {
	layer := nn.NewLinear(2, 1)
	state := map[string]*gotorch.Tensor{}
	for name, one := range nn.State(layer) {
		state[name] = one.Detach().To(gotorch.Float64).AddScalar(1)
	}
	if err := nn.LoadState(layer, state); !errors.Is(err, gotorch.ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "dtype of 'weight': Double, wanted Float") || !strings.Contains(err.Error(), "'bias'") {
		t.Fatal(err)
	}
	if err := nn.LoadState(layer, state, nn.MatchOptions{ConvertDType: true}); err != nil {
		t.Fatal(err)
	}
	if layer.Weight.DType() != gotorch.Float32 || !layer.Weight.Equal(state["weight"].To(gotorch.Float32)) {
		t.Fatal(layer.Weight)
	}
}

func TestModulesAreSavedByTheNamesOfFiles(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a.pt", "a.pth", "a.safetensors"} {
		a, b := newNet(), newNet()
		path := filepath.Join(folder, name)
		if err := nn.Save(path, a); err != nil {
			t.Fatal(err)
		}
		if err := nn.Load(path, b); err != nil || nn.Fingerprint(a) != nn.Fingerprint(b) {
			t.Fatal(name, err)
		}
		_, err := gotorch.LoadPt(path)
		if isPython := name != "a.safetensors"; isPython != (err == nil) {
			t.Fatal(name, err)
		}
	}
	path := filepath.Join(folder, "checkpoint.pt")
	if err := gotorch.SavePt(path, map[string]any{"epoch": 1}); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(path, newNet()); !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "'epoch' is no tensor") {
		t.Fatal(err)
	}
	model := filepath.Join(folder, "model")
	a, b := newNet(), newNet()
	if err := gotorch.SaveSharded(model, nn.State(a), 20); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(model, b); err != nil || nn.Fingerprint(a) != nn.Fingerprint(b) {
		t.Fatal(err)
	}
}
