package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
)

// content is what the core writes of a state. What is held has to live until then.
type content struct {
	tensors []c.CheckpointTensor
	held    []*gotorch.Tensor
	own     []*gotorch.Tensor // of them those that go with the content
	values  string
}

func (all *content) add(section string, own bool, named map[string]*gotorch.Tensor) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		all.held = append(all.held, named[name])
		all.tensors = append(all.tensors, c.CheckpointTensor{Section: section, Name: name, Own: own,
			Tensor: bridge.Handle(named[name], "checkpoint.Folder.Save")})
	}
}

func (f *Folder) content(ctx context.Context, state State) (*content, error) {
	made, err := contentOf(state, f.rngName())
	if err == nil && state.Tables != nil {
		err = made.addTables(ctx, state.Tables, f.part())
	}
	return made, err
}

// part of tables that this rank has.
func (f *Folder) part() c.Tables {
	if f.group == nil {
		return c.Tables{Parts: 1}
	}
	return c.Tables{Part: f.group.Rank(), Parts: f.group.Size()}
}

func (all *content) addTables(ctx context.Context, tables Tables, part c.Tables) error {
	return tables.Use(ctx, func(client c.ParameterClient) *c.Failure {
		list, failure := c.ParameterClientState(client, part.Part, part.Parts)
		for _, one := range list {
			held := bridge.Adopt(one.Tensor).(*gotorch.Tensor)
			all.held = append(all.held, held)
			all.own = append(all.own, held)
			all.tensors = append(all.tensors, c.CheckpointTensor{Section: one.Section, Name: one.Name, Own: true,
				Tensor: one.Tensor.Handle, Whole: one.Whole, Begin: one.Begin})
		}
		return failure
	})
}

// close frees what was made for the content alone.
func (all *content) close() {
	for _, tensor := range all.own {
		tensor.Close()
	}
}

// contentOf a state, whose random numbers have that name.
func contentOf(state State, rngName string) (*content, error) {
	made := &content{}
	all := values{}
	err := state.check()
	if err != nil {
		return nil, err
	}
	err = gotorch.Try(func() {
		for _, section := range slices.Sorted(maps.Keys(state.Tensors)) {
			made.add(section, false, state.Tensors[section])
		}
		if state.Model != nil {
			made.add(modelSection, false, nn.State(state.Model))
		}
		if state.RNG {
			made.add(rngSection, true, map[string]*gotorch.Tensor{rngName: gotorch.RNGState(gotorch.CPU)})
		}
		if state.Scaler != nil {
			scaler := state.Scaler.State()
			all.Scaler = &scaler
		}
		if state.Scheduler != nil {
			all.Scheduler = state.Scheduler.State()
		}
	})
	if err == nil && state.Pipeline != nil {
		all.Parameters = byName
		err = made.addPipeline(state)
	} else if err == nil && state.Optimizer != nil {
		all.Parameters = byNumber
		var remembered map[string]*gotorch.Tensor
		if remembered, err = state.Optimizer.State(); err == nil {
			err = gotorch.Try(func() { made.add(optimizerSection, state.OptimizerIsSpread, remembered) })
		}
	}
	if err == nil && state.Averages != nil {
		var averages map[string]*gotorch.Tensor
		if averages, err = state.Averages.State(); err == nil {
			err = gotorch.Try(func() { made.add(averagesSection, false, averages) })
		}
	}
	if err == nil && state.Loader != nil {
		all.Loader, err = state.Loader.State()
	}
	if err == nil && state.Values != nil {
		if all.Values, err = json.Marshal(state.Values); err != nil {
			err = fmt.Errorf("checkpoint: the values cannot be written as JSON: %w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	written, err := json.Marshal(all)
	made.values = string(written)
	return made, err
}

// rngName is the name of this rank's random numbers.
func (f *Folder) rngName() string {
	if f.group == nil {
		return "rank.0"
	}
	return fmt.Sprintf("rank.%d", f.group.Rank())
}
