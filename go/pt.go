package gotorch

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Tuple is Python's tuple in what [LoadPt] gives and [SavePt] takes; its list is []any.
type Tuple []any

// PtOptions of [LoadPt].
type PtOptions struct {
	Copy       bool // tensors get memory of their own; else they refer to the file, which may not be cut off meanwhile
	CheckCRC   bool // all checksums are compared, which reads all of the file; else that of the pickle alone
	MostValues int  // that the file may hold; 0: 4,194,304
}

// LoadPt reads a file of Python's torch.save, such as model.pt: tensors, on the CPU wherever they were, and plain
// values. Those are nil, bool, int, float64, complex128, string, *Tensor, DType, Device, []any for a list or set, [Tuple],
// and for a dict map[string]any or, where not all of its keys are strings, map[any]any with keys that are strings and
// ints. Bytes are a tensor of Uint8. The tensors outlive any open scope; what is written to them changes no file.
//
// Nothing of the file is run: ErrUnsupported names what else it asks for. ErrNotFound, ErrDataLoss.
func LoadPt(path string, options ...PtOptions) (any, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	value, failure := c.LoadPt(path, c.PtOptions{MostValues: int64(o.MostValues), Copy: o.Copy, CheckCRC: o.CheckCRC})
	if failure != nil {
		return nil, errorOf(failure)
	}
	return fromPython(value), nil
}

// SavePt writes a file that Python's torch.load(path, weights_only=True) opens. It takes what LoadPt gives, and numbers,
// slices, arrays (as tuples) and maps of any such type; maps in the order of their keys. Of tensors the values are saved, as
// state_dict() has them: views of one storage share it, and it is written whole, so clone a small view of a large one.
// The file appears under its name only when it is complete.
func SavePt(path string, value any) error {
	return Try(func() {
		f := c.NewFrame()
		putPython(f, value, "SavePt")
		err := c.SavePt(path, f)
		runtime.KeepAlive(value)
		must(err)
	})
}

// StateDict takes a dict of names and tensors from what [LoadPt] gave: the whole, or its part that is one.
func StateDict(value any) (map[string]*Tensor, error) {
	dict, ok := value.(map[string]any)
	if !ok {
		return nil, invalid("StateDict", "a state dict is a map[string]any, and this is a %T", value)
	}
	tensors := make(map[string]*Tensor, len(dict))
	for name, one := range dict {
		t, ok := one.(*Tensor)
		if !ok {
			return nil, invalid("StateDict", "'%s' is no tensor but a %T; of what is there, %q, one may be the state dict",
				name, one, slices.Sorted(maps.Keys(dict)))
		}
		tensors[name] = t
	}
	return tensors, nil
}

// RenameRule for [Rename]: each place of a name that matches Pattern, a regular expression of ECMAScript, becomes
// Replacement, where $1 is its first group.
type RenameRule struct{ Pattern, Replacement string }

// Rename gives tensors other names, by one rule after the other: {`^module\.`, ""} after DistributedDataParallel in
// Python. Two names that become one are ErrInvalidArgument.
func Rename(tensors map[string]*Tensor, rules ...RenameRule) (map[string]*Tensor, error) {
	names := slices.Sorted(maps.Keys(tensors))
	patterns, replacements := make([]string, len(rules)), make([]string, len(rules))
	for i, rule := range rules {
		patterns[i], replacements[i] = rule.Pattern, rule.Replacement
	}
	changed, failure := c.ReplaceNames(names, patterns, replacements)
	if failure != nil {
		return nil, errorOf(failure)
	}
	renamed := make(map[string]*Tensor, len(tensors))
	for i, name := range names {
		renamed[changed[i]] = tensors[name]
	}
	return renamed, nil
}

// fromPython gives tensors that outlive every scope.
func fromPython(value c.Value) any { return nested(value, adopt) }

// fromScript is fromPython for results, whose tensors belong to the open scope.
func fromScript(value c.Value) any { return nested(value, wrap) }

func nested(value c.Value, tensor func(c.Made) *Tensor) any {
	switch v := value.(type) {
	case c.Made:
		return tensor(v)
	case []c.Value:
		return Tuple(allNested(v, tensor))
	case c.List:
		return allNested(v, tensor)
	case c.Dict:
		return nestedDict(v, tensor)
	case c.RRef:
		return bridge.NewRRef(v)
	}
	return resultOf(value)
}

