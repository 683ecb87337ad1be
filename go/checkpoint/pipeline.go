package checkpoint

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

func (state *State) check() error {
	if state.Model == nil || state.Pipeline == nil {
		return nil
	}
	return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "checkpoint.State",
		Message: "it has a Model and a Pipeline; give the one that is trained"}
}

// tensorsOf a pipeline's stages on this rank, parameters first. Stages may have one that is tied, each as a tensor of its own.
func tensorsOf(state *State) (parameters, all []nn.Named) {
	stages := state.Pipeline.Stages()
	for _, stage := range stages {
		parameters = append(parameters, stage.NamedParameters()...)
	}
	all = slices.Clone(parameters)
	for _, stage := range stages {
		all = append(all, stage.NamedBuffers()...)
	}
	return parameters, all
}

// prefixes of what a load reads; nil: all.
func (state *State) prefixes() []string {
	if state.Pipeline == nil {
		return nil
	}
	_, all := tensorsOf(state)
	prefixes := []string{"rank.", "0."} // random numbers; what an optimizer remembers by numbers, which is refused
	for _, one := range all {
		prefixes = append(prefixes, one.Name)
	}
	return prefixes
}

func (all *content) addPipeline(state State) error {
	parameters, tensors := tensorsOf(&state)
	saves := func(name string, isSpread bool) bool {
		is, err := state.Pipeline.Saves(name, isSpread)
		if err != nil {
			panic(err)
		}
		return is
	}
	return gotorch.Try(func() {
		model := map[string]*gotorch.Tensor{}
		for _, one := range tensors {
			if _, known := model[one.Name]; !known && saves(one.Name, false) {
				model[one.Name] = one.Tensor
			}
		}
		all.add(modelSection, true, model)
		if state.Optimizer == nil {
			return
		}
		remembered, err := state.Optimizer.State()
		if err != nil {
			panic(err)
		}
		names := namesOf(state.Optimizer, parameters)
		kept := map[string]*gotorch.Tensor{}
		for key, tensor := range remembered {
			number, what, _ := strings.Cut(key, ".")
			i, err := strconv.Atoi(number)
			if err != nil || i >= len(names) || names[i] == "" {
				panic(&gotorch.Error{Code: gotorch.ErrUnsupported, Op: "checkpoint.Folder.Save", Message: fmt.Sprintf(
					"the optimizer remembers %q of no parameter of the pipeline's stages; make it of their Parameters", key)})
			}
			if saves(names[i], state.OptimizerIsSpread) {
				kept[names[i]+"."+what] = tensor
			}
		}
		all.add(optimizerSection, true, kept)
	})
}

// namesOf an optimizer's parameters, in its order; "" for one that is not among them.
func namesOf(optimizer *optim.Optimizer, named []nn.Named) []string {
	byTensor := map[*gotorch.Tensor]string{}
	for _, one := range named {
		if _, known := byTensor[one.Tensor]; !known {
			byTensor[one.Tensor] = one.Name
		}
	}
	var names []string
	for _, parameter := range optimizer.Parameters() {
		names = append(names, byTensor[parameter])
	}
	return names
}

func fillPipeline(state *State, sections map[string]map[string]*gotorch.Tensor) error {
	parameters, tensors := tensorsOf(state)
	model, ok := sections[modelSection]
	if !ok {
		return missing("no section " + modelSection)
	}
	return gotorch.Try(func() {
		own := map[string]*gotorch.Tensor{}
		var tied []nn.Named
		for _, one := range tensors {
			if _, known := own[one.Name]; known {
				tied = append(tied, one)
				continue
			}
			own[one.Name] = one.Tensor
		}
		copyByName(own, model)
		gotorch.NoGrad(func() {
			for _, one := range tied {
				one.Tensor.CopyI(own[one.Name])
			}
		})
		if state.Optimizer != nil {
			for key := range sections[optimizerSection] {
				if _, isNumber := numberOf(key); isNumber {
					panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "checkpoint.Folder.Load", Message: fmt.Sprintf(
						"it has %q, which an optimizer remembers by number: it was saved without a pipeline; load its model alone", key)})
				}
			}
			if err := state.Optimizer.LoadState(numbered(sections[optimizerSection], parameters, state.Optimizer)); err != nil {
				panic(err)
			}
		}
	})
}

// copyByName has each of `into` be what `from` has by its name.
func copyByName(into, from map[string]*gotorch.Tensor) {
	const op = "checkpoint.Folder.Load"
	var intoNames, fromNames []string
	var intoHandles, fromHandles []c.Tensor
	for _, name := range slices.Sorted(maps.Keys(into)) {
		intoNames, intoHandles = append(intoNames, name), append(intoHandles, bridge.Handle(into[name], op))
		if tensor, ok := from[name]; ok {
			fromNames, fromHandles = append(fromNames, name), append(fromHandles, bridge.Handle(tensor, op))
		}
	}
	_, _, failure := c.CopyByName(intoNames, intoHandles, fromNames, fromHandles, true, false)
	runtime.KeepAlive(into)
	runtime.KeepAlive(from)
	bridge.Must(failure)
}

// numbered is what an optimizer remembers by the numbers of its parameters, of a state that has it by their names; one that
// has numbers stays as it is. Names that are not the optimizer's are left out.
func numbered(state map[string]*gotorch.Tensor, named []nn.Named, optimizer *optim.Optimizer) map[string]*gotorch.Tensor {
	numbers := map[string][]int{}
	for i, name := range namesOf(optimizer, named) {
		if name != "" {
			numbers[name] = append(numbers[name], i)
		}
	}
	result := map[string]*gotorch.Tensor{}
	for key, tensor := range state {
		if _, isNumber := numberOf(key); isNumber {
			result[key] = tensor
			continue
		}
		// The longest name, for one may be the beginning of another.
		for end := strings.LastIndexByte(key, '.'); end > 0; end = strings.LastIndexByte(key[:end], '.') {
			if places, ok := numbers[key[:end]]; ok {
				for _, i := range places {
					result[strconv.Itoa(i)+key[end:]] = tensor
				}
				break
			}
		}
	}
	return result
}

// numberOf is 3 of "3.exp_avg", and none of "3.weight.exp_avg".
func numberOf(key string) (int, bool) {
	number, what, _ := strings.Cut(key, ".")
	i, err := strconv.Atoi(number)
	return i, err == nil && !strings.Contains(what, ".")
}
