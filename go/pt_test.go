package gotorch_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

func TestPtFilesHoldPythonsValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.pt")
	values := map[string]any{
		"none": nil, "flag": true, "number": 1 << 40, "real": 0.5, "complex": 1 - 2i, "text": "Grüße", "empty": "",
		"dtype": gotorch.BFloat16, "device": gotorch.CPU, "list": []any{1, []any{}, "b"}, "tuple": gotorch.Tuple{1, gotorch.Tuple{}},
		"dict": map[any]any{1: "one", "two": 2, -3: nil}, "inner": map[string]any{"a": map[string]any{}},
	}
	if err := gotorch.SavePt(path, values); err != nil {
		t.Fatal(err)
	}
	got, err := gotorch.LoadPt(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, any(values)) {
		t.Fatalf("%v, and not %v", got, values)
	}
	// Types of Go's that have no counterpart of their own.
	type named string
	if err := gotorch.SavePt(path, map[int][]float32{2: {1.5}, 1: nil}); err != nil {
		t.Fatal(err)
	}
	if got, _ := gotorch.LoadPt(path); !reflect.DeepEqual(got, any(map[any]any{1: []any{}, 2: []any{1.5}})) {
		t.Fatal(got)
	}
	if err := gotorch.SavePt(path, map[named]any{"x": [2]float64{0.9, 0.99}, "y": []int{1}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := gotorch.LoadPt(path); !reflect.DeepEqual(got, any(map[string]any{"x": gotorch.Tuple{0.9, 0.99}, "y": []any{1}})) {
		t.Fatal(got)
	}
}

func TestPtFilesShareStorages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.pt")
	base := gotorch.Arange(6)
	if err := gotorch.SavePt(path, map[string]*gotorch.Tensor{"base": base, "row": base.Slice(0, 2, 6)}); err != nil {
		t.Fatal(err)
	}
	value, err := gotorch.LoadPt(path)
	if err != nil {
		t.Fatal(err)
	}
	state, err := gotorch.StateDict(value)
	if err != nil {
		t.Fatal(err)
	}
	state["base"].FillScalarI(7)
	if state["row"].Sum().Item() != 28 {
		t.Fatal(state["row"])
	}
	again, err := gotorch.LoadPt(path)
	if err != nil || !again.(map[string]any)["base"].(*gotorch.Tensor).Equal(base) {
		t.Fatal("what is written to a tensor changes no file", err)
	}
}

func TestPtFilesRefuse(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.pt")
	var endless []any
	endless = append(endless, nil)
	endless[0] = endless
	for text, c := range map[string]struct {
		value any
		code  gotorch.Code
	}{
		"the value[model] is a chan int": {map[string]any{"model": make(chan int)}, gotorch.ErrInvalidArgument},
		"has a key that is a float64":    {map[float64]int{0.5: 1}, gotorch.ErrInvalidArgument},
		"nest more than 64":              {endless, gotorch.ErrInvalidArgument},
		"'a.b': a text is not UTF-8":     {map[string]any{"a": map[string]any{"b": "\xff"}}, gotorch.ErrInvalidArgument},
		"sparse":                         {map[string]any{"a": gotorch.Eye(2).ToSparse()}, gotorch.ErrInvalidArgument},
	} {
		if err := gotorch.SavePt(path, c.value); !errors.Is(err, c.code) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 0 {
		t.Error(entries)
	}
	if _, err := gotorch.LoadPt(path); !errors.Is(err, gotorch.ErrNotFound) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("\x80\x02cposix\nsystem\n."), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := gotorch.LoadPt(path); !errors.Is(err, gotorch.ErrDataLoss) {
		t.Error(err)
	}
	if _, err := gotorch.StateDict(map[string]any{"epoch": 1, "model": nil}); err == nil || !strings.Contains(err.Error(), `["epoch" "model"]`) {
		t.Error(err)
	}
}

func TestShardedSafetensors(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "model")
	tensors := map[string]*gotorch.Tensor{"a": gotorch.Ones([]int{10}), "b": gotorch.Zeros([]int{3})}
	if err := gotorch.SaveSharded(folder, tensors, 40, map[string]string{"format": "pt"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, filepath.Join(folder, "model.safetensors.index.json")} {
		got, metadata, err := gotorch.Open(path)
		if err != nil || len(got) != 2 || !got["a"].Equal(tensors["a"]) || metadata["format"] != "pt" {
			t.Fatal(got, metadata, err)
		}
	}
	mapped, _, err := gotorch.Open(folder, gotorch.OpenOptions{Map: true})
	if err != nil || !mapped["a"].Equal(tensors["a"]) {
		t.Fatal(mapped, err)
	}
	mappings, err := os.ReadFile("/proc/self/maps")
	if err != nil || !strings.Contains(string(mappings), filepath.Join(folder, "model-00001-of-00002.safetensors")) {
		t.Error("nothing is mapped", err)
	}
	mapped["a"].FillScalarI(7)
	if got, _, err := gotorch.Open(folder); err != nil || !got["a"].Equal(tensors["a"]) {
		t.Error("the file has changed", err)
	}
	if err := gotorch.SaveSharded(folder, tensors, 0); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal(err)
	}
}

func TestRename(t *testing.T) {
	one, two := gotorch.Ones([]int{1}), gotorch.Ones([]int{2})
	got, err := gotorch.Rename(map[string]*gotorch.Tensor{"module.layers.0.w": one, "module.b": two},
		gotorch.RenameRule{Pattern: `^module\.`}, gotorch.RenameRule{Pattern: `layers\.(\d+)`, Replacement: "blocks.$1"})
	if err != nil || got["blocks.0.w"] != one || got["b"] != two || len(got) != 2 {
		t.Fatal(slices.Sorted(maps.Keys(got)), err)
	}
	if _, err := gotorch.Rename(got, gotorch.RenameRule{Pattern: ".*", Replacement: "x"}); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Fatal(err)
	}
}