func allNested(values []c.Value, tensor func(c.Made) *Tensor) []any {
	all := make([]any, len(values))
	for i, one := range values {
		all[i] = nested(one, tensor)
	}
	return all
}

func nestedDict(pairs c.Dict, tensor func(c.Made) *Tensor) any {
	named, all := map[string]any{}, map[any]any{}
	for i := 0; i < len(pairs); i += 2 {
		key, one := resultOf(pairs[i]), nested(pairs[i+1], tensor)
		if name, ok := key.(string); ok {
			named[name] = one
		}
		all[key] = one
	}
	if len(named) == len(all) {
		return named
	}
	return all
}

// putPython adds a value to the frame, and releases that where it panics.
func putPython(f *c.Frame, value any, op string) {
	pythonWriter{f, op, "no state and no file of torch.save has", nil}.add(value, "the value")
}

// putScript is putPython for the argument of a method of TorchScript, whose place is for messages.
func putScript(f *c.Frame, value any, op, place string) {
	pythonWriter{f, op, "no model of Python takes", nil}.add(value, place)
}

// putCall is putPython for what goes to another worker, and leaves the frame as it is where it panics. Lists of one kind go as such,
// bytes as a string; rref adds a reference, false for what is none.
func putCall(f *c.Frame, value any, op, place string, rref func(value any) bool) {
	pythonWriter{f, op, "no call takes", func(value any) bool {
		switch v := value.(type) {
		case []byte:
			f.String(string(v))
			return true
		case []string:
			if !slices.ContainsFunc(v, func(s string) bool { return strings.IndexByte(s, 0) >= 0 }) {
				return addArgument(f, v, op)
			}
			f.List(func() { // lists of C's strings end them at a zero
				for _, s := range v {
					f.String(s)
				}
			})
			return true
		case []int, []float64, []bool:
			return addArgument(f, v, op)
		}
		return rref(value)
	}}.put(value, place, 0)
}

type pythonWriter struct {
	f  *c.Frame
	op string
	// of other values, for messages
	refusal string
	// adds values of its own, false for others; nil: there are none
	own func(value any) bool
}

func (w pythonWriter) add(value any, place string) {
	done := false
	defer func() {
		if !done {
			w.f.Release()
		}
	}()
	w.put(value, place, 0)
	done = true
}

// place is the value's in errors, depth how many values it lies in.
func (w pythonWriter) put(value any, place string, depth int) {
	const deepest = 64 // as the C ABI has it: a value that contains itself would have no end
	if depth > deepest {
		panic(invalid(w.op, "values nest more than %d deep", deepest))
	}
	held := reflect.ValueOf(value)
	elements := func() {
		for i := range held.Len() {
			w.put(held.Index(i).Interface(), fmt.Sprintf("%s[%d]", place, i), depth+1)
		}
	}
	_, isTuple := value.(Tuple)
	switch kind := held.Kind(); {
	case w.own != nil && w.own(value):
	case kind == reflect.Map:
		w.f.Dict(func() { w.putMap(held, place, depth) })
	case isTuple || kind == reflect.Array:
		w.f.Tuple(elements)
	case kind == reflect.Slice:
		w.f.List(elements)
	case !addArgument(w.f, value, w.op):
		panic(invalid(w.op, "%s is a %T, which %s", place, value, w.refusal))
	}
}

func (w pythonWriter) putMap(m reflect.Value, place string, depth int) {
	keys := m.MapKeys()
	for i, key := range keys {
		if key.Kind() == reflect.Interface {
			keys[i] = key.Elem()
		}
		if !keys[i].IsValid() {
			panic(invalid(w.op, "%s has the key nil; it must be a string or an integer", place))
		}
		if kind := keys[i].Kind(); kind != reflect.String && !keys[i].CanInt() {
			panic(invalid(w.op, "%s has a key that is a %s; it must be a string or an integer", place, keys[i].Type()))
		}
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		if a.CanInt() && b.CanInt() {
			return cmp.Compare(a.Int(), b.Int())
		}
		return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(a.String(), b.String()))
	})
	for _, key := range keys {
		if key.CanInt() {
			w.f.Int(key.Int())
		} else {
			w.f.String(key.String())
		}
		w.put(m.MapIndex(key).Interface(), fmt.Sprintf("%s[%v]", place, key), depth+1)
	}
}
