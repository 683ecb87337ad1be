package checkpoint

import (
	"fmt"
	"reflect"
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
)

// elasticRNG is the name of a rank's random numbers in a commit, which stay with their process.
const elasticRNG = "own"

func init() {
	bridge.Content = func(state any, use func([]c.CheckpointTensor, string) error) error {
		if state.(*State).Tables != nil {
			return &gotorch.Error{Code: gotorch.ErrUnsupported, Op: "elastic.Run",
				Message: "Tables are on their servers, and no part of commits; save them by a checkpoint.Folder"}
		}
		made, err := contentOf(*state.(*State), elasticRNG)
		if err != nil {
			return err
		}
		err = use(made.tensors, made.values)
		runtime.KeepAlive(made)
		return err
	}
	bridge.Fill = func(state any, found *c.LoadedCheckpoint) error {
		return fillFromCommit(state.(*State), found)
	}
}

func fillFromCommit(state *State, found *c.LoadedCheckpoint) error {
	sections := sectionsOf(found)
	defer func() {
		for _, tensors := range sections { // those that nobody was given
			closeAll(tensors)
		}
	}()
	given := *state
	if _, there := sections[rngSection]; !there { // of a process that has joined
		given.RNG = false
	}
	for name, tensors := range sections { // the program's own are to outlive the commit
		switch name {
		case modelSection, optimizerSection, averagesSection, rngSection:
			continue
		}
		for key, t := range tensors {
			kept, err := keep(state.Tensors[name][key], t)
			if err != nil {
				return fmt.Errorf("%s of the section %s: %w", key, name, err)
			}
			t.Close()
			tensors[key] = kept
		}
	}
	reset(state.Values)
	if err := fill(&given, sections, found.Values, elasticRNG); err != nil {
		return named("elastic.Run", err)
	}
	state.Tensors = given.Tensors
	return dropGradients(state)
}

// keep copies t into the program's own tensor, or makes a new one where there is none.
func keep(own, t *gotorch.Tensor) (kept *gotorch.Tensor, err error) {
	err = gotorch.Try(func() {
		if own == nil {
			kept = t.Clone()
			return
		}
		gotorch.NoGrad(func() { own.CopyI(t) })
		kept = own
	})
	return kept, err
}

// reset has values be those of their type before JSON is read into them, which leaves out what was empty when it was
// written, and adds to maps. What JSON does not hold of a struct stays.
func reset(values any) {
	pointer := reflect.ValueOf(values)
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		return
	}
	value := pointer.Elem()
	if value.Kind() != reflect.Struct {
		value.SetZero()
		return
	}
	for i := range value.NumField() {
		if field := value.Type().Field(i); field.IsExported() && field.Tag.Get("json") != "-" {
			value.Field(i).SetZero()
		}
	}
}

// dropGradients of a backward pass that a failure ended.
func dropGradients(state *State) error {
	if state.Optimizer != nil {
		if err := state.Optimizer.ZeroGrad(); err != nil {
			return err
		}
	}
	if state.Model == nil {
		return nil
	}
	return gotorch.Try(func() {
		for _, parameter := range nn.Parameters(state.Model) {
			parameter.SetGrad(nil)
		}
	})
}
