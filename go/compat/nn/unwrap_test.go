package nn_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	core "tandem.example/gotorch"
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn"
	F "tandem.example/gotorch/compat/nn/functional"
	"tandem.example/gotorch/dist"
	corenn "tandem.example/gotorch/nn"
)

// Two ranks train one network as one process would train it with both halves of the batch.
func TestUnwrapUnderDDP(t *testing.T) {
	x, target := torch.RandN([]int64{8, 3}, false), torch.NewTensor([]int64{0, 1, 0, 1, 1, 0, 1, 0})
	network := func(value float32) *nn.SequentialModule {
		net := nn.Sequential(nn.Linear(3, 4, true), nn.Functional(torch.Tanh), nn.Linear(4, 2, true))
		for i, p := range net.Parameters() {
			p.SetData(torch.View(torch.Linspace(-value, value+float32(i), int64(p.Unwrap().Numel()), false), p.Shape()...))
		}
		return net
	}
	half := func(t torch.Tensor, rank int) torch.Tensor {
		return torch.Wrap(t.Unwrap().Index(core.Slice(4*rank, 4*rank+4)))
	}
	step := func(net *nn.SequentialModule, forward func() torch.Tensor, target torch.Tensor) {
		opt := torch.SGD(0.5, 0, 0, 0, false)
		opt.AddParameters(net.Parameters())
		loss := F.CrossEntropy(forward(), target, torch.Tensor{}, -100, "mean")
		loss.Backward()
		opt.Step()
	}
	want := network(1)
	step(want, func() torch.Tensor { return want.Forward(x).(torch.Tensor) }, target)

	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	nets, failed := [2]*nn.SequentialModule{network(1), network(2)}, [2]error{}
	var ranks sync.WaitGroup
	for rank, net := range nets {
		ranks.Go(func() {
			failed[rank] = func() error {
				group, err := dist.Init(context.Background(), dist.Options{Backend: "gloo", Store: store, Rank: core.Some(rank),
					WorldSize: 2, Name: "compat"})
				if err != nil {
					return err
				}
				defer group.Close()
				ddp, err := dist.NewDDP(group, nn.Unwrap(net))
				if err != nil {
					return err
				}
				defer ddp.Close()
				return core.Try(func() {
					step(net, func() torch.Tensor { return torch.Wrap(ddp.Forward(half(x, rank).Unwrap())) }, half(target, rank))
				})
			}()
		})
	}
	ranks.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		t.Fatal(err)
	}
	for name, p := range want.NamedParameters() {
		if !torch.AllClose(p, nets[0].NamedParameters()[name]) || !torch.Equal(nets[0].NamedParameters()[name], nets[1].NamedParameters()[name]) {
			t.Error(name, p, nets[0].NamedParameters()[name], nets[1].NamedParameters()[name])
		}
	}
}

func TestUnwrap(t *testing.T) {
	norm := nn.BatchNorm2d(2, 1e-5, 0.1, true, true)
	var native corenn.Layer
	norm.Apply(func(m nn.IModule) { native = nn.Unwrap(m) })
	if got := corenn.Parameters(native); len(got) != 2 || !got[0].IsSame(norm.Bias.Unwrap()) || len(corenn.Buffers(native)) != 2 {
		t.Error(got)
	}
	wantPanic(t, "Forward", func() { nn.Unwrap(&add{}) })
	wantPanic(t, "string", func() {
		nn.Unwrap(nn.Sequential(&text{})).Forward(core.Ones([]int{1}))
	})
}

type text struct{ nn.Module }

func (*text) Forward(torch.Tensor) string { return "" }
