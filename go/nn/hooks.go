package nn

import (
	"slices"
	"sync"

	"tandem.example/gotorch"
)

// ForwardHook is called after a forward with what went in and came out. What it returns takes the outputs' place; nil
// leaves them.
type ForwardHook func(m Module, inputs []any, outputs []*gotorch.Tensor) []*gotorch.Tensor

// ForwardPreHook is called before a forward. What it returns takes the inputs' place; nil leaves them.
type ForwardPreHook func(m Module, inputs []any) []any

// RegisterForwardHook has hook called after each forward of m, and gives a function that removes it.
//
// LibTorch's modules and [Sequential] call their hooks in Forward; a module of one's own, whose Forward is the program's,
// where it is called by [Call] or by a Sequential. Replicas of a [DataParallel] call the hooks of the module that they are of,
// several at once. Source: torch.nn.Module.register_forward_hook.
func RegisterForwardHook(m Module, hook ForwardHook) (remove func()) {
	return m.hooks(true).add(&hooked{m, nil, hook})
}

// RegisterForwardPreHook has hook called before each forward of m, and gives a function that removes it; see
// [RegisterForwardHook]. Source: torch.nn.Module.register_forward_pre_hook.
func RegisterForwardPreHook(m Module, hook ForwardPreHook) (remove func()) {
	return m.hooks(true).add(&hooked{m, hook, nil})
}

// Call is layer.Forward(x) with the hooks of a layer of one's own, as Python calls layer(x).
func Call(layer Layer, x *gotorch.Tensor) *gotorch.Tensor {
	if callsHooks(layer) {
		return layer.Forward(x)
	}
	return withHooks(layer.hooks(false), x, layer.Forward)
}

// callsHooks tells whether the layer's own Forward does so.
func callsHooks(m Module) bool {
	switch known := m.(type) {
	case *Sequential:
		return true
	case interface{ native() *Native }:
		return known.native() != nil
	}
	return false
}

// hookSet are a module's hooks, in the order in which they came. Replicas share it.
type hookSet struct {
	mutex sync.Mutex
	all   []*hooked
}

type hooked struct {
	module Module
	before ForwardPreHook
	after  ForwardHook
}

func (s *hookSet) add(one *hooked) (remove func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.all = append(slices.Clip(s.all), one)
	return func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.all = slices.DeleteFunc(slices.Clone(s.all), func(other *hooked) bool { return other == one })
	}
}

// copyFor is a set of its own with the same hooks, for the copy of a module; nil for nil.
func (s *hookSet) copyFor(m Module) *hookSet {
	if s == nil {
		return nil
	}
	copied := &hookSet{}
	for _, one := range s.list() {
		copied.all = append(copied.all, &hooked{m, one.before, one.after})
	}
	return copied
}

// list stays as it is while hooks come and go.
func (s *hookSet) list() []*hooked {
	if s == nil {
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.all
}

func before(hooks []*hooked, inputs []any) []any {
	for _, one := range hooks {
		if one.before != nil {
			if other := one.before(one.module, inputs); other != nil {
				inputs = other
			}
		}
	}
	return inputs
}

func after(hooks []*hooked, inputs []any, outputs []*gotorch.Tensor) []*gotorch.Tensor {
	for _, one := range hooks {
		if one.after != nil {
			if other := one.after(one.module, inputs, outputs); other != nil {
				outputs = other
			}
		}
	}
	return outputs
}

// withHooks calls a forward of one input and one output between its hooks.
func withHooks(set *hookSet, x *gotorch.Tensor, forward func(*gotorch.Tensor) *gotorch.Tensor) *gotorch.Tensor {
	hooks := set.list()
	if len(hooks) == 0 {
		return forward(x)
	}
	inputs := before(hooks, []any{x})
	x, ok := inputs[0].(*gotorch.Tensor)
	if len(inputs) != 1 || !ok {
		panic(misuse("a hook before the forward of a layer gave %v; a layer takes one tensor", inputs))
	}
	return after(hooks, inputs, []*gotorch.Tensor{forward(x)})[0]
}
