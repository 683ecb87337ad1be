package nn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem.example/gotorch"
)

// State are all parameters and buffers by name, sharing storage with the module; those of a module that is there under
// several names have as many. Source: torch.nn.Module.state_dict.
func State(m Module) map[string]*gotorch.Tensor {
	state := map[string]*gotorch.Tensor{}
	for _, one := range append(NamedParameters(m), NamedBuffers(m)...) {
		state[one.Name] = one.Tensor
	}
	walkNames("", m, nil, func(prefix string, has parts) {
		for _, one := range slices.Concat(has.parameters, has.buffers) {
			state[prefix+one.Name] = one.Tensor
		}
	})
	return state
}

// LoadState copies tensors into the parameters and buffers of the same names. A name that is missing or too many, or
// another shape, is an error that names it, and then nothing was changed. Of a tensor that has several names in the module
// one is enough; where there are more they must have the same values.
func LoadState(m Module, state map[string]*gotorch.Tensor) error {
	own := State(m)
	var problems []string
	loaded := map[*gotorch.Tensor]string{} // the name that each gets its values by
	for _, name := range slices.Sorted(maps.Keys(own)) {
		t := own[name]
		given, ok := state[name]
		switch other := loaded[t]; {
		case !ok:
		case !slices.Equal(given.Shape(), t.Shape()):
			problems = append(problems, fmt.Sprintf("%s has shape %v, the module's %v", name, given.Shape(), t.Shape()))
			loaded[t] = name
		case other == "":
			loaded[t] = name
		case slices.Equal(state[other].Shape(), given.Shape()) && !sameValues(state[other], given):
			problems = append(problems, fmt.Sprintf("%s and %s are one tensor in the module, but differ in the state", other, name))
		}
	}
	for name, t := range own {
		if loaded[t] == "" {
			problems = append(problems, name+" is missing")
		}
	}
	for name := range state {
		if _, ok := own[name]; !ok {
			problems = append(problems, name+" is not in the module")
		}
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return misuse("the state does not fit the module: %s", strings.Join(problems, "; "))
	}
	return gotorch.Try(func() {
		gotorch.NoGrad(func() {
			for t, name := range loaded {
				t.CopyI(state[name])
			}
		})
	})
}

// sameValues of two tensors of one shape, where a NaN is like another.
func sameValues(a, b *gotorch.Tensor) (same bool) {
	gotorch.NoGrad(func() {
		gotorch.Scope(func() {
			dtype := gotorch.PromoteTypes(a.DType(), b.DType())
			if dtype.IsFloat() && dtype.Size() == 1 {
				dtype = gotorch.Float32 // Float8 types are not compared
			}
			a, b := a.To(dtype), b.ToDevice(a.Device()).To(dtype)
			same = a.Ne(b).LogicalAnd(a.IsNaN().LogicalAnd(b.IsNaN()).LogicalNot()).Any().Item() == 0
		})
	})
	return same
}

// Save writes all parameters and buffers to a file in the safetensors format.
func Save(path string, m Module) error { return gotorch.Save(path, State(m)) }

// Load reads what [Save], or Python, wrote into the module; see [LoadState].
func Load(path string, m Module) error {
	state, _, err := gotorch.Open(path)
	if err != nil {
		return err
	}
	defer func() {
		for _, t := range state {
			t.Close()
		}
	}()
	if err := LoadState(m, state); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Fingerprint is a hash over all parameters, their names and their bits: equal on two ranks when their models are.
func Fingerprint(m Module) string {
	hash := sha256.New()
	for _, one := range NamedParameters(m) {
		fmt.Fprintf(hash, "%s %v %v\n", one.Name, one.Tensor.DType(), one.Tensor.Shape())
		hash.Write(one.Tensor.Bytes())
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
