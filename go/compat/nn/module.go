// Package nn has modules with the signatures of wangkuiyi/gotorch. A module is a struct that embeds [Module]; its
// constructor calls Init:
//
//	type Net struct {
//		nn.Module
//		FC1, FC2 *nn.LinearModule
//	}
//
//	func NewNet() *Net {
//		n := &Net{FC1: nn.Linear(784, 100, true), FC2: nn.Linear(100, 10, true)}
//		n.Init(n)
//		return n
//	}
//
// Exported fields that are modules, or slices of them, are its children, fields that are tensors, or slices of them,
// parameters or, with the tag `gotorch:"buffer"`, buffers.
package nn

import (
	"log"
	"maps"
	"reflect"
	"slices"

	torch "tandem.example/gotorch/compat"
)

// IModule is a module.
type IModule interface {
	// Train has the module and those below it behave as in training, or not.
	Train(on bool)
	// IsTraining tells whether it does.
	IsTraining() bool
	// To moves parameters and buffers to a device and, where a type is given, changes their elements to it.
	To(device torch.Device, dtype ...int8)
	// StateDict has the parameters and buffers by their names.
	StateDict() map[string]torch.Tensor
	// SetStateDict takes what StateDict gives.
	SetStateDict(sd map[string]torch.Tensor) error
	// Apply calls a function with the *Module of each module, from the top.
	Apply(f func(IModule))
	// Name is the module's type.
	Name() string
}

// Module makes a struct that embeds it, as a value, a module.
type Module struct {
	outer      IModule // the struct
	isTraining bool
	name       string
}

// Init tells m of the struct that embeds it. All other methods panic before.
func (m *Module) Init(outer IModule) {
	if m.outer != nil {
		return
	}
	embedded := reflect.ValueOf(outer).Elem().FieldByName("Module")
	must(embedded.IsValid() && embedded.CanAddr() && embedded.Addr().Interface() == any(m),
		"Init: %T does not embed this Module; embed nn.Module as a value, and call Init with the struct's own pointer", outer)
	m.outer, m.isTraining, m.name = outer, true, reflect.TypeOf(outer).Elem().String()
}

func (m *Module) initialized() {
	must(m.outer != nil, "a module is used before Init; call it at the end of the constructor")
}

// must panics with a formatted text, which goes to the log as well.
func must(condition bool, format string, arguments ...any) {
	if !condition {
		log.Panicf(format, arguments...)
	}
}

// Name is the type of the struct, such as "nn.LinearModule".
func (m *Module) Name() string { return m.name }

// Outer is the struct that embeds m.
func (m *Module) Outer() IModule { return m.outer }

// Apply calls function with the *Module of this module, and of each below it.
func (m *Module) Apply(function func(IModule)) {
	m.initialized()
	function(m)
	for field := range fields(m.outer) {
		for _, child := range field.modules() {
			child.Apply(function)
		}
	}
}

// Train has this module and those below it behave as in training, or not.
func (m *Module) Train(on bool) {
	m.Apply(func(n IModule) { n.(*Module).isTraining = on })
}

// IsTraining tells whether the module behaves as in training.
func (m *Module) IsTraining() bool { return m.isTraining }

// To moves parameters and buffers, which stay the same tensors, so that optimizers keep them.
func (m *Module) To(device torch.Device, dtype ...int8) {
	m.initialized()
	for _, t := range m.named(true, true) {
		t.tensor().SetData(t.tensor().To(device, dtype...))
	}
}

// NamedParameters are the tensors that are trained, by names such as "Net.FC1.Weight".
func (m *Module) NamedParameters() map[string]torch.Tensor { return byName(m.named(true, false)) }

// NamedBuffers are the tensors that are not trained, by their names.
func (m *Module) NamedBuffers() map[string]torch.Tensor { return byName(m.named(false, true)) }

// Parameters are the tensors that are trained, in the order of their names.
func (m *Module) Parameters() []torch.Tensor { return inOrder(m.NamedParameters()) }

// Buffers are the tensors that are not trained, in the order of their names.
func (m *Module) Buffers() []torch.Tensor { return inOrder(m.NamedBuffers()) }

func inOrder(tensors map[string]torch.Tensor) []torch.Tensor {
	list := make([]torch.Tensor, 0, len(tensors))
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		list = append(list, tensors[name])
	}
	return list
}
