package nn

import (
	"fmt"
	"iter"
	"reflect"

	torch "tandem.example/gotorch/compat"
)

// Visitor is called with a field that holds a tensor, the tensor, and the name of the module; noSuffix tells that this
// is the tensor's own name already, as of one in a slice.
type Visitor func(f reflect.StructField, v reflect.Value, prefix string, noSuffix bool) error

// member is a field of a module's struct, or what is in one that is a slice.
type member struct {
	owner string // type of the struct
	field reflect.StructField
	value reflect.Value
}

var (
	moduleType = reflect.TypeFor[IModule]()
	tensorType = reflect.TypeFor[torch.Tensor]()
)

// fields are those that may hold modules or tensors. It panics on one that does, and is not exported.
func fields(m IModule) iter.Seq[member] {
	return func(yield func(member) bool) {
		s := reflect.ValueOf(m).Elem()
		for i := range s.NumField() {
			f := s.Type().Field(i)
			element := f.Type
			if element.Kind() == reflect.Slice || element.Kind() == reflect.Array {
				element = element.Elem()
			}
			if !element.Implements(moduleType) && element != tensorType && element.Kind() != reflect.Interface {
				continue
			}
			known := element.Implements(moduleType) || element == tensorType
			must(f.IsExported() || !known, "the field %s of %v holds modules or tensors; export it", f.Name, s.Type())
			if f.IsExported() && !yield(member{s.Type().Name(), f, s.Field(i)}) {
				return
			}
		}
	}
}

func (m member) isList() bool {
	return m.value.Kind() == reflect.Slice || m.value.Kind() == reflect.Array
}

// each is what the field holds: itself or, of a slice or array, its elements.
func (m member) each() (values []reflect.Value) {
	if !m.isList() {
		return []reflect.Value{m.value}
	}
	for i := range m.value.Len() {
		values = append(values, m.value.Index(i))
	}
	return values
}

// moduleIn is the module that a value is; nil pointers and interfaces are none.
func moduleIn(value reflect.Value) (IModule, bool) {
	m, ok := value.Interface().(IModule)
	return m, ok && !reflect.ValueOf(m).IsNil()
}

func (m member) modules() (modules []IModule) {
	for _, value := range m.each() {
		if child, ok := moduleIn(value); ok {
			modules = append(modules, child)
		}
	}
	return modules
}

// visitTensors calls visitor for each tensor of the tree below m, whose name is prefix.
func visitTensors(m IModule, prefix string, visitor Visitor) error {
	for field := range fields(m) {
		for i, value := range field.each() {
			name := prefix + "." + field.field.Name
			if field.isList() {
				name += fmt.Sprintf("[%d]", i)
			}
			var err error
			if child, ok := moduleIn(value); ok {
				err = visitTensors(child, name, visitor)
			} else if value.Type() == tensorType {
				if !field.isList() {
					name = prefix
				}
				err = visitor(field.field, value, name, field.isList())
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
