package nn

import (
	"reflect"
	"slices"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
)

// mapTensors is a copy of value with each tensor in it replaced: value is a tensor, or structs, pointers to such, slices,
// arrays and maps of tensors. What is no tensor is shared. The order is the same for values of the same shape.
func mapTensors(value reflect.Value, replace func(*gotorch.Tensor) *gotorch.Tensor) reflect.Value {
	return mapNested(value, replace, 0)
}

// Values nest no deeper: one that contains itself would have no end.
const maxNesting = 1000

func mapNested(value reflect.Value, replace func(*gotorch.Tensor) *gotorch.Tensor, depth int) reflect.Value {
	if value.Type() == tensorType {
		return reflect.ValueOf(replace(value.Interface().(*gotorch.Tensor)))
	}
	if !mayHoldTensor(value.Type()) {
		return value
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		if value.IsNil() {
			return value
		}
	}
	if depth++; depth > maxNesting {
		panic(misuse("values nest more than %d deep at a %s, which must not contain itself", maxNesting, value.Type()))
	}
	copied := reflect.New(value.Type()).Elem()
	copied.Set(value)
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			if !mayHoldTensor(field.Type) || hidden(field) {
				continue
			}
			own := copied.Field(i)
			if !field.IsExported() {
				own = reflect.NewAt(field.Type, own.Addr().UnsafePointer()).Elem()
			}
			own.Set(mapNested(own, replace, depth))
		}
	case reflect.Pointer:
		copied.Set(reflect.New(value.Type().Elem()))
		copied.Elem().Set(mapNested(value.Elem(), replace, depth))
	case reflect.Interface:
		copied.Set(mapNested(value.Elem(), replace, depth))
	case reflect.Slice:
		copied.Set(reflect.MakeSlice(value.Type(), value.Len(), value.Len()))
		fallthrough
	case reflect.Array:
		for i := range value.Len() {
			copied.Index(i).Set(mapNested(value.Index(i), replace, depth))
		}
	case reflect.Map:
		copied.Set(reflect.MakeMapWithSize(value.Type(), value.Len()))
		keys := value.MapKeys()
		slices.SortFunc(keys, compareKeys)
		for _, key := range keys {
			copied.SetMapIndex(key, mapNested(value.MapIndex(key), func(t *gotorch.Tensor) *gotorch.Tensor {
				if !nameable(key) { // the order of others is another in each walk, and in each replica
					panic(misuse("a %s has tensors under keys of type %s, which have no order; use strings or whole numbers",
						value.Type(), key.Type()))
				}
				return replace(t)
			}, depth))
		}
	}
	return copied
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

// withTensors is a copy of value with those tensors, in the order of tensorsIn.
func withTensors[T any](value *T, tensors []*gotorch.Tensor) (copied T) {
	reflect.ValueOf(&copied).Elem().Set(mapTensors(reflect.ValueOf(value).Elem(), func(*gotorch.Tensor) *gotorch.Tensor {
		next := tensors[0]
		tensors = tensors[1:]
		return next
	}))
	return copied
}
