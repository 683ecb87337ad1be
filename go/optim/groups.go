package optim

import (
	"fmt"
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Settings of parameters, by their names in torch.optim: "lr", "weight_decay", "nesterov", "betas". Values are float64,
// int, bool, string, of "betas" and other pairs [2]float64, of "ns_coefficients" [3]float64, and nil, which is Python's
// None.
type Settings map[string]any

// AllGroups stands for all groups of an optimizer.
const AllGroups = c.AllGroups

// AddGroup has o step more parameters, with settings of their own; what these leave out is as o was made, whatever
// [Optimizer.Set] changed since. What o was made of is group 0. A parameter that o has already is ErrInvalidArgument, a
// setting that it does not know ErrNotFound. Of an optimizer whose state is spread over ranks, all ranks add the same.
// Source: torch.optim.Optimizer.add_param_group.
//
//	adam := optim.AdamW(weights, 3e-4, optim.AdamOptions{WeightDecay: optim.Some(0.1)})
//	err := adam.AddGroup(biases, optim.Settings{"weight_decay": 0})
func (o *Optimizer) AddGroup(parameters []*gotorch.Tensor, settings Settings) error {
	return gotorch.Try(func() {
		handles := handlesOf(parameters, o.kind)
		f := c.NewFrame()
		for name, value := range settings {
			o.put(f, name, value)
		}
		err := c.AddGroup(o.handle, handles, f)
		runtime.KeepAlive(parameters)
		if failure := o.named(err); failure != nil {
			panic(failure)
		}
		o.parameters = append(o.parameters, parameters...)
	})
}

// put adds a setting to the frame, which it releases before it panics.
func (o *Optimizer) put(f *c.Frame, name string, value any) {
	f.Name(name)
	switch v := value.(type) {
	case bool:
		f.Bool(v)
	case int:
		f.Int(int64(v))
	case float64:
		f.Double(v)
	case string:
		f.String(v)
	case [2]float64:
		f.Doubles(v[:])
	case [3]float64:
		f.Doubles(v[:])
	case nil:
		f.None()
	default:
		f.Release()
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: o.kind, Message: fmt.Sprintf(
			"setting '%s' is a %T; it can be a float64, int, bool, string, [2]float64, [3]float64 or nil", name, value)})
	}
}

// Groups is the number of groups: one more than [Optimizer.AddGroup] was called.
func (o *Optimizer) Groups() int {
	count, err := c.GroupCount(o.handle)
	runtime.KeepAlive(o)
	bridge.Must(err)
	return count
}

// Set changes a setting of a group, or of [AllGroups]: of all of them or, where one refuses it, of none.
func (o *Optimizer) Set(group int, name string, value any) error {
	return gotorch.Try(func() {
		f := c.NewFrame()
		o.put(f, name, value)
		if failure := o.named(c.SetOption(o.handle, group, f)); failure != nil {
			panic(failure)
		}
	})
}

// Setting is what a group has: a float64, int64, bool, string, nil or, of "betas" and the like, a [2]float64 or
// [3]float64. Of [AllGroups] it is what all have, ErrInvalidArgument where they differ.
func (o *Optimizer) Setting(group int, name string) (any, error) {
	value, err := c.GetOption(o.handle, group, name)
	if failure := o.named(err); failure != nil {
		return nil, failure
	}
	if list, ok := value.([]float64); ok {
		if len(list) == 3 {
			return [3]float64(list), nil
		}
		return [2]float64(list), nil
	}
	return value, nil
}

// LR is the learning rate that all groups have. It panics where they differ: [Optimizer.Setting] tells a group's.
func (o *Optimizer) LR() float64 {
	lr, err := o.Setting(AllGroups, "lr")
	if err != nil {
		panic(err)
	}
	return lr.(float64)
}

// SetLR changes the learning rate of all groups.
func (o *Optimizer) SetLR(lr float64) error { return o.Set(AllGroups, "lr", lr) }
