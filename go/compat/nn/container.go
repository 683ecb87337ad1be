package nn

import (
	"fmt"
	"reflect"

	torch "tandem.example/gotorch/compat"
)

// SequentialModule gives what each of its modules computes to the next one.
type SequentialModule struct {
	Module
	Modules []IModule
}

// Sequential makes a SequentialModule.
func Sequential(modules ...IModule) *SequentialModule {
	s := &SequentialModule{Modules: modules}
	s.Init(s)
	return s
}

// Forward calls the modules' methods Forward, whatever values they take and give. The last one must give one.
func (s *SequentialModule) Forward(inputs ...any) any {
	if len(s.Modules) == 0 {
		panic("Sequential: there are no modules to call")
	}
	for _, m := range s.Modules {
		forward := reflect.ValueOf(m).MethodByName("Forward")
		if !forward.IsValid() {
			panic(fmt.Sprintf("Sequential: %T has no exported method Forward", m))
		}
		arguments := make([]reflect.Value, len(inputs))
		for i, input := range inputs {
			arguments[i] = reflect.ValueOf(input)
		}
		inputs = inputs[:0:0]
		for _, result := range forward.Call(arguments) {
			inputs = append(inputs, result.Interface())
		}
	}
	if len(inputs) != 1 {
		panic(fmt.Sprintf("Sequential: the last module gives %d values; it must give one", len(inputs)))
	}
	return inputs[0]
}

// FunctionalModule is a function as a module.
type FunctionalModule struct {
	Module
	Function func(torch.Tensor) torch.Tensor
}

// Functional makes a FunctionalModule.
func Functional(f func(torch.Tensor) torch.Tensor) *FunctionalModule {
	m := &FunctionalModule{Function: f}
	m.Init(m)
	return m
}

// Forward calls the function.
func (f *FunctionalModule) Forward(input torch.Tensor) torch.Tensor { return f.Function(input) }
