package nn_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// cached is no module.
type cached struct {
	Name  string
	state any
	stage cache
}

type cache interface{ last() *gotorch.Tensor }

type lastOutput struct{ Y *gotorch.Tensor }

func (l *lastOutput) last() *gotorch.Tensor { return l.Y }

func TestTensorsInPrivateInterfacesAreNamed(t *testing.T) {
	type model struct {
		nn.Base
		Cache *cached
	}
	x := gotorch.Ones([]int{1})
	for path, one := range map[string]cached{
		"Cache.state":             {state: x},
		"Cache.state.Y":           {state: lastOutput{x}},
		"Cache.state[a][0]":       {state: map[string]any{"a": []any{x}}},
		"Cache.state.state":       {state: &cached{state: x}},
		"Cache.stage.Y":           {stage: &lastOutput{x}},
		"Cache.state.stage.Y":     {state: cached{stage: &lastOutput{x}}},
		"Cache.state is a module": {state: nn.NewLinear(1, 1)},
	} {
		failed(t, gotorch.ErrInvalidArgument, path+" model nn.Base", func() { nn.Parameters(&model{Cache: &one}) })
	}
	nn.Parameters(&model{Cache: &cached{state: http.DefaultClient, stage: &lastOutput{}}})
}

// What the standard library keeps to itself changes while modules are looked at.
func TestPrivateInterfacesOfTheStandardLibraryAreLeftAlone(t *testing.T) {
	type parts struct {
		Values sync.Map
		ctx    context.Context
		err    error
		client any
	}
	type model struct {
		nn.Base
		Parts *parts
	}
	ctx := context.WithValue(t.Context(), model{}, gotorch.Ones([]int{1}))
	nn.Parameters(&model{Parts: &parts{ctx: ctx, err: errors.New("no tensor"), client: ctx}})
}
