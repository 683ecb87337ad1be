package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tandem.example/gotorch"
)

// parts are what a module has itself: without what its children have.
type parts struct {
	children            []Child
	parameters, buffers []Named
	sparse              []Named // parameters whose gradients are sparse
}

// assembled modules know their parts without a look at their fields.
type assembled interface{ parts() parts }

var (
	moduleType = reflect.TypeFor[Module]()
	tensorType = reflect.TypeFor[*gotorch.Tensor]()
	baseType   = reflect.TypeFor[Base]()
)

func partsOf(m Module) parts {
	if known, ok := m.(assembled); ok {
		return known.parts()
	}
	value := reflect.ValueOf(m)
	if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
		return parts{}
	}
	var found parts
	found.addFields(value.Elem())
	return found
}

func (p *parts) addFields(object reflect.Value) {
	for i := range object.NumField() {
		field := object.Type().Field(i)
		value := object.Field(i)
		if field.Type == baseType {
			continue
		}
		if !field.IsExported() {
			if mayHoldModule(field.Type) {
				panic(misuse("nn: field %s of %s holds a module, or a parameter, but is not exported, so its parameters "+
					"cannot be found; write its name with a capital letter", field.Name, object.Type()))
			}
			continue
		}
		name, isBuffer := tagged(field)
		p.addValue(name, value, isBuffer)
	}
}

func mayHoldModule(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array:
		t = t.Elem()
	case reflect.Struct:
		t = reflect.PointerTo(t)
	}
	return t.Implements(moduleType)
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

func (p *parts) addValue(name string, value reflect.Value, isBuffer bool) {
	if value.Type() == tensorType {
		t := value.Interface().(*gotorch.Tensor)
		switch {
		case t == nil:
		case isBuffer:
			p.buffers = append(p.buffers, Named{name, t})
		case t.RequiresGrad() && t.IsLeaf():
			p.parameters = append(p.parameters, Named{name, t})
		}
		return
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			return
		}
		if m, ok := value.Interface().(Module); ok {
			p.children = append(p.children, Child{name, m})
		}
	case reflect.Struct:
		if value.CanAddr() {
			if m, ok := value.Addr().Interface().(Module); ok {
				p.children = append(p.children, Child{name, m})
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			p.addValue(name+"."+strconv.Itoa(i), value.Index(i), isBuffer)
		}
	case reflect.Map:
		if value.Type().Key().Kind() == reflect.String {
			keys := value.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			for _, key := range keys {
				p.addValue(name+"."+key.String(), value.MapIndex(key), isBuffer)
			}
		}
	}
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
		walk(prefix+child.Name+".", child.Module, seen, visit)
	}
}

func misuse(format string, arguments ...any) *gotorch.Error {
	return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "nn", Message: fmt.Sprintf(format, arguments...)}
}

// Children are the modules directly in m, in the order of its fields.
func Children(m Module) []Child { return partsOf(m).children }

// NamedParameters are all parameters in the tree, each once, in the order of fields: the same in every process.
func NamedParameters(m Module) []Named {
	return collect(m, func(has parts) []Named { return has.parameters })
}

// NamedBuffers are all buffers in the tree, such as batch normalization's running means.
func NamedBuffers(m Module) []Named {
	return collect(m, func(has parts) []Named { return has.buffers })
}

func collect(m Module, of func(parts) []Named) (all []Named) {
	seen := map[*gotorch.Tensor]bool{}
	walk("", m, map[Module]bool{}, func(prefix string, _ Module, has parts) {
		for _, one := range of(has) {
			if !seen[one.Tensor] {
				seen[one.Tensor] = true
				all = append(all, Named{prefix + one.Name, one.Tensor})
			}
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
