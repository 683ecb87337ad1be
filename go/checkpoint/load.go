package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
)

// Loaded says what a load found.
type Loaded struct {
	Step      int
	WorldSize int // of the ranks that saved it
	// Why later checkpoints were not used: files that are torn, flipped or unreadable. Newest first.
	Refused []string
}

// Load fills the state from the newest checkpoint that is whole; Loaded is nil where none was ever saved. Every byte that
// is read is compared with its checksum. One that is torn, flipped or unreadable on any rank is left out by all ranks for
// the one before it, and Loaded says why. With a group all ranks call it.
//
// What the state asks for and the checkpoint lacks is an error, and so is what does not fit the model or the optimizer;
// then some of the state may be filled. Errors: gotorch.ErrDataLoss where no whole checkpoint is left.
func (f *Folder) Load(ctx context.Context, state *State) (*Loaded, error) {
	return f.load(ctx, -1, state)
}

// LoadStep is the same of the checkpoint of one step. Errors: gotorch.ErrNotFound where there is none.
func (f *Folder) LoadStep(ctx context.Context, step int, state *State) (*Loaded, error) {
	if step < 0 {
		return nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "checkpoint.Folder.LoadStep",
			Message: fmt.Sprintf("steps are counted from 0, and this is %d", step)}
	}
	return f.load(ctx, int64(step), state)
}

func (f *Folder) load(ctx context.Context, step int64, state *State) (*Loaded, error) {
	var found *c.LoadedCheckpoint
	err := f.use(ctx, "checkpoint_folder_load", func() (failure *c.Failure) {
		found, failure = c.LoadCheckpoint(f.handle, step, nil)
		return failure
	})
	if err != nil || found == nil {
		return nil, err
	}
	sections := map[string]map[string]*gotorch.Tensor{}
	for section, list := range found.Sections {
		sections[section] = map[string]*gotorch.Tensor{}
		for _, one := range list {
			sections[section][one.Name] = bridge.Adopt(one.Tensor).(*gotorch.Tensor)
		}
	}
	err = f.fill(state, sections, found.Values)
	for _, tensors := range sections { // those that nobody was given
		for _, t := range tensors {
			t.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint of step %d in %s: %w", found.Step, f.path, err)
	}
	return &Loaded{int(found.Step), found.WorldSize, found.Refused}, nil
}

// fill takes what the state wants out of the sections.
func (f *Folder) fill(state *State, sections map[string]map[string]*gotorch.Tensor, text string) error {
	var all values
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return fmt.Errorf("its values are not what Save writes: %w", err)
	}
	section := func(name string) (map[string]*gotorch.Tensor, error) {
		if tensors, ok := sections[name]; ok {
			return tensors, nil
		}
		return nil, missing("no section " + name)
	}
	if state.Model != nil {
		tensors, err := section(modelSection)
		if err == nil {
			err = nn.LoadState(state.Model, tensors)
		}
		if err != nil {
			return err
		}
	}
	if state.Optimizer != nil { // before its first step there is none
		if err := state.Optimizer.LoadState(sections[optimizerSection]); err != nil {
			return err
		}
	}
	if state.Averages != nil {
		tensors, err := section(averagesSection)
		if err == nil {
			err = state.Averages.LoadState(tensors)
		}
		if err != nil {
			return err
		}
	}
	if state.Scheduler != nil {
		if all.Scheduler == nil {
			return missing("no state of a scheduler")
		}
		if err := state.Scheduler.LoadState(all.Scheduler); err != nil {
			return err
		}
	}
	if state.Scaler != nil {
		if all.Scaler == nil {
			return missing("no state of a GradScaler")
		}
		if err := state.Scaler.LoadState(*all.Scaler); err != nil {
			return err
		}
	}
	if state.Loader != nil {
		if all.Loader == nil {
			return missing("no state of a loader")
		}
		if err := state.Loader.Restore(all.Loader); err != nil {
			return err
		}
	}
	if state.Values != nil {
		if all.Values == nil {
			return missing("no values")
		}
		if err := json.Unmarshal(all.Values, state.Values); err != nil {
			return fmt.Errorf("its values do not fit a %T: %w", state.Values, err)
		}
	}
	for _, name := range []string{modelSection, optimizerSection, averagesSection} {
		closeAll(sections[name])
		delete(sections, name)
	}
	if state.RNG {
		tensors, err := section(rngSection)
		if err != nil {
			return err
		}
		if own, ok := tensors[f.rngName()]; ok {
			if err := gotorch.Try(func() { gotorch.SetRNGState(gotorch.CPU, own) }); err != nil {
				return err
			}
		}
	}
	closeAll(sections[rngSection])
	delete(sections, rngSection)
	state.Tensors = map[string]map[string]*gotorch.Tensor{}
	for name, tensors := range sections {
		state.Tensors[name] = tensors
		delete(sections, name)
	}
	return nil
}

func missing(what string) error {
	return &gotorch.Error{Code: gotorch.ErrNotFound, Op: "checkpoint.Folder.Load", Message: "it has " + what}
}

func closeAll(tensors map[string]*gotorch.Tensor) {
	for _, t := range tensors {
		t.Close()
	}
}
