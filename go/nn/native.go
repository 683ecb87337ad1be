package nn

import (
	"fmt"
	"runtime"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
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

// shareTied has parameters that are one tensor be one here as well.
func (p *parts) shareTied() {
	known := map[string][]*gotorch.Tensor{}
	for i, one := range p.parameters {
		shape := fmt.Sprint(one.Tensor.Shape())
		for _, other := range known[shape] {
			if c.IsSame(bridge.Handle(one.Tensor, one.Name), bridge.Handle(other, one.Name)) {
				p.parameters[i].Tensor = other
			}
		}
		known[shape] = append(known[shape], p.parameters[i].Tensor)
	}
}

func (n *Native) native() *Native { return n }

func init() {
	bridge.Module = func(m any) (c.Module, string) {
		if has, ok := m.(interface{ native() *Native }); ok {
			return has.native().handle, has.native().kind
		}
		return nil, ""
	}
	bridge.Native = func(kind string, handle c.Module, training bool) any {
		n := newNative(kind, handle)
		n.evaluates = !training
		n.owned.shareTied()
		return n
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
	if n.hookSet != nil {
		return withHooks(n.hookSet, x, n.forward)
	}
	return n.forward(x)
}

func (n *Native) forward(x *gotorch.Tensor) *gotorch.Tensor {
	if n.tied != nil {
		return tiedForwards[n.kind](n, x)
	}
	f := c.NewFrame()
	f.Tensor(bridge.Handle(x, n.kind))
	made, err := c.ForwardOne(n.handle, f)
	runtime.KeepAlive(x)
	runtime.KeepAlive(n)
	n.must(err)
	return bridge.Wrap(made).(*gotorch.Tensor)
}

// must panics with a failure of a forward, which begins with the module's name once.
func (n *Native) must(err *c.Failure) {
	if err != nil {
		err.Op, err.Message = n.kind, strings.TrimPrefix(err.Message, n.kind+": ")
		bridge.Must(err)
	}
}

// ForwardAll calls a module of any inputs, as torch.nn has them: tensors, a tuple of tensors such as an LSTM's states as a
// []*gotorch.Tensor, bool, int, []int. Optional ones are nil, also of these types, and trailing ones may be left out; a
// list that is empty, but not nil, is a tuple of nothing. It gives all tensors of what the module gives, in order: of an
// LSTM's (y, (h, c)) three; nil for one that is not there.
func (n *Native) ForwardAll(inputs ...any) []*gotorch.Tensor {
	hooks := n.hookSet.list()
	inputs = before(hooks, inputs)
	return after(hooks, inputs, n.forwardAll(inputs))
}

func (n *Native) forwardAll(inputs []any) []*gotorch.Tensor {
	for n.tied != nil && len(inputs) > 1 && isNil(inputs[len(inputs)-1]) {
		inputs = inputs[:len(inputs)-1]
	}
	if n.tied != nil && len(inputs) == 1 {
		if x, ok := inputs[0].(*gotorch.Tensor); ok {
			return []*gotorch.Tensor{n.forward(x)}
		}
	}
	f := c.NewFrame()
	for i, input := range inputs {
		n.add(f, i, input)
	}
	room := 8
	if n.kind == "ExportedProgramPart" { // gives whatever crosses a cut
		room = 64
	}
	values, err := c.Forward(n.handle, f, room)
	runtime.KeepAlive(inputs)
	runtime.KeepAlive(n)
	n.must(err)
	return appendTensors(make([]*gotorch.Tensor, 0, 4), values)
}

// orNil is an optional input of ForwardAll.
func orNil[T any](value Opt[T]) any {
	if value, ok := value.Get(); ok {
		return value
	}
	return nil
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
