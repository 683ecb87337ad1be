package nn

import (
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// NamedModules are m, whose name is "", and all modules in it by their paths, each once, parents first. Source:
// torch.nn.Module.named_modules.
func NamedModules(m Module) []Child {
	var all []Child
	seen := map[Module]bool{}
	var visit func(path string, m Module)
	visit = func(path string, m Module) {
		if m == nil || seen[m] {
			return
		}
		seen[m] = true
		all = append(all, Child{path, m})
		for _, child := range Children(m) {
			if path == "" {
				visit(child.Name, child.Module)
			} else {
				visit(path+"."+child.Name, child.Module)
			}
		}
	}
	visit("", m)
	return all
}

// Apply calls f with all modules of the tree, parts before what they are parts of. Source: torch.nn.Module.apply.
func Apply(m Module, f func(m Module)) {
	seen := map[Module]bool{}
	var visit func(m Module)
	visit = func(m Module) {
		if m == nil || seen[m] {
			return
		}
		seen[m] = true
		for _, child := range Children(m) {
			visit(child.Module)
		}
		f(m)
	}
	visit(m)
}

// SetRequiresGrad has autograd follow all parameters, or freezes them: optimizers leave those alone that have no gradient.
// Source: torch.nn.Module.requires_grad_.
func SetRequiresGrad(m Module, on bool) {
	for _, t := range Parameters(m) {
		t.SetRequiresGrad(on)
	}
}

// TrainableParameterCount is the number of elements of all parameters that are not frozen.
func TrainableParameterCount(m Module) (count int) {
	for _, t := range Parameters(m) {
		if t.RequiresGrad() {
			count += t.Numel()
		}
	}
	return count
}

var cloneTensor = bridge.NewOperator("aten::clone", "")

// Clone is a copy of the tree with parameters and buffers of its own, which require gradients where m's do and have none
// yet. Hooks are called with the copy's modules, and stay when the original's are removed. What else structs have, the copy
// shares. Source: copy.deepcopy of a torch.nn.Module.
func Clone[M Module](m M) M {
	r := newReplicator(func(t *gotorch.Tensor) (copied *gotorch.Tensor) {
		gotorch.NoGrad(func() {
			f := c.NewFrame()
			f.Tensor(bridge.Handle(t, "nn.Clone"))
			copied = bridge.Adopt(cloneTensor.One(f)).(*gotorch.Tensor)
			runtime.KeepAlive(t)
		})
		return copied
	})
	copied := r.tree(m).(M)
	for from, to := range r.tensors {
		if to.RequiresGrad() != from.RequiresGrad() {
			to.SetRequiresGrad(from.RequiresGrad())
		}
	}
	Apply(copied, func(m Module) { m.shareHooks(m.hooks(false).copyFor(m)) })
	return copied
}
