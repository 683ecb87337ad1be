// Package gotorch trains PyTorch models from Go: tensors, automatic differentiation and every operator of LibTorch, on
// CPU and CUDA. Modules are in nn, optimizers in optim, data loading in data and recordio, data-parallel training on
// many processes in dist.
//
// # Loading
//
// The package calls libtandem through cgo, which it opens at run time: a program builds without it. [Load] opens it
// and reports what is wrong; without Load the first use does. It is looked for at TANDEM_LIBRARY (the absolute path of
// the library or its folder), beside the program, in ../lib from there where the program's folder is called bin, in
// ~/.local/lib and in the system's folders.
//
// # Tensors
//
// [NewTensor] and [From] make tensors of Go's numbers, [ToSlice] copies them back, [Data] shows a tensor's memory.
// [Tensor.Index] is Python's x[…], and tensors print as Python prints them.
//
// # Operators
//
// Operators are methods of [Tensor], x.Add(y), and functions where Python has functions: [Cat], [Where], [Zeros]. I at the end
// overwrites the tensor: x.AddI(y). An overload adds its name: x.AddScalar(2), x.SumDim([]int{0}). Packages linalg, fft,
// special and nn/functional have what Python has under these names; package variants what writes into given tensors.
// docs/operators.md lists all by LibTorch's name, and [Call] calls any by that.
//
// # Options
//
// What has a default is a field of a struct that may be left out. A field that is not set has its zero value (nil, false,
// 0, ""), which always means the default: Stride []int, KeepDim bool. Where zero is another setting than the default the
// field is an [Opt], which [Some] sets: Bias: Some(false), Eps: Some(0.0), DType: Some(Uint8).
//
// # Errors
//
// Tensor mathematics panics with *[Error] on misuse, such as shapes that do not fit; [Try] turns that into an error.
// Whatever can fail without a mistake in the program (backward passes, optimizer steps, files, processes, peers)
// returns an error. errors.Is tells codes apart: errors.Is(err, gotorch.ErrTimeout).
//
// # Memory
//
// Tensors own memory that Go's collector does not see. [Scope] frees all tensors made inside it, which is what a
// training step wants; [Tensor.Close] frees one at once. Tensors outside of scopes are freed some time after they
// become unreachable: their bytes are counted, and past a limit the collector is called.
package gotorch
