package optim_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"tandem.example/gotorch"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// Each option reaches the setting of its name, and so does its absence.
func TestOptionsAreSettings(t *testing.T) {
	pair, number := optim.Some([2]float64{0.25, 0.5}), optim.Some(0.125)
	type settings = map[string]any
	for name, one := range map[string]struct {
		unset, set func(p []*gotorch.Tensor) *optim.Optimizer
		want       [2]settings
	}{
		"Adadelta": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Adadelta(p, 1) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.Adadelta(p, 1, optim.AdadeltaOptions{Rho: optim.Some(0.5), Eps: number, WeightDecay: 2, Maximize: true})
			},
			[2]settings{{"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.0, "maximize": false},
				{"rho": 0.5, "eps": 0.125, "weight_decay": 2.0, "maximize": true}}},
		"Adamax": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Adamax(p, 0.5) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.Adamax(p, 1, optim.AdamaxOptions{Betas: pair, Eps: number, WeightDecay: 2, Maximize: true})
			},
			[2]settings{{"lr": 0.5, "betas": [2]float64{0.9, 0.999}, "eps": 1e-8, "weight_decay": 0.0, "maximize": false},
				{"betas": [2]float64{0.25, 0.5}, "eps": 0.125, "weight_decay": 2.0, "maximize": true}}},
		"NAdam": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.NAdam(p, 1) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.NAdam(p, 1, optim.NAdamOptions{Betas: pair, Eps: number, MomentumDecay: optim.Some(0.5), WeightDecay: 2, DecoupledWeightDecay: true, Maximize: true})
			},
			[2]settings{{"momentum_decay": 0.004, "decoupled_weight_decay": false, "betas": [2]float64{0.9, 0.999}},
				{"betas": [2]float64{0.25, 0.5}, "eps": 0.125, "momentum_decay": 0.5, "weight_decay": 2.0,
					"decoupled_weight_decay": true, "maximize": true}}},
		"RAdam": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.RAdam(p, 1) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.RAdam(p, 1, optim.RAdamOptions{Betas: pair, Eps: number, WeightDecay: 2, DecoupledWeightDecay: true, Maximize: true})
			},
			[2]settings{{"decoupled_weight_decay": false, "eps": 1e-8},
				{"betas": [2]float64{0.25, 0.5}, "eps": 0.125, "weight_decay": 2.0, "decoupled_weight_decay": true,
					"maximize": true}}},
		"ASGD": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.ASGD(p, 1) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.ASGD(p, 1, optim.ASGDOptions{Lambd: number, Alpha: optim.Some(0.5), T0: optim.Some(3.0), WeightDecay: 2, Maximize: true})
			},
			[2]settings{{"lambd": 1e-4, "alpha": 0.75, "t0": 1e6},
				{"lambd": 0.125, "alpha": 0.5, "t0": 3.0, "weight_decay": 2.0, "maximize": true}}},
		"Rprop": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Rprop(p, 1) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.Rprop(p, 1, optim.RpropOptions{Etas: optim.Some([2]float64{0.25, 1.5}), StepSizes: pair, Maximize: true})
			},
			[2]settings{{"etas": [2]float64{0.5, 1.2}, "step_sizes": [2]float64{1e-6, 50}},
				{"etas": [2]float64{0.25, 1.5}, "step_sizes": [2]float64{0.25, 0.5}, "maximize": true}}},
		"SparseAdam": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.SparseAdam(p, 1) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.SparseAdam(p, 1, optim.SparseAdamOptions{Betas: pair, Eps: number, Maximize: true})
			},
			[2]settings{{"betas": [2]float64{0.9, 0.999}, "eps": 1e-8},
				{"betas": [2]float64{0.25, 0.5}, "eps": 0.125, "maximize": true}}},
		"Adafactor": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Adafactor(p, 1) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.Adafactor(p, 1, optim.AdafactorOptions{Beta2Decay: optim.Some(-0.5), Eps1: number, Eps2: optim.Some(0.5), D: optim.Some(4.0), WeightDecay: 2, Maximize: true})
			},
			[2]settings{{"beta2_decay": -0.8, "eps1": nil, "eps2": 1e-3, "d": 1.0, "weight_decay": 0.0},
				{"beta2_decay": -0.5, "eps": [2]float64{0.125, 0.5}, "d": 4.0, "weight_decay": 2.0, "maximize": true}}},
		"Muon": {
			func(p []*gotorch.Tensor) *optim.Optimizer { return optim.Muon(p, 1) },
			func(p []*gotorch.Tensor) *optim.Optimizer {
				return optim.Muon(p, 1, optim.MuonOptions{WeightDecay: optim.Some(0.0), Momentum: number, Nesterov: optim.Some(false), NSCoefficients: optim.Some([3]float64{1, 2, 3}), NSSteps: optim.Some(7), Eps: optim.Some(0.5), AdjustLRFn: "match_rms_adamw"})
			},
			[2]settings{{"weight_decay": 0.1, "momentum": 0.95, "nesterov": true, "ns_steps": int64(5), "adjust_lr_fn": nil,
				"ns_coefficients": [3]float64{3.4445, -4.7750, 2.0315}},
				{"weight_decay": 0.0, "momentum": 0.125, "nesterov": false, "ns_coefficients": [3]float64{1, 2, 3},
					"ns_steps": int64(7), "eps": 0.5, "adjust_lr_fn": "match_rms_adamw"}}},
	} {
		t.Run(name, func(t *testing.T) {
			x := gotorch.Zeros([]int{2, 2}).SetRequiresGrad(true)
			for i, optimizer := range []*optim.Optimizer{one.unset([]*gotorch.Tensor{x}), one.set([]*gotorch.Tensor{x})} {
				for setting, want := range one.want[i] {
					if got, err := optimizer.Setting(0, setting); err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("%s is %v (%T), not %v: %v", setting, got, got, want, err)
					}
				}
			}
		})
	}
}

