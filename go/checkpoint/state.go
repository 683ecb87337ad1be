package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// State is what a checkpoint holds; what is nil is left out. A load fills the same things.
type State struct {
	Model     nn.Module        // parameters and buffers, by Python's names
	Optimizer *optim.Optimizer // what it remembers; not its settings, which the program makes it with
	// In place of Model, a pipeline whose stages are the model: each rank writes what it has of it, by the names of the whole
	// model, and with an Optimizer of its stages' parameters what that remembers of each, "blocks.3.weight.exp_avg". They load on
	// any number of ranks and stages, and without a pipeline; a rank reads the tensors of its own stages, and of the sections of
	// Tensors those whose names begin as theirs do.
	Pipeline *dist.Pipeline
	// Whether each rank has its own part of what the optimizer remembers (ZeRO; of a pipeline, each replica): all of them write
	// theirs. They load on any number of ranks.
	OptimizerIsSpread bool
	Scheduler         Scheduler       // of the learning rate; sets the groups' rates as it is loaded
	Averages          *optim.Averages // not with a Pipeline
	Scaler            *optim.GradScaler
	Loader            Loader // its place in the data
	// Whether to keep the random numbers of this rank's CPU. A rank that was not there when they were saved keeps its own.
	RNG bool
	// What parameter servers have: a *rpc.ParameterClient. Each rank of the folder's group has one and writes its part of the
	// tables, "users" and "users.sum"; they load on any number of ranks and servers. Between two steps of all trainers.
	Tables Tables
	// Further tensors that are the same on all ranks, by section and name. A section's name is part of a file's: letters,
	// digits, '_' and '-', and not one of model, optimizer, averages, rng, tables and table_optimizers. A load gives what there is.
	Tensors map[string]map[string]*gotorch.Tensor
	// The program's own, as encoding/json writes it, of rank 0; a load needs a pointer.
	Values any
}

// check refuses what cannot be kept together.
func (state *State) check() error {
	const op = "checkpoint.State"
	for _, own := range []string{modelSection, optimizerSection, averagesSection, rngSection, c.TablesSection, c.TableOptimizersSection} {
		if _, taken := state.Tensors[own]; taken {
			return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op,
				Message: fmt.Sprintf("Tensors has a section %q, which is the folder's own; give it another name", own)}
		}
	}
	switch {
	case state.Pipeline == nil:
		return nil
	case state.Model != nil:
		return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op,
			Message: "it has a Model and a Pipeline; give the one that is trained"}
	case state.Tables != nil:
		return &gotorch.Error{Code: gotorch.ErrUnsupported, Op: op, Message: "Tables beside a Pipeline are not kept"}
	case state.Averages != nil: // which are numbered, and others on each rank
		return &gotorch.Error{Code: gotorch.ErrUnsupported, Op: op,
			Message: "Averages of a Pipeline's stages are not kept; save those of each rank as Tensors under names of its own"}
	}
	return nil
}

// Loader of a data set: a data.Loader, for one.
type Loader interface {
	State() ([]byte, error)
	Restore(state []byte) error
}

// Tables of parameter servers: a *rpc.ParameterClient alone.
type Tables interface {
	Use(ctx context.Context, call func(c.ParameterClient) *c.Failure) error
}

// Scheduler is any of those of package optim.
type Scheduler interface {
	State() optim.SchedulerState
	LoadState(state optim.SchedulerState) error
}

const modelSection, optimizerSection, averagesSection, rngSection = "model", "optimizer", "averages", "rng"

const byNumber, byName = "by number", "by name"

// values are the checkpoint's JSON.
type values struct {
	Loader    []byte                 `json:"loader,omitempty"`
	Scheduler optim.SchedulerState   `json:"scheduler,omitempty"`
	Scaler    *optim.GradScalerState `json:"scaler,omitempty"`
	Values    json.RawMessage        `json:"values,omitempty"`
	// How the section of the optimizer calls parameters: byNumber or byName. Empty: there is none, or another language saved it.
	Parameters string `json:"parameters,omitempty"`
}

// Save writes a checkpoint. step says how far training has come; a checkpoint of the same step is replaced. With a group
// all ranks call it, and when ctx ends the group is aborted.
//
// Errors: gotorch.ErrIO (the disk is full, or fails), gotorch.ErrNotFound (the folder above is missing),
// gotorch.ErrInvalidArgument, and those of collectives.
func (f *Folder) Save(ctx context.Context, step int, state State) error {
	return f.save(ctx, step, state, false)
}

// SaveAsync is the same beside training: it returns as soon as all is copied into memory, which later saves use again.
// It waits for the save before; where that failed it gives its error, and saves nothing. Ranks exchange what they need by
// a group of its own.
func (f *Folder) SaveAsync(ctx context.Context, step int, state State) error {
	return f.save(ctx, step, state, true)
}

func (f *Folder) save(ctx context.Context, step int, state State, async bool) error {
	op := "checkpoint.Folder.Save"
	if async {
		op += "Async"
	}
	content, err := f.content(ctx, state)
	if err = named(op, err); err != nil {
		if f.group != nil { // the other ranks save already
			f.use(ctx, op, func() *c.Failure { return c.FailCheckpoint(f.handle, int64(step), async, err.Error()) })
		}
		return err
	}
	err = f.use(ctx, op, func() *c.Failure {
		return c.SaveCheckpoint(f.handle, int64(step), content.tensors, content.values, async)
	})
	content.close()
	return named(op, err)
}
