package nn

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

// Native is a module of LibTorch's, from the registry of libtandem. The typed modules, such as [Linear], embed it.
type Native struct {
	Base
	kind   string
	handle c.Module
	owned  parts
	given  map[string]any // the options that it was made with
	tied   []string       // those of its parameters that Tie put there
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

func (o options) optInt(name string, n gotorch.Opt[int]) options { return opt(o, name, n, o.int) }

// setInt, setInts and setString leave an option out that has its zero value.

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

// parameters of constructors have names of their own.
var parametersOf = map[string]string{"in_features": "in", "out_features": "out", "in_channels": "in", "out_channels": "out",
	"kernel_size": "kernel", "num_features": "features", "normalized_shape": "shape", "num_embeddings": "count",
	"embedding_dim": "dim", "input_size": "input", "hidden_size": "hidden", "output_size": "output", "p": "p", "dim": "dim"}

// create is made for the constructor of a typed module, whose errors name its parameters and options.
func (o options) create(kind string) *Native {
	return o.made(kind, func(err *c.Failure) {
		err.Op, err.Message = "nn.New"+kind, names.Options(strings.TrimPrefix(err.Message, kind+": "),
			slices.Sorted(maps.Keys(o.given)), parametersOf)
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

// newNative takes a handle.
func newNative(kind string, handle c.Module) *Native {
	n := &Native{kind: kind, handle: handle}
	runtime.AddCleanup(n, func(handle c.Module) { c.FreeModule(handle) }, handle)
	parameters, err := c.Parameters(handle)
	bridge.Must(err)
	buffers, err := c.Buffers(handle)
	bridge.Must(err)
	n.owned.parameters, n.owned.buffers = adopt(parameters), adopt(buffers)
	return n
}

func adopt(list []c.Named) []Named {
	named := make([]Named, len(list))
	for i, one := range list {
		named[i] = Named{one.Name, bridge.Adopt(one.Tensor).(*gotorch.Tensor)}
	}
	return named
}

// New makes a module of the registry by its name in torch::nn, such as "Conv3d", and its options, by LibTorch's names:
// bool, int, float64, string and []int. It panics with *gotorch.Error, which names what is unknown or missing.
func New(kind string, with map[string]any) *Native {
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
		default:
			panic(misuse("option %q of %s is a %T, which no module takes", name, kind, value))
		}
	}
	return o.made(kind, func(*c.Failure) {})
}

func (n *Native) native() *Native { return n }

func init() {
	bridge.Module = func(m any) (c.Module, string) {
		if has, ok := m.(interface{ native() *Native }); ok {
			return has.native().handle, has.native().kind
		}
		return nil, ""
	}
}

func (n *Native) setTraining(on bool) {
	n.Base.setTraining(on)
	bridge.Must(c.Train(n.handle, on))
	runtime.KeepAlive(n)
}

// tensor is the parameter or buffer of that name, nil when there is none.
func (n *Native) tensor(name string) *gotorch.Tensor {
	for _, list := range [][]Named{n.owned.parameters, n.owned.buffers} {
		for _, one := range list {
			if one.Name == name {
				return one.Tensor
			}
		}
	}
	return nil
}

// Forward calls a module of one input and one output.
func (n *Native) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	if n.tied != nil {
		return tiedForwards[n.kind](n, x)
	}
	f := c.NewFrame()
	f.Tensor(bridge.Handle(x, n.kind))
	made, err := c.ForwardOne(n.handle, f)
	runtime.KeepAlive(x)
	runtime.KeepAlive(n)
	if err != nil {
		err.Op = n.kind
		bridge.Must(err)
	}
	return bridge.Wrap(made).(*gotorch.Tensor)
}

// ForwardAll calls a module of any inputs, as torch.nn has them: tensors, a tuple of tensors such as an LSTM's states as a
// []*gotorch.Tensor, bool, int, []int. Optional ones are nil, also of these types, and trailing ones may be left out; a
// list that is empty, but not nil, is a tuple of nothing. It gives all tensors of what the module gives, in order: of an
// LSTM's (y, (h, c)) three; nil for one that is not there.
func (n *Native) ForwardAll(inputs ...any) []*gotorch.Tensor {
	for n.tied != nil && len(inputs) > 1 && isNil(inputs[len(inputs)-1]) {
		inputs = inputs[:len(inputs)-1]
	}
	if n.tied != nil && len(inputs) == 1 {
		if x, ok := inputs[0].(*gotorch.Tensor); ok {
			return []*gotorch.Tensor{n.Forward(x)}
		}
	}
	f := c.NewFrame()
	for i, input := range inputs {
		n.add(f, i, input)
	}
	values, err := c.Forward(n.handle, f, 8)
	runtime.KeepAlive(inputs)
	runtime.KeepAlive(n)
	if err != nil {
		err.Op = n.kind
		bridge.Must(err)
	}
	return appendTensors(make([]*gotorch.Tensor, 0, 4), values)
}

func isNil(input any) bool {
	switch v := input.(type) {
	case nil:
		return true
	case *gotorch.Tensor:
		return v == nil
	case []*gotorch.Tensor:
		return v == nil
	case []int:
		return v == nil
	}
	return false
}

// add puts an input of ForwardAll into its frame.
func (n *Native) add(f *c.Frame, i int, input any) {
	tensor := func(t *gotorch.Tensor) {
		if t == nil {
			f.None()
		} else {
			f.Tensor(bridge.Handle(t, n.kind))
		}
	}
	if isNil(input) {
		f.None()
		return
	}
	switch v := input.(type) {
	case *gotorch.Tensor:
		tensor(v)
	case []*gotorch.Tensor:
		f.Tuple(func() {
			for _, t := range v {
				tensor(t)
			}
		})
	case bool:
		f.Bool(v)
	case int:
		f.Int(int64(v))
	case []int:
		f.Ints(v)
	default:
		panic(misuse("input %d of %s is a %T, which no module takes; give a tensor, a slice of tensors, bool, int, []int or nil",
			i, n.kind, input))
	}
}

// appendTensors lists the tensors of results; those of a tuple stand for it.
func appendTensors(list []*gotorch.Tensor, values []c.Value) []*gotorch.Tensor {
	for _, value := range values {
		switch v := value.(type) {
		case c.Made:
			list = append(list, bridge.Wrap(v).(*gotorch.Tensor))
		case []c.Value:
			list = appendTensors(list, v)
		default:
			list = append(list, nil)
		}
	}
	return list
}

func (n *Native) move(device gotorch.Opt[gotorch.Device], dtype gotorch.Opt[gotorch.DType], current gotorch.Device) {
	to := device.Or(current)
	bridge.Must(c.MoveModule(n.handle, int32(to.Kind), int32(to.Index), int32(dtype.Or(-1))))
	runtime.KeepAlive(n)
}