func TestParametersThatARuleDoesNotTake(t *testing.T) {
	bias := gotorch.Zeros([]int{2}).SetRequiresGrad(true)
	err := gotorch.Try(func() { optim.Muon([]*gotorch.Tensor{bias}, 0.1) })
	if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "1 dimensions; Muon takes matrices") {
		t.Error(err)
	}
	matrix := gotorch.Zeros([]int{2, 2}).SetRequiresGrad(true)
	err = gotorch.Try(func() { optim.Muon([]*gotorch.Tensor{matrix}, 0.1, optim.MuonOptions{AdjustLRFn: "none"}) })
	if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "optim.Muon: AdjustLRFn is 'none'; it can be") {
		t.Error(err)
	}
	adam := optim.SparseAdam([]*gotorch.Tensor{bias}, 0.1)
	if err := adam.Minimize(bias.Sum()); !errors.Is(err, gotorch.ErrUnsupported) || !strings.Contains(err.Error(), "use Adam") {
		t.Error(err)
	}
}

// Rows that no index names stay, with momentum too.
func TestSparseAdamStepsTheRowsThatWereUsed(t *testing.T) {
	weight := gotorch.Ones([]int{4, 2}).SetRequiresGrad(true)
	adam := optim.SparseAdam([]*gotorch.Tensor{weight}, 0.5)
	for _, row := range []int64{1, 3} {
		rows := F.Embedding(gotorch.From([]int64{row}, 1), weight, F.EmbeddingOptions{Sparse: true})
		if err := adam.Minimize(rows.Sum()); err != nil {
			t.Fatal(err)
		}
	}
	values := gotorch.ToSlice[float32](weight)
	for i, value := range values {
		if used := i/2 == 1 || i/2 == 3; used == (value == 1) {
			t.Errorf("row %d: %v", i/2, values)
		}
	}
}
