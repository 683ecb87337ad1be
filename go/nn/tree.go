package nn

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"tandem.example/gotorch"
)

// parts are what a module has itself: without what its children have.
type parts struct {
	children            []Child
	parameters, buffers []Named
	sparse              []Named // parameters whose gradients are sparse
}

var (
	moduleType = reflect.TypeFor[Module]()
	tensorType = reflect.TypeFor[*gotorch.Tensor]()
	baseType   = reflect.TypeFor[Base]()
)

// container is a module that has others by names of its own.
type container interface {
	parts() parts
	copyWith(r *replicator) Module
}

// partsOf looks at a struct's fields. Modules that it embeds are children without a name: what they have is its own.
func partsOf(m Module) parts {
	switch known := m.(type) {
	case *Native:
		return known.owned
	case container:
		return known.parts()
	}
	value := reflect.ValueOf(m)
	if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
		return parts{}
	}
	object := value.Elem()
	found := finder{object: object.Type(), embedded: map[*gotorch.Tensor]bool{}}
	for i := range object.NumField() {
		if field := object.Type().Field(i); field.Anonymous && field.IsExported() && field.Type != baseType {
			found.addEmbedded(object.Field(i))
		}
	}
	for i := range object.NumField() {
		if field := object.Type().Field(i); field.Type != baseType && field.Tag.Get("nn") != "-" {
			found.addField(field, object.Field(i))
		}
	}
	return found.parts
}

// finder collects a struct's parts.
type finder struct {
	parts
	object   reflect.Type
	embedded map[*gotorch.Tensor]bool // that modules it embeds have: fields may refer to them
	layer    bool                     // it embeds a module of LibTorch's, which computes with tensors of its own
}

func (f *finder) addEmbedded(value reflect.Value) {
	m := moduleIn(value)
	if m == nil {
		return
	}
	f.children = append(f.children, Child{"", m})
	walk("", m, map[Module]bool{}, func(_ string, m Module, has parts) {
		if _, ok := m.(*Native); ok {
			f.layer = true
		}
		for _, one := range slices.Concat(has.parameters, has.buffers) {
			f.embedded[one.Tensor] = true
		}
	})
}

// moduleIn is the module that a field is, holds or refers to, or nil.
func moduleIn(value reflect.Value) Module {
	switch {
	case value.Kind() == reflect.Struct && value.CanAddr():
		value = value.Addr()
	case value.Kind() != reflect.Pointer && value.Kind() != reflect.Interface, value.IsNil():
		return nil
	}
	m, _ := value.Interface().(Module)
	return m
}

func (f *finder) addField(field reflect.StructField, value reflect.Value) {
	if field.Anonymous && field.IsExported() && moduleIn(value) != nil {
		return // embedded
	}
	if !field.IsExported() {
		if path := reach(value, field.Name, nil); path != "" {
			panic(misuse("%s of %s is a module or tensor, but field %s is not exported, so it would not be found; write its "+
				"name with a capital letter, or tag it `nn:\"-\"` if it is no part of the module", path, f.object, field.Name))
		}
		return
	}
	name, isBuffer := tagged(field)
	f.addValue(name, field.Name, value, isBuffer)
}

// tagged reads a field's tag: `nn:"buffer"`, `nn:"name=x"` or both, separated by a comma.
func tagged(field reflect.StructField) (name string, isBuffer bool) {
	name = snakeCase(field.Name)
	for _, word := range strings.Split(field.Tag.Get("nn"), ",") {
		if word == "buffer" {
			isBuffer = true
		} else if other, ok := strings.CutPrefix(word, "name="); ok {
			name = other
		}
	}
	return name, isBuffer
}

