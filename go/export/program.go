package export

import (
	"fmt"
	"runtime"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/nn"
)

// Options of [Load].
type Options struct {
	// Another archive of the same model, exported after model.eval() where the first one trains, or the other way round: nn.Train
	// and nn.Eval change between the two, which share the first one's parameters and buffers.
	OtherMode string
	// A package that AOTInductor compiled from the program for inference on the CPU, in Python:
	//
	//	torch._inductor.aoti_compile_and_package(program, package_path="compiled.pt2",
	//	    inductor_configs={"always_keep_tensor_constants": True, "joint_graph_constant_folding": False,
	//	                      "cpp.dynamic_threads": True, "aot_inductor.metadata": {"weights": "shared"}})
	//
	// It is machine code, which loading runs: take it only from whom you trust. Calls run it, with the program's own parameters
	// and buffers, where it gives what the graph does: under gotorch.NoGrad or gotorch.InferenceMode, or where nothing that the
	// program reads requires gradients; in the mode that was compiled, which is that of evaluation where it may be of both; and
	// without autocast. All other calls run the graph. As many calls run it at once as there are processors, others wait.
	Compiled string
}

// Program is a model that Python exported. Forward takes and gives one tensor; [Program.Call] any values.
//
// It has the modes that it was exported in: nn.Train or nn.Eval panics with ErrUnsupported for one that it does not have, as
// Python's does. Several goroutines may call it, as long as nobody trains it, moves it or loads its state. Source:
// torch.export.ExportedProgram.
type Program struct{ *nn.Native }

const kind = "ExportedProgram"

// Input of a program: a tensor, or a part of what it takes, by its name there.
type Input struct {
	Name        string
	Description string // "Float[s77, 3, 224, 224]" with the names of dynamic sizes, "int", or the value that it has to have
}

// Load reads an archive of torch.export.save, of PyTorch 2.8 or later. Weights are mapped: what training writes to them changes
// no file. They outlive any open scope. Errors: ErrNotFound; ErrDataLoss for an archive that is damaged or contradicts itself;
// ErrUnsupported for an operator that this LibTorch lacks, with the node of the graph, and for containers other than tuples,
// lists, dicts and named tuples. Custom operators come with gotorch.LoadLibrary. Of a compiled package: ErrInvalidArgument for
// one of another program, ErrUnsupported for another device or processor, and ErrLibrary where it does not load.
func Load(path string, options ...Options) (*Program, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	handle, failure := c.LoadExported(path, o.OtherMode, o.Compiled)
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	return &Program{bridge.Native(kind, handle, c.Trains(handle)).(*nn.Native)}, nil
}

// Call runs the program on what the Python module took: nil, bool, int, float64, string, *gotorch.Tensor, gotorch.Tuple or an
// array for a tuple, slices for lists and maps for dicts, at any depth; keyword arguments follow the others in the program's
// order. It gives what that gave: *gotorch.Tensor, int, float64, nil, gotorch.Tuple, []any (or []*gotorch.Tensor, []int …) for
// a list, and map[string]any for a dict. In training under DDP:
//
//	out := dist.Forward(ddp, tokens, func(tokens *gotorch.Tensor) map[string]any { return model.Call(tokens).(map[string]any) })
//
// It panics with *gotorch.Error: ErrInvalidArgument for inputs of another structure, shape or dtype, or outside of the ranges of
// dynamic sizes, which are named, and for what an operator refuses, with its node.
func (p *Program) Call(arguments ...any) any {
	f := c.NewFrame()
	for i, one := range arguments {
		bridge.PutScript(f, one, kind, fmt.Sprintf("argument %d", i))
	}
	handle, _ := bridge.Module(p)
	value, failure := c.CallExported(handle, f)
	runtime.KeepAlive(arguments)
	runtime.KeepAlive(p)
	if failure != nil {
		failure.Op = kind
		bridge.Must(failure)
	}
	return bridge.FromScript(value)
}

// Inputs are what [Program.Call] takes, in its order, with nested values flattened.
func (p *Program) Inputs() []Input {
	handle, _ := bridge.Module(p)
	names, descriptions, failure := c.ExportedInputs(handle)
	runtime.KeepAlive(p)
	bridge.Must(failure)
	inputs := make([]Input, len(names))
	for i := range names {
		inputs[i] = Input{names[i], descriptions[i]}
	}
	return inputs
}

// Parts is the program in parts that run one after the other, as layers of a pipeline do ([dist.ProgramLayers]): at least so
// many, or as many as there are. It is cut where the fewest values cross. Each part's ForwardAll takes the tensors that the one
// before gives, the first part's what the program takes; each has the parameters and buffers that it reads, shared with the
// program. ErrUnsupported for programs of two modes, and for those that change their inputs.
func (p *Program) Parts(least int) ([]*nn.Native, error) {
	handle, _ := bridge.Module(p)
	handles, failure := c.ExportedParts(handle, least)
	runtime.KeepAlive(p)
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	var parts []*nn.Native
	for _, one := range handles {
		parts = append(parts, bridge.Native("ExportedProgramPart", one, c.Trains(handle)).(*nn.Native))
	}
	return parts, nil
}

// Save writes an archive with the present parameters and buffers that torch.export.load opens in Python, and [Load] here; of a
// program of two modes the graph of the present one. The file appears under its name only when it is complete. ErrUnsupported
// after a change of dtype, which the graph does not know; nn.Save writes the tensors alone.
func (p *Program) Save(path string) error {
	handle, _ := bridge.Module(p)
	failure := c.SaveExported(handle, path)
	runtime.KeepAlive(p)
	return bridge.Error(failure)
}

var _ nn.Layer = (*Program)(nil)
