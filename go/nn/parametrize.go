package nn

import (
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// WeightNormOptions of [WeightNorm].
type WeightNormOptions struct {
	Dim     Opt[int] // 0, unless it is set
	Overall bool     // one norm, over all dimensions
}

// WeightNorm has a native module compute its parameter `name`, such as "weight", at each forward: g · v / ‖v‖, norms taken
// over all dimensions but one. In its place come "parametrizations.weight.original0", which is g, and ".original1", v, which
// the parameter's tensor becomes. Make the optimizer afterwards. Forwards of the module are then one at a time. It panics
// with *gotorch.Error where there is no such parameter. Source: torch.nn.utils.parametrizations.weight_norm.
func WeightNorm(m Module, name string, options ...WeightNormOptions) {
	o, with := first(options), newOptions().optInt("dim", first(options).Dim)
	if o.Overall {
		if _, both := o.Dim.Get(); both {
			panic(misuse("WeightNorm takes Dim or Overall, not both"))
		}
		with.frame.Name("dim")
		with.frame.None()
	}
	parametrize(m, "weight_norm", name, ".original1", with)
}

// SpectralNormOptions of [SpectralNorm].
type SpectralNormOptions struct {
	PowerIterations int          // at each forward in training mode; 1, unless it is set
	Eps             Opt[float64] // 1e-12, unless it is set
	Dim             Opt[int]     // of the rows; 0, of transposed convolutions 1, unless it is set
}

// SpectralNorm has a native module compute its parameter `name` at each forward: divided by its largest singular value as a
// matrix, which the power method approaches from forward to forward. In its place comes "parametrizations.weight.original",
// which the parameter's tensor becomes, and buffers with the singular vectors. Make the optimizer afterwards. Forwards of the
// module are then one at a time. It panics with *gotorch.Error where there is no such parameter. Source:
// torch.nn.utils.parametrizations.spectral_norm.
func SpectralNorm(m Module, name string, options ...SpectralNormOptions) {
	o := first(options)
	parametrize(m, "spectral_norm", name, ".original", newOptions().setInt("n_power_iterations", o.PowerIterations).
		optDouble("eps", o.Eps).optInt("dim", o.Dim))
}

// RemoveParametrizations makes what [WeightNorm] or [SpectralNorm] computes the parameter `name` again. Source:
// torch.nn.utils.parametrize.remove_parametrizations.
func RemoveParametrizations(m Module, name string) {
	n := nativeOf(m, "RemoveParametrizations")
	if err := c.RemoveParametrizations(n.handle, name); err != nil {
		err.Op = "nn.RemoveParametrizations"
		bridge.Must(err)
	}
	before := "parametrizations." + name
	again := n.tensor(before + ".original")
	if again == nil {
		again = n.tensor(before + ".original1")
	}
	n.refresh(Named{name, again})
}

func nativeOf(m Module, caller string) *Native {
	has, ok := m.(interface{ native() *Native })
	if !ok {
		panic(misuse("%s takes a module of LibTorch's, such as a Linear, not a %T: call it for the modules in that", caller, m))
	}
	return has.native()
}

func parametrize(m Module, kind, name, original string, with options) {
	caller := map[string]string{"weight_norm": "WeightNorm", "spectral_norm": "SpectralNorm"}[kind]
	n := nativeOf(m, caller)
	if n.tied != nil {
		panic(misuse("%s of a module whose parameters are tied: its weight is another module's too", caller))
	}
	kept := n.tensor(name)
	if err := c.Parametrize(n.handle, kind, name, with.frame); err != nil {
		err.Op = "nn." + caller
		bridge.Must(err)
	}
	n.refresh(Named{"parametrizations." + name + original, kept})
}

// refresh lists parameters and buffers again. Tensors that are known by their name stay the objects that they were, and so
// does the renamed one.
func (n *Native) refresh(renamed Named) {
	known := map[string]*gotorch.Tensor{renamed.Name: renamed.Tensor}
	again := func(list []c.Named, failure *c.Failure, before []Named) []Named {
		bridge.Must(failure)
		for _, one := range before {
			known[one.Name] = one.Tensor
		}
		named := make([]Named, len(list))
		for i, one := range list {
			adopted := bridge.Adopt(one.Tensor).(*gotorch.Tensor)
			if same := known[one.Name]; same != nil {
				adopted.Close()
				adopted = same
			}
			named[i] = Named{one.Name, adopted}
		}
		return named
	}
	parameters, err := c.Parameters(n.handle)
	n.owned.parameters = again(parameters, err, n.owned.parameters)
	buffers, err := c.Buffers(n.handle)
	n.owned.buffers = again(buffers, err, n.owned.buffers)
	runtime.KeepAlive(n)
}