// addValue adds what a field, or an element of one, has under that name; `path` is Go's, for errors.
func (f *finder) addValue(name, path string, value reflect.Value, isBuffer bool) {
	if value.Type() == tensorType {
		f.addTensor(name, path, value.Interface().(*gotorch.Tensor), isBuffer)
		return
	}
	if m := moduleIn(value); m != nil {
		f.children = append(f.children, Child{name, m})
		return
	}
	switch value.Kind() {
	case reflect.Interface:
		if !value.IsNil() {
			f.addValue(name, path, value.Elem(), isBuffer)
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			at := strconv.Itoa(i)
			f.addValue(name+"."+at, path+"["+at+"]", value.Index(i), isBuffer)
		}
	case reflect.Map:
		keys := value.MapKeys()
		slices.SortFunc(keys, compareKeys)
		for _, key := range keys {
			if inner := fmt.Sprintf("%s[%v]", path, key); nameable(key) {
				f.addValue(fmt.Sprintf("%s.%v", name, key), inner, value.MapIndex(key), isBuffer)
			} else if reach(value.MapIndex(key), inner, nil) != "" {
				panic(misuse("the map %s of %s holds a module or tensor under a %s, which gives it no name; use strings or "+
					"whole numbers as keys, or tag the field `nn:\"-\"` if it is no part of the module", path, f.object, key.Type()))
			}
		}
	default:
		if inner := reach(value, path, nil); inner != "" {
			panic(misuse("%s of %s is a module or tensor, but %s, a %s, is no module, so it would not be found; embed nn.Base "+
				"in %s, or tag the field `nn:\"-\"` if it is no part of the module", inner, f.object, path, value.Type(),
				strings.TrimPrefix(value.Type().String(), "*")))
		}
	}
}

func (f *finder) addTensor(name, path string, t *gotorch.Tensor, isBuffer bool) {
	switch {
	case t == nil || f.embedded[t]:
	case f.layer && f.object.PkgPath() == baseType.PkgPath():
		panic(misuse("field %s of %s was set to another tensor, but the layer computes with its own; tie them (nn.Tie), copy "+
			"the values into it (CopyI), or compute with a struct of your own", path, f.object))
	case isBuffer:
		f.buffers = append(f.buffers, Named{name, t})
	case !t.IsLeaf():
		panic(misuse("field %s of %s is a tensor that was computed from others that require gradients, so it can be no "+
			"parameter; tag it `nn:\"-\"` if it is a value that is kept, or take its Detach", path, f.object))
	default:
		f.parameters = append(f.parameters, Named{name, t})
	}
}

func nameable(key reflect.Value) bool {
	return key.Kind() == reflect.String || key.CanInt() || key.CanUint()
}

func compareKeys(a, b reflect.Value) int {
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// reach is the path to the first module or tensor to which value leads through fields, elements and pointers, or "".
// `around` are the pointers on the way.
func reach(value reflect.Value, path string, around []uintptr) string {
	if !mayReach(value.Type()) {
		return ""
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if value.IsNil() {
			return ""
		}
	}
	if value.Type() == tensorType || isModule(value.Type()) {
		return path
	}
	switch value.Kind() {
	case reflect.Pointer:
		if slices.Contains(around, value.Pointer()) {
			return ""
		}
		return reach(value.Elem(), path, append(around, value.Pointer()))
	case reflect.Interface:
		return reach(value.Elem(), path, around)
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			if hidden(value.Type(), field) || holdsStandard(field, value.Field(i)) || field.Tag.Get("nn") == "-" {
				continue
			}
			if found := reach(value.Field(i), path+"."+field.Name, around); found != "" {
				return found
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			if found := reach(value.Index(i), fmt.Sprintf("%s[%d]", path, i), around); found != "" {
				return found
			}
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			if found := reach(value.MapIndex(key), fmt.Sprintf("%s[%v]", path, key), around); found != "" {
				return found
			}
		}
	}
	return ""
}

// mayReach tells whether values of the type may lead to a module or tensor.
func mayReach(t reflect.Type) bool { return mayLead(t, true) }

// leads has what mayLead knows.
var leads sync.Map

type leadKey struct {
	from    reflect.Type
	modules bool
}

// mayLead tells whether values of the type may lead to a tensor through fields, elements and pointers; with modules, to a
// module as well, which else ends the way.
func mayLead(t reflect.Type, modules bool) bool {
	known, ok := leads.Load(leadKey{t, modules})
	if !ok {
		known = mayLeadAround(t, modules, nil)
		leads.Store(leadKey{t, modules}, known)
	}
	return known.(bool)
}

func isModule(t reflect.Type) bool {
	return t.Implements(moduleType) || t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(moduleType)
}

// `around` are the types on the way to t.
func mayLeadAround(t reflect.Type, modules bool, around []reflect.Type) bool {
	switch {
	case t == tensorType:
		return true
	case isModule(t):
		return modules
	case slices.Contains(around, t):
		return false
	}
	around = append(around, t)
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
		return mayLeadAround(t.Elem(), modules, around)
	case reflect.Struct:
		for i := range t.NumField() {
			if field := t.Field(i); !hidden(t, field) && mayLeadAround(field.Type, modules, around) {
				return true
			}
		}
	}
	return false
}

