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
// Exported fields of type *gotorch.Tensor that require gradients are parameters, those tagged `nn:"buffer"` are
// buffers. Names are PyTorch's: field FC's weight is "fc.weight"; a tag `nn:"name=head"` gives another.
// [Parameters], [Train], [Save] and the other functions work on any module.
//
// [DataParallel] has several replicas of a module compute, each with a part of the batch.
//
// Constructors panic with *gotorch.Error on options that a module does not take, as forward passes do on shapes.
package nn
