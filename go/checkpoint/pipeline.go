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
	prefixes := []string{"rank."} // random numbers
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
		names := ownNames(state.Optimizer, parameters, "checkpoint.Folder.Save")
		kept := map[string]*gotorch.Tensor{}
		for key, tensor := range remembered {
			number, what, _ := strings.Cut(key, ".")
			i, err := strconv.Atoi(number)
			// L-BFGS remembers one direction of all of a rank's parameters, and says how often it computed the loss.
			if err != nil || i >= len(names) || what == "func_evals" {
				panic(&gotorch.Error{Code: gotorch.ErrUnsupported, Op: "checkpoint.Folder.Save", Message: fmt.Sprintf(
					"the optimizer remembers %q, which is of no single parameter (as L-BFGS and PostLocalSGD do), and is not kept by "+
						"names of the model; leave the Optimizer out", key)})
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

// ownNames are those of an optimizer that has parameters of a pipeline's stages alone. It panics with *gotorch.Error.
func ownNames(optimizer *optim.Optimizer, parameters []nn.Named, op string) []string {
	names := namesOf(optimizer, parameters)
	if i := slices.Index(names, ""); i >= 0 {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op, Message: fmt.Sprintf(
			"the optimizer's parameter %d is of no stage of this rank; make it of the stages' Parameters", i)})
	}
	return names
}

// fillPipeline with what a checkpoint has, whose optimizer's parameters are called as `how` says.
func fillPipeline(state *State, sections map[string]map[string]*gotorch.Tensor, how string) error {
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
			const op = "checkpoint.Folder.Load"
			names := ownNames(state.Optimizer, parameters, op)
			if how != byName {
				panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op, Message: "its optimizer, if it has any, remembers by " +
					"number: it was saved without a pipeline, or not by this package; load its model alone"})
			}
			remembered, _ := numbered(sections[optimizerSection], names) // others are of tensors whose names begin as those here
			if err := state.Optimizer.LoadState(remembered); err != nil {
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

// numbered is what an optimizer remembers by the numbers of its parameters, of a state that has it by their names. others begin
// with none of these.
func numbered(state map[string]*gotorch.Tensor, names []string) (result, others map[string]*gotorch.Tensor) {
	numbers := map[string][]int{}
	for i, name := range names {
		if name != "" {
			numbers[name] = append(numbers[name], i)
		}
	}
	result, others = map[string]*gotorch.Tensor{}, map[string]*gotorch.Tensor{}
	for key, tensor := range state {
		if name := nameIn(numbers, key); name == "" {
			others[key] = tensor
		} else {
			for _, i := range numbers[name] {
				result[strconv.Itoa(i)+key[len(name):]] = tensor
			}
		}
	}
	return result, others
}

// nameIn is the longest name before a dot that key begins with, for one may be the beginning of another; "" is none.
func nameIn(numbers map[string][]int, key string) string {
	for end := strings.LastIndexByte(key, '.'); end > 0; end = strings.LastIndexByte(key[:end], '.') {
		if _, ok := numbers[key[:end]]; ok {
			return key[:end]
		}
	}
	return ""
}
