package optim_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/optim"
)

func parameter(values ...float64) *gotorch.Tensor { return gotorch.From(values).SetRequiresGrad(true) }

// Two groups, by hand: one decays and has momentum, the other has neither and a rate of its own.
func TestGroupsHaveSettingsOfTheirOwn(t *testing.T) {
	a, b := parameter(1), parameter(1)
	sgd := optim.SGD([]*gotorch.Tensor{a}, 0.1, optim.SGDOptions{Momentum: 0.5, WeightDecay: 0.2})
	if err := sgd.AddGroup([]*gotorch.Tensor{b}, optim.Settings{"momentum": 0.0, "weight_decay": 0, "lr": 0.3}); err != nil {
		t.Fatal(err)
	}
	first, velocity, second := 1.0, 0.0, 1.0
	for step := range 4 {
		if step == 2 {
			if err := sgd.Set(1, "lr", 0.7); err != nil {
				t.Fatal(err)
			}
		}
		if err := sgd.Minimize(a.Add(b).MulScalar(3).Sum()); err != nil {
			t.Fatal(err)
		}
		velocity = 0.5*velocity + 3 + 0.2*first
		first -= 0.1 * velocity
		second -= []float64{0.3, 0.3, 0.7, 0.7}[step] * 3
	}
	if math.Abs(a.Item()-first) > 1e-12 || math.Abs(b.Item()-second) > 1e-12 {
		t.Fatal(a.Item(), first, b.Item(), second)
	}
	if sgd.Groups() != 2 {
		t.Error(sgd.Groups(), "groups")
	}
}

func TestSettingsOfEveryKind(t *testing.T) {
	adam := optim.Adam([]*gotorch.Tensor{parameter(1)}, 0.1)
	if err := adam.AddGroup([]*gotorch.Tensor{parameter(2)}, optim.Settings{"betas": [2]float64{0.5, 0.6}, "amsgrad": true}); err != nil {
		t.Fatal(err)
	}
	for group, want := range []map[string]any{
		{"lr": 0.1, "betas": [2]float64{0.9, 0.999}, "amsgrad": false},
		{"lr": 0.1, "betas": [2]float64{0.5, 0.6}, "amsgrad": true}} {
		for name, value := range want {
			if got, err := adam.Setting(group, name); err != nil || got != value {
				t.Errorf("group %d: %s is %v, not %v: %v", group, name, got, value, err)
			}
		}
	}
	if adam.LR() != 0.1 {
		t.Error(adam.LR())
	}
	if err := adam.SetLR(0.25); err != nil || adam.LR() != 0.25 {
		t.Error(err, adam.LR())
	}
}

func TestGroupsRefuse(t *testing.T) {
	a, b := parameter(1), parameter(2)
	sgd := optim.SGD([]*gotorch.Tensor{a}, 0.1)
	add := func(settings optim.Settings, parameters ...*gotorch.Tensor) error {
		return sgd.AddGroup(parameters, settings)
	}
	_, setting := sgd.Setting(3, "lr")
	for text, c := range map[string]struct {
		got  error
		want gotorch.Code
	}{
		"parameter 1 is there a second time":    {add(nil, a), gotorch.ErrInvalidArgument},
		"is empty":                              {add(nil), gotorch.ErrInvalidArgument},
		"'learning_rate'":                       {add(optim.Settings{"learning_rate": 1.0}, b), gotorch.ErrNotFound},
		"'lr' must be a number, not the string": {add(optim.Settings{"lr": "fast"}, b), gotorch.ErrInvalidArgument},
		"'lr' is a []int; it can be a float64":  {add(optim.Settings{"lr": []int{1}}, b), gotorch.ErrInvalidArgument},
		"no group 3; it has 1":                  {setting, gotorch.ErrOutOfRange},
		"group 0: option 'lr'":                  {sgd.Set(0, "lr", -1), gotorch.ErrInvalidArgument},
	} {
		if !errors.Is(c.got, c.want) || !strings.Contains(c.got.Error(), text) {
			t.Errorf("%q: %v", text, c.got)
		}
	}
	if err := add(optim.Settings{"lr": 0.5}, b); err != nil {
		t.Fatal(err)
	}
	if err := gotorch.Try(func() { sgd.LR() }); !errors.Is(err, gotorch.ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "differs between groups (0.1, 0.5)") {
		t.Error(err)
	}
}
