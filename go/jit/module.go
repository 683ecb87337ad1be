package jit

import (
	"fmt"
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
)

// Module is a module of TorchScript. A buffer that a method assigns stays the same tensor, with the new value.
//
// Several goroutines may call methods that assign no attribute, as long as nobody trains, moves or loads the module.
// Source: torch.jit.ScriptModule.
type Module struct{ *nn.Native }

const kind = "ScriptModule"

func newModule(handle c.Module) *Module {
	return &Module{bridge.Native(kind, handle, c.Trains(handle)).(*nn.Native)}
}

// Load reads a file of torch.jit.save. Its tensors come to the CPU, and outlive any open scope. ErrNotFound;
// ErrDataLoss for a file that is damaged or none of TorchScript; ErrUnsupported for an operator that this LibTorch
// lacks, and for what loading would have to run, such as modules of quantized operators.
func Load(path string) (*Module, error) { return made(c.LoadScript(path)) }

// LoadBytes reads what [Module.Bytes] gives.
func LoadBytes(data []byte) (*Module, error) { return made(c.LoadScriptBytes(data)) }

// Compile makes functions of TorchScript the methods of a module without tensors. They may call those above them, and
// the functions of torch; a parameter without a type is a tensor:
//
//	module, err := jit.Compile(`
//	def scaled(x, by: float = 2.0):
//	    return torch.relu(x) * by
//	`)
//	y := module.Call("scaled", x).(*gotorch.Tensor)
//
// ErrInvalidArgument says where the text is wrong. Source: torch::jit::compile.
func Compile(source string) (*Module, error) { return made(c.CompileScript(source)) }

func made(handle c.Module, failure *c.Failure) (*Module, error) {
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	return newModule(handle), nil
}

// Call calls a method. Arguments are nil, bool, int, float64, string, *gotorch.Tensor, gotorch.DType, gotorch.Device,
// gotorch.Tuple or an array for a tuple, slices for lists and maps for dicts, at any depth; they become what the
// method's schema wants, so that a slice does for a tuple and an int for a float. Those left out at the end have the
// schema's defaults. It gives the same kinds: lists of tensors, ints, float64s, bools and strings as slices of these,
// other lists as []any, a tuple as gotorch.Tuple, and a dict as map[string]any or, where its keys are no strings,
// map[any]any.
//
// It panics with *gotorch.Error: ErrNotFound for an unknown method, which lists those that there are,
// ErrInvalidArgument for arguments that do not fit, with the schema, and for what the method raises.
func (m *Module) Call(method string, arguments ...any) any {
	f := c.NewFrame()
	for i, one := range arguments {
		if t, ok := one.(*gotorch.Tensor); ok && t != nil { // most are
			f.Tensor(bridge.Handle(t, kind))
			continue
		}
		bridge.PutScript(f, one, kind+"."+method, fmt.Sprintf("argument %d", i))
	}
	handle, _ := bridge.Module(m)
	value, failure := c.CallScript(handle, method, f)
	runtime.KeepAlive(arguments)
	runtime.KeepAlive(m)
	if failure != nil {
		failure.Op = kind
		bridge.Must(failure)
	}
	return bridge.FromScript(value)
}

// Methods are the names of its methods, sorted.
func (m *Module) Methods() []string {
	handle, _ := bridge.Module(m)
	names, failure := c.ScriptMethods(handle)
	runtime.KeepAlive(m)
	bridge.Must(failure)
	return names
}

// Schema is what a method takes and gives: "forward(x: Tensor, by: int = 1) -> Tensor". ErrNotFound.
func (m *Module) Schema(method string) (string, error) {
	handle, _ := bridge.Module(m)
	schema, failure := c.ScriptSchema(handle, method)
	runtime.KeepAlive(m)
	return schema, bridge.Error(failure)
}

// Save writes a file that torch.jit.load reads in Python, and [Load] here. It appears under its name only when it is
// complete.
func (m *Module) Save(path string) error {
	handle, _ := bridge.Module(m)
	failure := c.SaveScript(handle, path)
	runtime.KeepAlive(m)
	return bridge.Error(failure)
}

// Bytes is what [Module.Save] would write.
func (m *Module) Bytes() ([]byte, error) {
	handle, _ := bridge.Module(m)
	data, failure := c.ScriptBytes(handle)
	runtime.KeepAlive(m)
	return data, bridge.Error(failure)
}