// snakeCase is PyTorch's spelling of a Go name: Conv1 is conv1, LayerNorm is layer_norm, FC is fc, BNLast is bn_last.
func snakeCase(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 {
			next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !unicode.IsUpper(runes[i-1]) || next {
				out.WriteByte('_')
			}
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// walk visits every module of the tree once, parents first.
func walk(prefix string, m Module, seen map[Module]bool, visit func(prefix string, m Module, has parts)) {
	if m == nil || seen[m] {
		return
	}
	seen[m] = true
	has := partsOf(m)
	visit(prefix, m, has)
	for _, child := range has.children {
		walk(prefix+child.prefix(), child.Module, seen, visit)
	}
}

// walkNames visits every module under each of its names, parents first.
func walkNames(prefix string, m Module, around []Module, visit func(prefix string, has parts)) {
	if m == nil || slices.Contains(around, m) {
		return
	}
	has := partsOf(m)
	visit(prefix, has)
	for _, child := range has.children {
		walkNames(prefix+child.prefix(), child.Module, append(around, m), visit)
	}
}

// prefix of the names of what the child has.
func (c Child) prefix() string {
	if c.Name == "" {
		return ""
	}
	return c.Name + "."
}

func misuse(format string, arguments ...any) *gotorch.Error {
	return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "nn", Message: fmt.Sprintf(format, arguments...)}
}

// Children are the modules directly in m, and in modules that it embeds, in the order of fields.
func Children(m Module) (children []Child) {
	for _, child := range partsOf(m).children {
		if child.Name == "" {
			children = append(children, Children(child.Module)...)
		} else {
			children = append(children, child)
		}
	}
	return children
}

// NamedParameters are all parameters in the tree, each once, in the order of fields: the same in every process.
func NamedParameters(m Module) []Named {
	return collect(m, func(has parts) []Named { return has.parameters })
}

// NamedBuffers are all buffers in the tree, such as batch normalization's running means.
func NamedBuffers(m Module) []Named {
	return collect(m, func(has parts) []Named { return has.buffers })
}

func collect(m Module, of func(parts) []Named) (all []Named) {
	seen, names := map[*gotorch.Tensor]bool{}, map[string]bool{}
	walk("", m, map[Module]bool{}, func(prefix string, m Module, has parts) {
		for _, one := range of(has) {
			if seen[one.Tensor] {
				continue
			}
			name := prefix + one.Name
			if names[name] {
				panic(misuse("two tensors of %T have the name %q; give one field another, with a tag `nn:\"name=…\"`", m, name))
			}
			seen[one.Tensor], names[name] = true, true
			all = append(all, Named{name, one.Tensor})
		}
	})
	return all
}

// SparseParameters are those whose gradients are sparse: of embeddings that were made so.
func SparseParameters(m Module) []*gotorch.Tensor {
	return tensors(collect(m, func(has parts) []Named { return has.sparse }))
}

// Parameters are all parameters in the tree, for an optimizer.
func Parameters(m Module) []*gotorch.Tensor { return tensors(NamedParameters(m)) }

// Buffers are all buffers in the tree.
func Buffers(m Module) []*gotorch.Tensor { return tensors(NamedBuffers(m)) }

func tensors(named []Named) []*gotorch.Tensor {
	list := make([]*gotorch.Tensor, len(named))
	for i, one := range named {
		list[i] = one.Tensor
	}
	return list
}

// Train puts the tree into training mode.
func Train(m Module) { setMode(m, true) }

// Eval puts the tree into evaluation mode: dropout passes everything, batch normalization uses its running means.
func Eval(m Module) { setMode(m, false) }

func setMode(m Module, training bool) {
	walk("", m, map[Module]bool{}, func(_ string, m Module, _ parts) { m.setTraining(training) })
}

// ParameterCount is the number of elements of all parameters.
func ParameterCount(m Module) (count int) {
	for _, t := range Parameters(m) {
		count += t.Numel()
	}
	return count
}
