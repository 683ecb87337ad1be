// Package registry makes the typed modules that packages beside nn have.
package registry

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/nn"
)

// Module is one that is to be made.
type Module struct {
	constructor, kind string
	given             map[string]any
	options           []string // all that it has
	parameters        []string // those that the constructor takes as parameters
}

// New begins a module of the registry for a constructor, such as "vision.NewResNet18".
func New(constructor, kind string) *Module {
	return &Module{constructor: constructor, kind: kind, given: map[string]any{}}
}

// Parameter is an option that the constructor takes as a parameter.
func (m *Module) Parameter(name string, value int) *Module {
	m.given[name] = value
	m.options = append(m.options, name)
	m.parameters = append(m.parameters, name)
	return m
}

// Set is an option by the registry's name: bool, int, float64, string, or an Opt of these. It is left out where it has its
// zero value.
func (m *Module) Set(name string, value any) *Module {
	m.options = append(m.options, name)
	switch v := value.(type) {
	case bool:
		m.put(name, v, v)
	case int:
		m.put(name, v, v != 0)
	case float64:
		m.put(name, v, v != 0)
	case string:
		m.put(name, v, v != "")
	case gotorch.Opt[bool]:
		b, ok := v.Get()
		m.put(name, b, ok)
	case gotorch.Opt[float64]:
		x, ok := v.Get()
		m.put(name, x, ok)
	default:
		panic(fmt.Sprintf("option %q is a %T", name, value))
	}
	return m
}

func (m *Module) put(name string, value any, given bool) {
	if given {
		m.given[name] = value
	}
}

// Create makes it; panics with *gotorch.Error.
func (m *Module) Create() *nn.Native {
	return bridge.CreateModule(m.constructor, m.kind, m.given, m.options, m.parameters).(*nn.Native)
}
