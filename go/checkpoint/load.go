package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

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
// is read is compared with its checksum; files of what the state leaves out are not read. A checkpoint that is torn,
// flipped or unreadable on any rank is left out by all ranks for the one before it, and Loaded says why. With a group all
// ranks call it.
//
// What the state asks for and the checkpoint lacks is an error, and so is what does not fit the model or the optimizer, on
// all ranks where it is one on any; then some of the state may be filled. Errors: gotorch.ErrDataLoss where no whole
// checkpoint is left.
func (f *Folder) Load(ctx context.Context, state *State) (*Loaded, error) {
	return f.load(ctx, "checkpoint.Folder.Load", state.selection(-1), state.Tables, f.filling(state))
}

// LoadStep is the same of the checkpoint of one step. Errors: gotorch.ErrNotFound where there is none.
func (f *Folder) LoadStep(ctx context.Context, step int, state *State) (*Loaded, error) {
	const op = "checkpoint.Folder.LoadStep"
	if step < 0 {
		return nil, invalidStep(step, op)
	}
	return f.load(ctx, op, state.selection(int64(step)), state.Tables, f.filling(state))
}

// Selection is what [Folder.LoadTensors] reads of a checkpoint.
type Selection struct {
	Step     gotorch.Opt[int] // unset: the newest
	Sections []string         // "model" and others; none: all
	Prefixes []string         // of tensors' names, such as "encoder."; none: all
}

// LoadTensors gives a part of a checkpoint, by section and name. Files without any of it are not read.
func (f *Folder) LoadTensors(ctx context.Context, selection Selection) (map[string]map[string]*gotorch.Tensor, *Loaded, error) {
	const op = "checkpoint.Folder.LoadTensors"
	raw := c.CheckpointSelection{Step: -1, Sections: selection.Sections, Prefixes: selection.Prefixes}
	if step, ok := selection.Step.Get(); ok {
		if step < 0 {
			return nil, nil, invalidStep(step, op)
		}
		raw.Step = int64(step)
	}
	var all map[string]map[string]*gotorch.Tensor
	loaded, err := f.load(ctx, op, raw, nil, func(sections map[string]map[string]*gotorch.Tensor, _ string) error {
		all = maps.Clone(sections)
		clear(sections)
		return nil
	})
	if err != nil {
		for _, tensors := range all {
			closeAll(tensors)
		}
		return nil, nil, err
	}
	return all, loaded, nil
}

func invalidStep(step int, op string) error {
	return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op,
		Message: fmt.Sprintf("steps are counted from 0, and this is %d", step)}
}

// selection is what the state needs of a checkpoint's files.
func (state *State) selection(step int64) c.CheckpointSelection {
	selection := c.CheckpointSelection{Step: step, Prefixes: state.prefixes()}
	for section, wanted := range map[string]bool{modelSection: state.Model != nil || state.Pipeline != nil, optimizerSection: state.Optimizer != nil,
		averagesSection: state.Averages != nil, rngSection: state.RNG, c.TablesSection: state.Tables != nil,
		c.TableOptimizersSection: state.Tables != nil} {
		if !wanted {
			selection.Without = append(selection.Without, section)
		}
	}
	return selection
}

// filling takes what the state wants out of the sections.
func (f *Folder) filling(state *State) func(map[string]map[string]*gotorch.Tensor, string) error {
	return func(sections map[string]map[string]*gotorch.Tensor, values string) error {
		return fill(state, sections, values, f.rngName())
	}
}

// load reads a checkpoint for op and has take use its sections and values, and the servers their part of them. What that fails of
// on one rank is an error on all.
func (f *Folder) load(ctx context.Context, op string, selection c.CheckpointSelection, tables Tables,
	take func(map[string]map[string]*gotorch.Tensor, string) error) (*Loaded, error) {
	var found *c.LoadedCheckpoint
	var unable *c.Failure // once the ranks have agreed on a checkpoint
	read := func() (failure *c.Failure) {
		if found, failure = c.LoadCheckpoint(f.handle, selection); found != nil {
			unable, failure = failure, nil
		}
		return failure
	}
	part := f.part()
	var tablesFailed error // where they cannot be used; this rank reads all the same, for the others do
	err := f.use(ctx, op, func() (failure *c.Failure) {
		if tables == nil {
			return read()
		}
		begun := false
		tablesFailed = tables.Use(ctx, func(client c.ParameterClient) *c.Failure {
			begun, selection.Tables = true, part
			selection.Tables.Client = client
			failure = read()
			return nil
		})
		if !begun {
			failure = read()
		}
		return failure
	})
	defer found.Free()
	if err != nil || found == nil {
		return nil, named(op, cmp.Or(err, tablesFailed))
	}
	sections := sectionsOf(found)
	if err = cmp.Or(tablesFailed, bridge.Error(unable)); err == nil {
		panicked := gotorch.Try(func() { err = take(sections, found.Values) })
		err = cmp.Or(err, panicked)
	}
	if err == nil && tables != nil {
		err = tables.Use(ctx, func(client c.ParameterClient) *c.Failure {
			part.Client = client
			return found.LoadTables(part)
		})
	}
	for _, tensors := range sections { // those that nobody was given
		closeAll(tensors)
	}
	if err = f.agree(ctx, op, named(op, err)); err != nil {
		return nil, fmt.Errorf("checkpoint of step %d in %s: %w", found.Step, f.path, err)
	}
	return &Loaded{int(found.Step), found.WorldSize, found.Refused}, nil
}

// named has an error of a method of Folder's name op, which the program called: what they have in common speaks of one of them.
func named(op string, err error) error {
	var ours *gotorch.Error
	if errors.As(err, &ours) && strings.HasPrefix(ours.Op, "checkpoint.Folder.") {
		ours.Op = op
	}
	return err
}

func sectionsOf(found *c.LoadedCheckpoint) map[string]map[string]*gotorch.Tensor {
	sections := map[string]map[string]*gotorch.Tensor{}
	for section, list := range found.Sections {
		sections[section] = map[string]*gotorch.Tensor{}
		for _, one := range list {
			sections[section][one.Name] = bridge.Adopt(one.Tensor).(*gotorch.Tensor)
		}
	}
	return sections
}

// agree tells the other ranks of this one's error, and gives it; without one, what another rank failed of.
func (f *Folder) agree(ctx context.Context, op string, own error) error {
	if f.group == nil {
		return own
	}
	reason := ""
	if own != nil {
		reason = own.Error()
	}
	others := f.use(ctx, op, func() *c.Failure { return c.AgreeOnCheckpoint(f.handle, reason) })
	if own != nil {
		return own
	}
	return named(op, others)
}

// fill takes what the state wants out of the sections; random numbers those of that name.
func fill(state *State, sections map[string]map[string]*gotorch.Tensor, text, rngName string) error {
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
	if err := state.check(); err != nil {
		return err
	}
	if state.Pipeline != nil {
		if err := fillPipeline(state, sections, all.Parameters); err != nil {
			return err
		}
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
	if state.Optimizer != nil && state.Pipeline == nil { // before its first step there is none
		remembered := sections[optimizerSection]
		if state.Model != nil && all.Parameters != byNumber { // a pipeline's is by names
			named, others := numbered(remembered, namesOf(state.Optimizer, nn.NamedParameters(state.Model)))
			maps.Copy(others, named) // of what is no parameter's, the optimizer says whether it is its own
			remembered = others
		}
		if err := state.Optimizer.LoadState(remembered); err != nil {
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
		if own, ok := tensors[rngName]; ok {
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
