package nn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
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

// MatchOptions of [LoadState], [LoadPartial] and [Load].
type MatchOptions struct {
	ConvertDType bool // values are converted to the module's dtypes; else other dtypes are errors
}

// LoadState copies tensors into the parameters and buffers of the same names. Names that are missing or too many, other
// shapes and other dtypes are one error that lists them all, and then nothing was changed. Of a tensor that has several
// names in the module one is enough; where there are more they must have the same values. gotorch.Rename changes names.
func LoadState(m Module, state map[string]*gotorch.Tensor, options ...MatchOptions) error {
	_, _, err := load(m, state, true, options)
	return err
}

// LoadPartial is [LoadState] where names that are missing in the state, or that the module has not, are no errors: it gives
// them back. Source: load_state_dict(strict=False).
func LoadPartial(m Module, state map[string]*gotorch.Tensor, options ...MatchOptions) (missing, unexpected []string, err error) {
	return load(m, state, false, options)
}

func load(m Module, state map[string]*gotorch.Tensor, strict bool, options []MatchOptions) (missing, unexpected []string,
	err error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, nil, err
	}
	own := State(m)
	err = gotorch.Try(func() {
		intoNames, into := handlesByName(own)
		fromNames, from := handlesByName(state)
		var failure *c.Failure
		missing, unexpected, failure = c.CopyByName(intoNames, into, fromNames, from, strict, o.ConvertDType)
		runtime.KeepAlive(own)
		runtime.KeepAlive(state)
		bridge.Must(failure)
	})
	return missing, unexpected, err
}

func handlesByName(state map[string]*gotorch.Tensor) (names []string, handles []c.Tensor) {
	names = slices.Sorted(maps.Keys(state))
	for _, name := range names {
		handles = append(handles, bridge.Handle(state[name], "nn.LoadState"))
	}
	return names, handles
}

// isPython tells files of torch.save by their names.
func isPython(path string) bool {
	return slices.Contains([]string{".pt", ".pth", ".bin"}, filepath.Ext(path))
}

// Save writes all parameters and buffers to a file: one that Python's torch.load opens where it is named *.pt, *.pth or
// *.bin, else in the safetensors format.
func Save(path string, m Module) error {
	if isPython(path) {
		state := map[string]any{}
		for name, t := range State(m) {
			state[name] = t
		}
		return gotorch.SavePt(path, state)
	}
	return gotorch.Save(path, State(m))
}

// Load reads what [Save], or Python, wrote into the module; see [LoadState]. A model in several safetensors files is
// given by its folder or its index. Of a checkpoint that holds more than a state dict, gotorch.LoadPt gives the parts.
func Load(path string, m Module, options ...MatchOptions) error {
	state, err := open(path)
	if err != nil {
		return err
	}
	defer func() {
		for _, t := range state {
			t.Close()
		}
	}()
	if err := LoadState(m, state, options...); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func open(path string) (map[string]*gotorch.Tensor, error) {
	if !isPython(path) {
		state, _, err := gotorch.Open(path)
		return state, err
	}
	value, err := gotorch.LoadPt(path)
	if err != nil {
		return nil, err
	}
	state, err := gotorch.StateDict(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return state, nil
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
