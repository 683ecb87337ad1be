package nn

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn/functional"
)

// Tie makes two parameters of m's tree one tensor, by their names: the one called `name` becomes the one called `as`,
// with its values, wherever the tree has it. As in a GPT, whose head has the embedding's weight:
//
//	nn.Tie(gpt, "head.weight", "embed.weight") // Python: gpt.head.weight = gpt.embed.weight
//
// [Parameters] gives the tensor once, so optimizers and dist.DDP see it once, and its gradient is the sum over all uses.
// [State] and [Save] have it under both names, and [Load] takes either. The tensor that was there before is emptied: tie
// before the optimizer and dist.NewDDP. Fields of the tree that refer to it, such as head.Weight, refer to the other one.
//
// Linear, Embedding and convolutions that pad with zeros can be tied; and any tensor that is a field of a struct of
// one's own. Other layers are shared whole, as one module in two fields. Tie panics with *gotorch.Error: ErrNotFound for
// a name that m does not have, ErrInvalidArgument where shape, dtype or device differ or gradients are sparse,
// ErrUnsupported for another layer.
func Tie(m Module, name, as string) {
	parameters := namesOfParameters(m)
	replaced, kept := parameters[name], parameters[as]
	for _, one := range []string{name, as} {
		if parameters[one] == nil {
			panic(&gotorch.Error{Code: gotorch.ErrNotFound, Op: "nn.Tie", Message: fmt.Sprintf(
				"%T has no parameter %q; it has %s", m, one, strings.Join(slices.Sorted(maps.Keys(parameters)), ", "))})
		}
	}
	if replaced == kept {
		return
	}
	checkTie(m, name, as, replaced, kept)
	var natives []*Native
	var modules []Module // found first: in between, a field is not what its layer computes with
	walk("", m, map[Module]bool{}, func(_ string, m Module, has parts) {
		modules = append(modules, m)
		if native, ok := m.(*Native); ok && holds(has.parameters, replaced) {
			if !native.canTie() {
				panic(&gotorch.Error{Code: gotorch.ErrUnsupported, Op: "nn.Tie", Message: fmt.Sprintf(
					"%q belongs to a %s with these options, which computes with tensors of its own alone; have both places share "+
						"the whole layer, or compute with a struct of your own", name, native.kind)})
			}
			natives = append(natives, native)
		}
	})
	for _, native := range natives {
		native.tie(replaced, kept)
	}
	for _, one := range modules {
		refer(one, replaced, kept)
	}
	gotorch.NoGrad(func() {
		gotorch.Scope(func() {
			nothing := gotorch.Zeros([]int{0}, gotorch.TensorOptions{
				DType: gotorch.Some(kept.DType()), Device: gotorch.Some(kept.Device())})
			gotorch.Call("aten::set_data", "", replaced, nothing)
		})
	})
}

// namesOfParameters has each under all of its names.
func namesOfParameters(m Module) map[string]*gotorch.Tensor {
	all := map[string]*gotorch.Tensor{}
	walkNames("", m, nil, func(prefix string, has parts) {
		for _, one := range has.parameters {
			all[prefix+one.Name] = one.Tensor
		}
	})
	return all
}

func checkTie(m Module, name, as string, replaced, kept *gotorch.Tensor) {
	is := func(t *gotorch.Tensor) string { return fmt.Sprintf("%v %v on %v", t.DType(), t.Shape(), t.Device()) }
	if is(replaced) != is(kept) {
		panic(misuse("nn.Tie: %q is %s, but %q %s; parameters that are tied are alike", name, is(replaced), as, is(kept)))
	}
	sparse := SparseParameters(m)
	for one, t := range map[string]*gotorch.Tensor{name: replaced, as: kept} {
		if slices.Contains(sparse, t) {
			panic(misuse("nn.Tie: %q has sparse gradients, which those of another use cannot be added to; make its layer "+
				"without Sparse", one))
		}
	}
}

func holds(list []Named, t *gotorch.Tensor) bool {
	return slices.ContainsFunc(list, func(one Named) bool { return one.Tensor == t })
}

// refer has the fields of a module's struct refer to another tensor.
func refer(m Module, replaced, kept *gotorch.Tensor) {
	value := reflect.ValueOf(m)
	if _, ok := m.(*Native); ok || value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
		return
	}
	for i := range value.Elem().NumField() {
		if field := value.Elem().Type().Field(i); field.IsExported() && field.Type != baseType {
			referIn(value.Elem().Field(i), replaced, kept)
		}
	}
}

