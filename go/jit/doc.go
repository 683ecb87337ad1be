// Package jit has modules of TorchScript, which Python's torch.jit.script, or torch.jit.trace, and torch.jit.save
// make: they run, train and are saved without Python.
//
//	model, err := jit.Load("model.pt")
//	logits := model.Forward(images)                       // a module of one input and one output is an nn.Layer
//	scores := model.Call("score", images, []int{1, 2})    // any method; nested values
//
// A [Module] is a module as those of package nn are: its parameters and buffers have Python's names, so that
// optimizers, dist.DDP, nn.Save, nn.Train and nn.To work with it. [Compile] makes functions of their text, [Trace] a
// module of a function of Go's, and [Module.Save] writes what Python's torch.jit.load reads.
//
// PyTorch has deprecated TorchScript in favour of torch.export. A file is a program of whoever wrote it: loading runs
// nothing of it, but its methods do what their code says.
package jit
