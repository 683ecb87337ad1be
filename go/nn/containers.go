package nn

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tandem.example/gotorch"
)

// ModuleList is a list of modules that a module has; it has no forward. Their parameters are named by their place:
// "0.weight". A slice of modules in a field is the same, where the list is no module by itself. Source: torch.nn.ModuleList.
type ModuleList[M Module] struct {
	Base
	modules []M
}

// NewModuleList of those modules.
func NewModuleList[M Module](modules ...M) *ModuleList[M] { return &ModuleList[M]{modules: modules} }

// Append adds modules.
func (l *ModuleList[M]) Append(modules ...M) { l.modules = append(l.modules, modules...) }

// Insert adds modules before that of place i.
func (l *ModuleList[M]) Insert(i int, modules ...M) {
	l.modules = slices.Insert(l.modules, i, modules...)
}

// At is the module of that place.
func (l *ModuleList[M]) At(i int) M { return l.modules[i] }

// Set puts a module in the place of another.
func (l *ModuleList[M]) Set(i int, m M) { l.modules[i] = m }

// Len is the number of modules.
func (l *ModuleList[M]) Len() int { return len(l.modules) }

// All are places and modules.
func (l *ModuleList[M]) All() iter.Seq2[int, M] { return slices.All(l.modules) }

func (l *ModuleList[M]) parts() parts {
	var has parts
	for i, m := range l.modules {
		has.children = append(has.children, Child{strconv.Itoa(i), m})
	}
	return has
}

func (l *ModuleList[M]) copyWith(r *replicator) Module {
	copied := &ModuleList[M]{Base: l.Base}
	for _, m := range l.modules {
		copied.modules = append(copied.modules, r.module(m).(M))
	}
	return copied
}

// ModuleDict has modules by name, in the order in which they came; it has no forward. A map of modules in a field is the
// same, sorted by name. Source: torch.nn.ModuleDict.
type ModuleDict[M Module] struct {
	Base
	names   []string
	modules map[string]M
}

// NewModuleDict has none yet.
func NewModuleDict[M Module]() *ModuleDict[M] { return &ModuleDict[M]{modules: map[string]M{}} }

// Set adds a module, or puts one in the place of another. It gives the dict, so that calls can follow each other. It panics
// with *gotorch.Error where the name is empty or has a dot.
func (d *ModuleDict[M]) Set(name string, m M) *ModuleDict[M] {
	if name == "" || strings.Contains(name, ".") {
		panic(misuse("ModuleDict.Set: %q is no name: it is empty or has a dot", name))
	}
	if _, ok := d.modules[name]; !ok {
		d.names = append(d.names, name)
	}
	d.modules[name] = m
	return d
}

// Get is the module of that name; it panics with *gotorch.Error when there is none.
func (d *ModuleDict[M]) Get(name string) M {
	m, ok := d.modules[name]
	if !ok {
		panic(&gotorch.Error{Code: gotorch.ErrNotFound, Op: "nn.ModuleDict.Get",
			Message: fmt.Sprintf("there is no module %q; there are %q", name, d.names)})
	}
	return m
}

// Has tells whether there is one of that name.
func (d *ModuleDict[M]) Has(name string) bool {
	_, ok := d.modules[name]
	return ok
}

// Delete takes a module out, if it is there.
func (d *ModuleDict[M]) Delete(name string) {
	delete(d.modules, name)
	d.names = slices.DeleteFunc(d.names, func(other string) bool { return other == name })
}

// Len is the number of modules.
func (d *ModuleDict[M]) Len() int { return len(d.names) }

// All are names and modules.
func (d *ModuleDict[M]) All() iter.Seq2[string, M] {
	return func(yield func(string, M) bool) {
		for _, name := range d.names {
			if !yield(name, d.modules[name]) {
				return
			}
		}
	}
}

func (d *ModuleDict[M]) parts() parts {
	var has parts
	for name, m := range d.All() {
		has.children = append(has.children, Child{name, m})
	}
	return has
}

func (d *ModuleDict[M]) copyWith(r *replicator) Module {
	copied := &ModuleDict[M]{d.Base, slices.Clone(d.names), maps.Clone(d.modules)}
	for name, m := range d.modules {
		copied.modules[name] = r.module(m).(M)
	}
	return copied
}
