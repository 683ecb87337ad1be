package checkpoint

import (
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// elasticRNG is the name of a rank's random numbers in a commit, which stay with their process.
const elasticRNG = "own"

func init() {
	bridge.Content = func(state any, use func([]c.CheckpointTensor, string) error) error {
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
			var copied *gotorch.Tensor
			if err := gotorch.Try(func() { copied = t.Clone() }); err != nil {
				return err
			}
			t.Close()
			tensors[key] = copied
		}
	}
	if err := fill(&given, sections, found.Values, elasticRNG); err != nil {
		return err
	}
	state.Tensors = given.Tensors
	return nil
}
