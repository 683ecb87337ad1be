package rpc_test

import (
	"context"

	"tandem.example/gotorch"
	"tandem.example/gotorch/rpc"
)

func run(ctx context.Context, a, b *gotorch.Tensor, use func(sum, doubled, product any)) error {
	if err := rpc.Register("twice", func(arguments []any) (any, error) {
		return arguments[0].(*gotorch.Tensor).MulScalar(2), nil
	}); err != nil {
		return err
	}
	if err := rpc.Init(ctx); err != nil { // under `tandem run`
		return err
	}
	sum, err := rpc.Call(ctx, "worker1", "aten::add", a, b)
	if err != nil {
		return err
	}
	later, err := rpc.CallAsync(ctx, "worker1", "twice", a)
	if err != nil {
		return err
	}
	doubled, err := later.Wait(ctx)
	if err != nil {
		return err
	}
	there, err := rpc.Remote(ctx, "worker1", "aten::mul", a, b)
	if err != nil {
		return err
	}
	defer there.Close()
	product, err := there.ToHere(ctx)
	if err != nil {
		return err
	}
	use(sum, doubled, product)
	return rpc.Shutdown(ctx, true)
}

// A program that tandem run starts on each worker; the first one calls the second.
func Example() {
	a, b := gotorch.Ones([]int{2}), gotorch.Ones([]int{2})
	_ = run(context.Background(), a, b, func(sum, doubled, product any) {})
}
