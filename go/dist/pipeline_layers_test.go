package dist_test

import (
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
)

// Layers without a Prefix have tensors of one name, of which none may stand for the other.
func TestLayersOfOneNameAreNotOneTensor(t *testing.T) {
	a, b, c := nn.NewLinear(8, 8), nn.NewLinear(8, 8), nn.NewLinear(8, 8)
	for _, layers := range [][]dist.PipelineStage{
		{{Module: a}, {Module: b}, {Module: c, Prefix: "c."}}, // in one stage
		{{Module: a}, {Module: b, Prefix: "b."}, {Module: c}}, // in two
	} {
		err := gotorch.Try(func() { dist.JoinPipelineLayers(layers, []int{0, 2}) })
		if err == nil || !strings.Contains(err.Error(), `two layers have a tensor "weight" of their own`) {
			t.Errorf("it gave %v", err)
		}
	}
	// One module in two layers is one.
	stages := dist.JoinPipelineLayers([]dist.PipelineStage{{Module: a}, {Module: a}, {Module: c, Prefix: "c."}, {Module: a}}, []int{0, 2})
	if names := stages[0].NamedParameters(); len(names) != 2 || len(stages[1].NamedParameters()) != 4 || stages[1].Tied["weight"] != "weight" {
		t.Errorf("stages have %v and %v, tied %v", names, stages[1].NamedParameters(), stages[1].Tied)
	}
	err := gotorch.Try(func() {
		dist.JoinPipelineLayers([]dist.PipelineStage{{Module: a, Tied: map[string]string{"weight": "w"}}}, []int{0})
	})
	if err == nil || !strings.Contains(err.Error(), `a layer ties "weight"`) {
		t.Errorf("it gave %v", err)
	}
}
