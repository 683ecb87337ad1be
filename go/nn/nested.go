package nn

import (
	"reflect"
	"slices"
	"unsafe"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
)

// mapTensors is value with each tensor in it replaced: value is a tensor, or structs, pointers to such, slices, arrays and
// maps of tensors. What leads to another tensor is copied; what leads to none is shared. Two references to one object
// become two to one copy, so each object is visited once. The order is the same for values of the same shape.
func mapTensors(value reflect.Value, replace func(*gotorch.Tensor) *gotorch.Tensor) reflect.Value {
	m := tensorMapper{replace, map[reference]replacement{}}
	mapped, _ := m.value(value, 0)
	return mapped
}

// Values nest no deeper: one that contains itself would have no end.
const maxNesting = 1000

// tensorMapper replaces the tensors in one value. Its methods tell whether what they give is another value.
type tensorMapper struct {
	replace func(*gotorch.Tensor) *gotorch.Tensor
	visited map[reference]replacement
}

// reference tells objects apart: a struct and its first field begin at one address, as do slices of one array.
type reference struct {
	address unsafe.Pointer
	length  int
	of      reflect.Type
}

type replacement struct {
	value   reflect.Value
	changed bool
}

func (m *tensorMapper) value(value reflect.Value, depth int) (mapped reflect.Value, changed bool) {
	if !mayHoldTensor(value.Type()) {
		return value, false
	}
	if depth++; depth > maxNesting && value.Type() != tensorType {
		panic(misuse("values nest more than %d deep at a %s, which must not contain itself", maxNesting, value.Type()))
	}
	to := reference{of: value.Type()}
	switch value.Kind() {
	case reflect.Struct:
		return m.fields(value, depth)
	case reflect.Array:
		return m.elements(value, depth)
	case reflect.Interface:
		if value.IsNil() {
			return value, false
		}
		return m.value(value.Elem(), depth)
	case reflect.Slice:
		to.length = value.Len()
	}
	if value.IsNil() {
		if value.Type() == tensorType {
			return m.tensor(value)
		}
		return value, false
	}
	to.address = value.UnsafePointer()
	if known, ok := m.visited[to]; ok {
		return known.value, known.changed
	}
	mapped, changed = m.referred(value, depth)
	m.visited[to] = replacement{mapped, changed}
	return mapped, changed
}

func (m *tensorMapper) tensor(value reflect.Value) (mapped reflect.Value, changed bool) {
	given := value.Interface().(*gotorch.Tensor)
	made := m.replace(given)
	return reflect.ValueOf(made), made != given
}

// referred follows a pointer, a slice or a map.
func (m *tensorMapper) referred(value reflect.Value, depth int) (mapped reflect.Value, changed bool) {
	switch {
	case value.Type() == tensorType:
		return m.tensor(value)
	case value.Kind() == reflect.Map:
		return m.entries(value, depth)
	case value.Kind() == reflect.Slice:
		return m.elements(value, depth)
	}
	object, changed := m.value(value.Elem(), depth)
	if !changed {
		return value, false
	}
	copied := reflect.New(value.Type().Elem())
	copied.Elem().Set(object)
	return copied.Convert(value.Type()), true
}

func (m *tensorMapper) fields(value reflect.Value, depth int) (mapped reflect.Value, changed bool) {
	copied := reflect.New(value.Type()).Elem()
	from := value
	if !value.CanAddr() { // Go lets nobody read fields of it that are not exported
		copied.Set(value)
		from = copied
	}
	for i := range value.NumField() {
		field := value.Type().Field(i)
		if !mayHoldTensor(field.Type) || hidden(value.Type(), field) || holdsStandard(field, value.Field(i)) {
			continue
		}
		own := settable(from, i)
		one, other := m.value(own, depth)
		if !other {
			continue
		}
		if !changed {
			copied.Set(value)
		}
		changed = true
		settable(copied, i).Set(one)
	}
	if !changed {
		return value, false
	}
	return copied, true
}

// elements of a slice or an array.
func (m *tensorMapper) elements(value reflect.Value, depth int) (mapped reflect.Value, changed bool) {
	mapped = value
	for i := range value.Len() {
		one, other := m.value(value.Index(i), depth)
		if !other {
			continue
		}
		if !changed {
			mapped = reflect.New(value.Type()).Elem()
			if value.Kind() == reflect.Slice {
				mapped.Set(reflect.MakeSlice(value.Type(), value.Len(), value.Len()))
			}
			reflect.Copy(mapped, value)
		}
		changed = true
		mapped.Index(i).Set(one)
	}
	return mapped, changed
}

// entries of a map.
func (m *tensorMapper) entries(value reflect.Value, depth int) (mapped reflect.Value, changed bool) {
	keys := value.MapKeys()
	slices.SortFunc(keys, compareKeys)
	replace := m.replace
	defer func() { m.replace = replace }()
	mapped = value
	for _, key := range keys {
		m.replace = func(t *gotorch.Tensor) *gotorch.Tensor {
			if !nameable(key) { // the order of others is another in each walk, and in each replica
				panic(misuse("a %s has tensors under keys of type %s, which have no order; use strings or whole numbers",
					value.Type(), key.Type()))
			}
			return replace(t)
		}
		one, other := m.value(value.MapIndex(key), depth)
		if !other {
			continue
		}
		if !changed {
			mapped = reflect.MakeMapWithSize(value.Type(), value.Len())
			for _, other := range keys {
				mapped.SetMapIndex(other, value.MapIndex(other))
			}
		}
		changed = true
		mapped.SetMapIndex(key, one)
	}
	return mapped, changed
}

// settable is a field of an addressable struct, exported or not.
func settable(object reflect.Value, i int) reflect.Value {
	field := object.Field(i)
	return reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
}
func init() {
	bridge.MayHoldTensor = mayHoldTensor
	bridge.MapTensors = func(value reflect.Value, replace func(tensor any) any) reflect.Value {
		return mapTensors(value, func(t *gotorch.Tensor) *gotorch.Tensor { return replace(t).(*gotorch.Tensor) })
	}
}

// mayHoldTensor leaves modules out.
func mayHoldTensor(t reflect.Type) bool { return mayLead(t, false) }

// tensorsIn lists the tensors that mapTensors would replace.
func tensorsIn[T any](value *T) (list []*gotorch.Tensor) {
	mapTensors(reflect.ValueOf(value).Elem(), func(t *gotorch.Tensor) *gotorch.Tensor {
		list = append(list, t)
		return t
	})
	return list
}

// withTensors is value with those tensors, in the order of tensorsIn.
func withTensors[T any](value *T, tensors []*gotorch.Tensor) (copied T) {
	reflect.ValueOf(&copied).Elem().Set(mapTensors(reflect.ValueOf(value).Elem(), func(*gotorch.Tensor) *gotorch.Tensor {
		next := tensors[0]
		tensors = tensors[1:]
		return next
	}))
	return copied
}