// referIn goes through slices, arrays and maps; what it meets of modules the walk visits.
func referIn(value reflect.Value, replaced, kept *gotorch.Tensor) {
	// A map's elements and what an interface holds are copies: they are put back.
	inCopy := func(value reflect.Value, put func(changed reflect.Value)) {
		changed := reflect.New(value.Type()).Elem()
		changed.Set(value)
		referIn(changed, replaced, kept)
		put(changed)
	}
	switch value.Kind() {
	case reflect.Pointer:
		if value.CanInterface() && value.Interface() == any(replaced) {
			value.Set(reflect.ValueOf(kept))
		}
	case reflect.Interface:
		if held := value.Elem(); held.IsValid() && holdsOthers(held.Kind()) {
			inCopy(held, value.Set)
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			referIn(value.Index(i), replaced, kept)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			if element := value.MapIndex(key); holdsOthers(element.Kind()) {
				inCopy(element, func(changed reflect.Value) { value.SetMapIndex(key, changed) })
			}
		}
	}
}

func holdsOthers(kind reflect.Kind) bool {
	switch kind {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Array, reflect.Map:
		return true
	}
	return false
}

// tiedForwards compute what LibTorch's module does, with the tensors that n names: the module has only its own.
var tiedForwards = map[string]func(n *Native, x *gotorch.Tensor) *gotorch.Tensor{
	"Linear": func(n *Native, x *gotorch.Tensor) *gotorch.Tensor {
		return functional.Linear(x, n.tensor("weight"), n.tensor("bias"))
	},
	"Embedding": func(n *Native, x *gotorch.Tensor) *gotorch.Tensor {
		weight := n.tensor("weight")
		o := functional.EmbeddingOptions{ScaleGradByFreq: n.given["scale_grad_by_freq"] == true}
		if padding, ok := chosen[int](n, "padding_idx").Get(); ok {
			if padding < 0 {
				padding += weight.Size(0)
			}
			o.PaddingIdx = Some(padding)
		}
		return functional.Embedding(x, weight, o)
	},
	"Conv1d": func(n *Native, x *gotorch.Tensor) *gotorch.Tensor {
		return functional.Conv1d(x, n.tensor("weight"), n.tensor("bias"), functional.Conv1dOptions(n.window()))
	},
	"Conv2d": func(n *Native, x *gotorch.Tensor) *gotorch.Tensor {
		return functional.Conv2d(x, n.tensor("weight"), n.tensor("bias"), functional.Conv2dOptions(n.window()))
	},
	"Conv3d": func(n *Native, x *gotorch.Tensor) *gotorch.Tensor {
		return functional.Conv3d(x, n.tensor("weight"), n.tensor("bias"), functional.Conv3dOptions(n.window()))
	},
}

// window are a convolution's options.
func (n *Native) window() functional.Conv2dOptions {
	return functional.Conv2dOptions{Stride: sizes(n, "stride"), Padding: sizes(n, "padding"),
		Dilation: sizes(n, "dilation"), Groups: chosen[int](n, "groups").Or(0)}
}

// chosen is an option that the module was made with.
func chosen[T any](n *Native, name string) Opt[T] {
	if value, ok := n.given[name].(T); ok {
		return Some(value)
	}
	return Opt[T]{}
}

// sizes is an option of one number for all dimensions, or one each.
func sizes(n *Native, name string) []int {
	if one, ok := n.given[name].(int); ok {
		return []int{one}
	}
	return chosen[[]int](n, name).Or(nil)
}

// canTie tells whether Go computes what the module does with these options.
func (n *Native) canTie() bool {
	mode, ok := n.given["padding_mode"]
	_, named := n.given["padding"].(string)
	return tiedForwards[n.kind] != nil && n.given["max_norm"] == nil && !named && (!ok || mode == "zeros")
}

// tie puts a tensor of another module in the place of one of its own.
func (n *Native) tie(replaced, kept *gotorch.Tensor) {
	for i, one := range n.owned.parameters {
		if one.Tensor == replaced {
			n.owned.parameters[i].Tensor = kept
			if !slices.Contains(n.tied, one.Name) {
				n.tied = append(n.tied, one.Name)
			}
		}
	}
}
