package nn

import (
	"maps"
	"slices"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

// New makes a module of the registry by its name in torch::nn, such as "Conv3d", and its options, by LibTorch's names:
// bool, int, float64, string, []int, []float64, *gotorch.Tensor and nil for none. It panics with *gotorch.Error, which names what is unknown or missing.
func New(kind string, with map[string]any) *Native {
	return optionsOf(kind, with).made(kind, func(*c.Failure) {})
}

func init() {
	bridge.CreateModule = func(constructor, kind string, with map[string]any, options, parameters []string) any {
		return optionsOf(kind, with).createFor(constructor, kind, options, parameters)
	}
}

func optionsOf(kind string, with map[string]any) options {
	o := newOptions()
	for name, value := range with {
		switch v := value.(type) {
		case bool:
			o.bool(name, v)
		case int:
			o.int(name, v)
		case float64:
			o.double(name, v)
		case string:
			o.string(name, v)
		case []int:
			o.ints(name, v)
		case []float64:
			o.doubles(name, v)
		case *gotorch.Tensor:
			o.tensor(name, v)
		case nil:
			o.none(name, true)
		default:
			panic(misuse("option %q of %s is a %T, which no module takes", name, kind, value))
		}
	}
	return o
}

// options are what a native module is made with, by LibTorch's names.
type options struct {
	frame *c.Frame
	given map[string]any
}

func newOptions() options { return options{c.NewFrame(), map[string]any{}} }

func (o options) int(name string, n int) options {
	o.given[name] = n
	o.frame.Name(name)
	o.frame.Int(int64(n))
	return o
}

func (o options) ints(name string, list []int) options {
	o.given[name] = list
	o.frame.Name(name)
	o.frame.Ints(list)
	return o
}

func (o options) bool(name string, b bool) options {
	o.given[name] = b
	o.frame.Name(name)
	o.frame.Bool(b)
	return o
}

func (o options) double(name string, x float64) options {
	o.given[name] = x
	o.frame.Name(name)
	o.frame.Double(x)
	return o
}

func (o options) string(name, text string) options {
	o.given[name] = text
	o.frame.Name(name)
	o.frame.String(text)
	return o
}

func (o options) doubles(name string, list []float64) options {
	o.given[name] = list
	o.frame.Name(name)
	o.frame.Doubles(list)
	return o
}

func (o options) tensor(name string, t *gotorch.Tensor) options {
	o.given[name] = t
	o.frame.Name(name)
	o.frame.Tensor(bridge.Handle(t, "nn.New"))
	return o
}

// none switches off what has a default.
func (o options) none(name string, off bool) options {
	if off {
		o.given[name] = nil
		o.frame.Name(name)
		o.frame.None()
	}
	return o
}

// setInt and its like leave an option out that has its zero value.

func (o options) whenTrue(name string, b bool) options {
	if !b {
		return o
	}
	return o.bool(name, b)
}

func (o options) setDouble(name string, x float64) options {
	if x == 0 {
		return o
	}
	return o.double(name, x)
}

func (o options) setDoubles(name string, list []float64) options {
	if list == nil {
		return o
	}
	return o.doubles(name, list)
}

func (o options) setTensor(name string, t *gotorch.Tensor) options {
	if t == nil {
		return o
	}
	return o.tensor(name, t)
}

func (o options) setInt(name string, n int) options {
	if n == 0 {
		return o
	}
	return o.int(name, n)
}

func (o options) setInts(name string, list []int) options {
	if list == nil {
		return o
	}
	return o.ints(name, list)
}

func (o options) setString(name, text string) options {
	if text == "" {
		return o
	}
	return o.string(name, text)
}

func (o options) optInt(name string, n gotorch.Opt[int]) options { return opt(o, name, n, o.int) }

func (o options) optBool(name string, b gotorch.Opt[bool]) options { return opt(o, name, b, o.bool) }

func (o options) optDouble(name string, x gotorch.Opt[float64]) options {
	return opt(o, name, x, o.double)
}

// opt gives an option that is set to its setter.
func opt[T any](o options, name string, value gotorch.Opt[T], set func(name string, value T) options) options {
	if value, ok := value.Get(); ok {
		return set(name, value)
	}
	return o
}

// create is made for the constructor of a typed module, whose errors name its options, and those that are parameters.
func (o options) create(kind string, positional ...string) *Native {
	return o.createFor("nn.New"+kind, kind, slices.Sorted(maps.Keys(o.given)), positional)
}

func (o options) createFor(constructor, kind string, named, positional []string) *Native {
	return o.made(kind, func(err *c.Failure) {
		parameters := map[string]string{}
		for _, name := range positional {
			parameters[name] = names.Parameter(name)
		}
		err.Op, err.Message = constructor, names.Options(strings.TrimPrefix(err.Message, kind+": "), named, parameters)
	})
}

// made makes a module of the registry; panics with *gotorch.Error, of a failure that `named` has put names into.
func (o options) made(kind string, named func(*c.Failure)) *Native {
	handle, err := c.CreateModule(kind, o.frame)
	if err != nil {
		named(err)
		bridge.Must(err)
	}
	n := newNative(kind, handle)
	n.given = o.given
	if o.given["sparse"] == true {
		n.owned.sparse = n.owned.parameters
	}
	return n
}
