package nn

import (
	"fmt"
	"reflect"

	torch "tandem.example/gotorch/compat"
)

// named is a tensor of a tree with its name and where it stands.
type named struct {
	name  string
	value reflect.Value
}

func (n named) tensor() torch.Tensor { return n.value.Interface().(torch.Tensor) }

// named are the parameters, the buffers or both, without those that are the zero Tensor.
func (m *Module) named(parameters, buffers bool) (list []named) {
	m.initialized()
	// The visitor gives no error.
	_ = visitTensors(m.outer, reflect.TypeOf(m.outer).Elem().Name(),
		func(f reflect.StructField, v reflect.Value, prefix string, noSuffix bool) error {
			isBuffer := f.Tag.Get("gotorch") == "buffer"
			if isBuffer && !buffers || !isBuffer && !parameters || v.Interface().(torch.Tensor).T == nil {
				return nil
			}
			if !noSuffix {
				prefix += "." + f.Name
			}
			list = append(list, named{prefix, v})
			return nil
		})
	return list
}

func byName(list []named) map[string]torch.Tensor {
	tensors := make(map[string]torch.Tensor, len(list))
	for _, t := range list {
		tensors[t.name] = t.tensor()
	}
	return tensors
}

// StateDict has all parameters and buffers by their names.
func (m *Module) StateDict() map[string]torch.Tensor { return byName(m.named(true, true)) }

// SetStateDict puts the tensors themselves, not their elements, into the module. All must be there and no others; else
// nothing is changed. An optimizer that was given the module's tensors before steps those, so it is made afterwards.
func (m *Module) SetStateDict(sd map[string]torch.Tensor) error {
	list := m.named(true, true)
	known := make(map[string]bool, len(list))
	for _, t := range list {
		if _, ok := sd[t.name]; !ok {
			return fmt.Errorf("SetStateDict: the state has no %s", t.name)
		}
		known[t.name] = true
	}
	for name := range sd {
		if !known[name] {
			return fmt.Errorf("SetStateDict: %s has no %s, which the state has", m.name, name)
		}
	}
	for _, t := range list {
		t.value.Set(reflect.ValueOf(sd[t.name]))
	}
	return nil
}
