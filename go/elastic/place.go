package elastic

import (
	"bytes"

	"tandem.example/gotorch/checkpoint"
)

// start is the state of a place where no loader was yet.
var start = []byte("start")

// Place is how far training has come in its data, whichever loader goes through them: each membership epoch has one of its
// own, for its rank and number of ranks. It is the Loader of a [checkpoint.State].
type Place struct {
	state  []byte
	loader checkpoint.Loader
}

// Follow has the loader, which is new, go on where training stands, and asks it from now on.
func (p *Place) Follow(loader checkpoint.Loader) error {
	if len(p.state) != 0 && !bytes.Equal(p.state, start) {
		if err := loader.Restore(p.state); err != nil {
			return err
		}
	}
	p.loader = loader
	return nil
}

// State is the loader's; before there is one, where training begins.
func (p *Place) State() ([]byte, error) {
	if p.loader == nil {
		if len(p.state) == 0 {
			return start, nil
		}
		return p.state, nil
	}
	return p.loader.State()
}

// Restore has the next loader go on there.
func (p *Place) Restore(state []byte) error {
	p.state, p.loader = state, nil
	return nil
}
