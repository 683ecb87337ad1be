package nn

import (
	"reflect"
	"runtime"
	"slices"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// replicator copies a tree of modules: modules, parameters and buffers are new, what else they hold is shared.
type replicator struct {
	copy    func(t *gotorch.Tensor) *gotorch.Tensor // of tensors that are not LibTorch's modules'
	tensors map[*gotorch.Tensor]*gotorch.Tensor
	natives map[*Native]*Native
	modules map[Module]Module
}

var (
	nativeType = reflect.TypeFor[*Native]()
	detach     = bridge.NewOperator("aten::detach", "")
)

// replicate copies a tree; its tensors have the values of the tree's, and are found by those.
func replicate[M Module](m M) (M, map[*gotorch.Tensor]*gotorch.Tensor) {
	r := newReplicator(func(t *gotorch.Tensor) *gotorch.Tensor {
		f := c.NewFrame()
		f.Tensor(bridge.Handle(t, "nn.DataParallel"))
		copied := bridge.Adopt(detach.One(f)).(*gotorch.Tensor)
		runtime.KeepAlive(t)
		return copied
	})
	return r.tree(m).(M), r.tensors
}

func newReplicator(copy func(t *gotorch.Tensor) *gotorch.Tensor) *replicator {
	return &replicator{copy, map[*gotorch.Tensor]*gotorch.Tensor{}, map[*Native]*Native{}, map[Module]Module{}}
}

func (r *replicator) tree(m Module) Module {
	// Tensors first: fields of layers refer to those of the native modules in them.
	walk("", m, map[Module]bool{}, func(_ string, m Module, has parts) {
		if native, ok := m.(*Native); ok {
			r.native(native)
			return
		}
		for _, list := range [][]Named{has.parameters, has.buffers} {
			for _, one := range list {
				r.tensor(one.Tensor)
			}
		}
	})
	// Then those that natives have from others.
	for native, copied := range r.natives {
		for i, one := range native.owned.parameters {
			if slices.Contains(native.tied, one.Name) {
				r.tensor(one.Tensor)
				copied.owned.parameters[i].Tensor = r.tensors[one.Tensor]
			}
		}
	}
	return r.module(m)
}

func (r *replicator) tensor(t *gotorch.Tensor) {
	if r.tensors[t] == nil {
		r.tensors[t] = r.copy(t)
	}
}

func (r *replicator) native(n *Native) *Native {
	if known := r.natives[n]; known != nil {
		return known
	}
	handle, err := c.CloneModule(n.handle)
	runtime.KeepAlive(n)
	bridge.Must(err)
	copied := newNative(n.kind, handle)
	copied.owned.shareTied()
	copied.Base = n.Base
	copied.given, copied.tied = n.given, n.tied
	for i, one := range n.owned.parameters {
		if !slices.Contains(n.tied, one.Name) {
			r.tensors[one.Tensor] = copied.owned.parameters[i].Tensor
		}
	}
	for i, one := range n.owned.buffers {
		r.tensors[one.Tensor] = copied.owned.buffers[i].Tensor
	}
	for _, one := range n.owned.sparse {
		copied.owned.sparse = append(copied.owned.sparse, Named{one.Name, r.tensors[one.Tensor]})
	}
	r.natives[n] = copied
	return copied
}

func (r *replicator) module(m Module) Module {
	if known := r.modules[m]; known != nil {
		return known
	}
	if native, ok := m.(*Native); ok {
		return r.native(native)
	}
	if known, ok := m.(container); ok {
		copied := known.copyWith(r)
		r.modules[m] = copied
		return copied
	}
	original := reflect.ValueOf(m)
	if original.Kind() != reflect.Pointer || original.Elem().Kind() != reflect.Struct {
		return m
	}
	copied := reflect.New(original.Type().Elem())
	r.modules[m] = copied.Interface().(Module)
	r.fill(copied.Elem(), original.Elem())
	return r.modules[m]
}

// fill makes a struct a copy of another.
func (r *replicator) fill(copied, original reflect.Value) {
	copied.Set(original)
	for i := range original.NumField() {
		if field := original.Type().Field(i); field.IsExported() && field.Type != baseType {
			copied.Field(i).Set(r.value(original.Field(i)))
		}
	}
}

func (r *replicator) value(v reflect.Value) reflect.Value {
	switch {
	case v.Type() == tensorType:
		if known := r.tensors[v.Interface().(*gotorch.Tensor)]; known != nil {
			return reflect.ValueOf(known)
		}
	case v.Type() == nativeType:
		if !v.IsNil() {
			return reflect.ValueOf(r.native(v.Interface().(*Native)))
		}
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		if v.IsNil() {
			return v
		}
		if m, ok := v.Interface().(Module); ok {
			return reflect.ValueOf(r.module(m)).Convert(v.Type())
		}
	case v.Kind() == reflect.Struct:
		if v.CanAddr() && v.Addr().Type().Implements(moduleType) {
			copied := reflect.New(v.Type()).Elem()
			r.fill(copied, v)
			return copied
		}
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return v
		}
		copied := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Slice {
			copied.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			copied.Index(i).Set(r.value(v.Index(i)))
		}
		return copied
	case v.Kind() == reflect.Map:
		if v.IsNil() {
			return v
		}
		copied := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, key := range v.MapKeys() {
			copied.SetMapIndex(key, r.value(v.MapIndex(key)))
		}
		return copied
	}
	return v
}
