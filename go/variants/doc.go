// Package variants has the operators of gotorch and its packages in two forms that few programs need.
//
// Functions that end in Out write their result into a tensor that is given, as Python's out= does:
//
//	variants.AddOut(x, y, sum)            // torch.add(x, y, out=sum)
//	variants.LinalgNormOut(x, norm)       // torch.linalg.norm(x, out=norm)
//
// They save an allocation for each call. They are not differentiable: where one of their tensors requires a gradient they are
// for the inside of NoGrad. A tensor of another shape is resized; an element type that the result does not fit is an error.
//
// Functions that end in Copy give a new tensor where the operator gives a view: ViewCopy(x, 2, 3) shares no memory with x.
//
// Their names are those of the methods and functions with the ending, and before it Linalg, FFT or Special for what these
// packages have. A method's tensor is the first argument. They take the options of their operator. Like all of tensor
// mathematics they panic with *gotorch.Error on misuse.
package variants
