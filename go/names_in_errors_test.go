package gotorch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

func TestErrorsOfClosedTensorsNameTheMethod(t *testing.T) {
	closed := gotorch.Ones([]int{2})
	closed.Close()
	for want, call := range map[string]func(){
		"Tensor.Item": func() { closed.Item() }, "Tensor.Size": func() { closed.Size(0) },
		"Tensor.Grad": func() { closed.Grad() }, "Tensor.Bytes": func() { closed.Bytes() },
	} {
		err := gotorch.Try(call)
		var failure *gotorch.Error
		if !errors.As(err, &failure) || failure.Op != want || failure.Code != gotorch.ErrClosed {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A path is the program's, whatever words it has.
func TestErrorsLeaveTheProgramsNamesAlone(t *testing.T) {
	const path = "/no/such/mixed_precision/static_graph.safetensors"
	if _, _, err := gotorch.Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

func TestAnOptIsNoNumber(t *testing.T) {
	err := gotorch.Try(func() { gotorch.Ones([]int{2}).Clamp(gotorch.ClampOptions{Min: gotorch.Some(0.5)}) })
	if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "leave out Some") {
		t.Error(err)
	}
}

// What the text does not say stays as it was.
func TestOptionsFromJSONOverOthers(t *testing.T) {
	options := gotorch.ClampOptions{Min: -1}
	if err := json.Unmarshal([]byte(`{"Max": 1.5}`), &options); err != nil || options.Min != -1 || options.Max != 1.5 {
		t.Error(options, err)
	}
	if err := json.Unmarshal([]byte(`{"Max": "high"}`), &options); err == nil {
		t.Error("a text was taken for a number:", options)
	}
}

func TestInScopeKeepsTensorsOfAnyDepth(t *testing.T) {
	type state map[string][]*gotorch.Tensor
	made := gotorch.InScope(func() state {
		return state{"a": {gotorch.Ones([]int{2}), nil}, "b": {gotorch.Full([]int{1}, 3)}}
	})
	byNumber := gotorch.InScope(func() map[int]*gotorch.Tensor { return map[int]*gotorch.Tensor{7: gotorch.Ones([]int{4})} })
	if made["a"][0].Sum().Item() != 2 || made["b"][0].Item() != 3 || byNumber[7].Sum().Item() != 4 {
		t.Error(made, byNumber)
	}
}
