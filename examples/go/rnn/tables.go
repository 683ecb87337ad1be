package main

import (
	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/rpc"
)

const bytesThereAre = 256

// tables are the parts of the model that another worker calls.
type tables struct {
	embed *nn.Embedding
	score *nn.Linear
}

func newTables(width int, seed uint64) (*tables, error) {
	if err := gotorch.ManualSeed(seed); err != nil {
		return nil, err
	}
	return &tables{nn.NewEmbedding(bytesThereAre, width), nn.NewLinear(width, bytesThereAre)}, nil
}

// register lets workers call them: with tensors, and for references to their parameters.
func (t *tables) register() error {
	functions := map[string]func([]any) (any, error){
		"embed": func(given []any) (any, error) { return t.embed.Forward(given[0].(*gotorch.Tensor)), nil },
		"score": func(given []any) (any, error) { return t.score.Forward(given[0].(*gotorch.Tensor)), nil },
		"parameters": func([]any) (any, error) {
			var references []any
			for _, parameter := range append(nn.Parameters(t.embed), nn.Parameters(t.score)...) {
				reference, err := rpc.NewRRef(parameter)
				if err != nil {
					return nil, err
				}
				references = append(references, reference)
			}
			return references, nil
		},
	}
	for name, function := range functions {
		if err := rpc.Register(name, function); err != nil {
			return err
		}
	}
	return nil
}
