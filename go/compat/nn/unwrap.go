package nn

import (
	"fmt"
	"reflect"

	core "tandem.example/gotorch"
	torch "tandem.example/gotorch/compat"
	corenn "tandem.example/gotorch/nn"
)

// unwrapped is a module as Tandem has them. Its tensors are those that m has when it is made.
type unwrapped struct {
	corenn.Base
	Parameters map[string]*core.Tensor
	Buffers    map[string]*core.Tensor `nn:"buffer"`

	forward reflect.Value
}

// Unwrap makes a module for Tandem's packages of one whose Forward takes and gives a Tensor:
//
//	ddp, err := dist.NewDDP(group, nn.Unwrap(net))
//	…
//	output := torch.Wrap(ddp.Forward(images.Unwrap()))
//
// The tensors are the same ones; after SetStateDict they are others, and so it is called after that. Train stays with m.
func Unwrap(m IModule) corenn.Layer {
	outer := m
	if base, ok := m.(*Module); ok {
		outer = base.outer
	}
	tree, ok := outer.(interface {
		NamedParameters() map[string]torch.Tensor
		NamedBuffers() map[string]torch.Tensor
	})
	forward := reflect.ValueOf(outer).MethodByName("Forward")
	if !ok || !forward.IsValid() || forward.Type().NumIn() != 1 || forward.Type().NumOut() != 1 {
		panic(fmt.Sprintf("Unwrap: %T has no method Forward that takes and gives one value", outer))
	}
	return &unwrapped{Parameters: coreTensors(tree.NamedParameters()), Buffers: coreTensors(tree.NamedBuffers()), forward: forward}
}

func coreTensors(tensors map[string]torch.Tensor) map[string]*core.Tensor {
	unwrapped := make(map[string]*core.Tensor, len(tensors))
	for name, t := range tensors {
		unwrapped[name] = t.Unwrap()
	}
	return unwrapped
}

// Forward calls the module's Forward.
func (u *unwrapped) Forward(x *core.Tensor) *core.Tensor {
	result := u.forward.Call([]reflect.Value{reflect.ValueOf(torch.Wrap(x))})[0].Interface()
	y, ok := result.(torch.Tensor)
	if !ok {
		panic(fmt.Sprintf("Forward gives a %T; Unwrap wants a Tensor", result))
	}
	return y.Unwrap()
}
