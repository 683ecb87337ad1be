// Package nn has LibTorch's modules, and what builds a program's own from them.
//
// A module of one's own is a struct that embeds [Base] and has other modules, or slices and maps of them, as exported
// fields:
//
//	type Net struct {
//		nn.Base
//		Conv1, Conv2 *nn.Conv2d
//		FC           *nn.Linear
//	}
//
//	func (n *Net) Forward(x *gotorch.Tensor) *gotorch.Tensor {
//		x = n.Conv2.Forward(n.Conv1.Forward(x).ReLU()).ReLU()
//		return n.FC.Forward(x.Flatten(1, -1))
//	}
//
// Exported fields of type *gotorch.Tensor are parameters, frozen ones too; those tagged `nn:"buffer"` are buffers, those
// tagged `nn:"-"`, such as a mask or what a forward keeps, are no part of the module. Modules and tensors may also lie in
// slices, and in maps by strings or whole numbers. Names are PyTorch's: field FC's weight is "fc.weight"; a tag
// `nn:"name=head"` gives another. What a module that is embedded has, such as the *Linear of a struct that adds to it, is
// named as if it were the struct's own. Where a field leads to a module or tensor that would not be found, the functions
// below panic and name it.
//
// [Parameters], [Train], [Save] and the other functions work on any module. [Tie] has two layers share a parameter, [Clone]
// copies a tree, [RegisterForwardHook] has a function see or change what a layer computes, [Summarize] lists the tree with
// shapes.
//
// [DataParallel] has several replicas of a module compute, each with a part of the batch.
//
// Constructors panic with *gotorch.Error on options that a module does not take, as forward passes do on shapes.
package nn
