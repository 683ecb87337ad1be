// Package rpc has processes of a job call each other instead of exchanging tensors in step: operators of LibTorch,
// methods of TorchScript's modules, and functions that programs register. Values may stay where they were made, behind
// references; autograd goes through calls, and optimizers step parameters where they are.
//
//	if err := rpc.Register("twice", twice); err != nil { // func twice(arguments []any) (any, error)
//		return err
//	}
//	if err := rpc.Init(ctx); err != nil { // under `tandem run`
//		return err
//	}
//	sum, err := rpc.Call(ctx, "worker1", "aten::add", a, b)
//	if err != nil {
//		return err
//	}
//	there, err := rpc.Remote(ctx, "worker1", "twice", sum) // a reference to what it gives
//	if err != nil {
//		return err
//	}
//	doubled, err := there.ToHere(ctx)
//	if err != nil {
//		return err
//	}
//	return rpc.Shutdown(ctx, true)
//
// Values are nil, bool, int, float64, complex128, string, []byte, *gotorch.Tensor, *[RRef], slices for lists,
// gotorch.Tuple or an array for a tuple, and maps, at any depth. Bytes come as a string of these bytes, lists of ints,
// float64s, bools, strings of UTF-8 and tensors as slices of these, other lists as []any, and maps as map[string]any or, where not
// all keys are strings, map[any]any. Tensors come as copies on the CPU, in the scope that is open on the goroutine.
//
// Workers trust each other: whoever reaches a worker's port can call every operator of LibTorch in that process.
// docs/rpc.md has more. Source: torch.distributed.rpc.
package rpc
