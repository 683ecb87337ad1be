package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tandem.example/gotorch"
)

// mapTensors is a copy of value with each tensor in it replaced: value is a tensor, or structs, pointers to such, slices,
// arrays and maps of tensors. What is no tensor is shared. The order is the same for values of the same shape.
func mapTensors(value reflect.Value, replace func(*gotorch.Tensor) *gotorch.Tensor) reflect.Value {
	if value.Type() == tensorType {
		return reflect.ValueOf(replace(value.Interface().(*gotorch.Tensor)))
	}
	if !mayHoldTensor(value.Type()) {
		return value
	}
	copied := reflect.New(value.Type()).Elem()
	copied.Set(value)
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			if !mayHoldTensor(field.Type) {
				continue
			}
			if !field.IsExported() {
				panic(misuse("field %s of %s holds a tensor but is not exported, so that it cannot be split among replicas; "+
					"write its name with a capital letter", field.Name, value.Type()))
			}
			copied.Field(i).Set(mapTensors(value.Field(i), replace))
		}
	case reflect.Pointer:
		if !value.IsNil() {
			copied.Set(reflect.New(value.Type().Elem()))
			copied.Elem().Set(mapTensors(value.Elem(), replace))
		}
	case reflect.Interface:
		if !value.IsNil() {
			copied.Set(mapTensors(value.Elem(), replace))
		}
	case reflect.Slice:
		if !value.IsNil() {
			copied.Set(reflect.MakeSlice(value.Type(), value.Len(), value.Len()))
		}
		fallthrough
	case reflect.Array:
		for i := range value.Len() {
			copied.Index(i).Set(mapTensors(value.Index(i), replace))
		}
	case reflect.Map:
		if value.IsNil() {
			break
		}
		copied.Set(reflect.MakeMapWithSize(value.Type(), value.Len()))
		keys := value.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			copied.SetMapIndex(key, mapTensors(value.MapIndex(key), replace))
		}
	}
	return copied
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
