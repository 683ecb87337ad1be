package gotorch_test

import (
	"bytes"
	"encoding/gob"
	"testing"

	torch "tandem.example/gotorch/compat"
)

func TestGob(t *testing.T) {
	state := map[string]torch.Tensor{"w": torch.RandN([]int64{2, 3}, true), "n": torch.NewTensor([]int64{1, 2})}
	var file bytes.Buffer
	if err := gob.NewEncoder(&file).Encode(state); err != nil {
		t.Fatal(err)
	}
	var read map[string]torch.Tensor
	if err := gob.NewDecoder(&file).Decode(&read); err != nil || len(read) != 2 {
		t.Fatal(len(read), err)
	}
	for name, x := range state {
		if y := read[name]; !torch.Equal(x, y) || x.Dtype() != y.Dtype() || x.Unwrap().RequiresGrad() != y.Unwrap().RequiresGrad() {
			t.Errorf("%s: %v, was %v", name, y, x)
		}
	}
	if _, err := (torch.Tensor{}).GobEncode(); err == nil {
		t.Error("the zero Tensor was encoded")
	}
}

// Models that programs of the original saved.
func TestGobOfTheOriginal(t *testing.T) {
	type pickled struct {
		DType        int8
		RequiresGrad bool `json:"requires_grad"`
		Data, Text   string
	}
	for _, c := range readCases[pickled](t, "pickled") {
		var x torch.Tensor
		if err := x.GobDecode(bytesOf(t, c.Data)); err != nil {
			t.Error(err)
		} else if x.Dtype() != c.DType || x.Unwrap().RequiresGrad() != c.RequiresGrad || x.String() != c.Text {
			t.Errorf("%+v, want %+v", x, c)
		}
	}
}

func TestGobOfNonsense(t *testing.T) {
	x := torch.Ones([]int64{1}, false)
	for _, text := range []string{"", "nonsense", "PK\x03\x04", "PK\x03\x04 and more that is no archive"} {
		if err := x.GobDecode([]byte(text)); err == nil {
			t.Errorf("%q was decoded", text)
		}
	}
	if got := x.String(); got != " 1\n[ CPUFloatType{1} ]" {
		t.Error("a failure changed the tensor:", got)
	}
}
