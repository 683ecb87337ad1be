package optim

import "tandem.example/gotorch/internal/c"

// CyclicLROptions of [CyclicLR]. Lists have one number for all groups, or one for each.
type CyclicLROptions struct {
	StepSizeUp   Opt[int]     // steps upwards; unset: 2000
	StepSizeDown Opt[int]     // unset: as many
	Mode         string       // "triangular", which "" is, "triangular2" or "exp_range"
	Gamma        Opt[float64] // of "exp_range"; unset: 1
	// In the place of Mode: how large a cycle is, of the cycle's number or, where ScaleMode is "iterations", of the number of
	// steps. What holds for functions of [LambdaLR] holds for it.
	ScaleFn                   func(at float64) float64
	ScaleMode                 string    // "cycle", which "" is, or "iterations"
	CycleMomentum             Opt[bool] // momentum, or the first of betas, goes the other way; unset: true
	BaseMomentum, MaxMomentum []float64 // unset: 0.8 and 0.9
	LastEpoch                 Opt[int]
}

// CyclicLR goes from baseLR to maxLR and back, again and again. Source: torch.optim.lr_scheduler.CyclicLR.
func CyclicLR(optimizer *Optimizer, baseLR, maxLR []float64, more ...CyclicLROptions) *LRScheduler {
	o := first(more)
	given := settings().doubles("base_lr", baseLR).doubles("max_lr", maxLR).optInt("step_size_up", o.StepSizeUp).
		optInt("step_size_down", o.StepSizeDown).setString("mode", o.Mode).optDouble("gamma", o.Gamma).
		setString("scale_mode", o.ScaleMode).optBool("cycle_momentum", o.CycleMomentum).
		setDoubles("base_momentum", o.BaseMomentum).setDoubles("max_momentum", o.MaxMomentum).optInt("last_epoch", o.LastEpoch)
	var scale c.Callback
	if o.ScaleFn != nil {
		scale = calling(func(_ int, at float64) float64 { return o.ScaleFn(at) })
	}
	return &LRScheduler{given.schedule("CyclicLR", optimizer, map[string]string{"base_lr": "baseLR", "max_lr": "maxLR",
		"cycle_momentum": "CycleMomentum"}, scale)}
}

// OneCycleLROptions of [OneCycleLR]: TotalSteps, or Epochs and StepsPerEpoch, must be set. Lists have one number for all
// groups, or one for each.
type OneCycleLROptions struct {
	TotalSteps, Epochs, StepsPerEpoch Opt[int]
	PctStart                          Opt[float64] // the part of the steps that go upwards; unset: 0.3
	AnnealStrategy                    string       // "cos", which "" is, or "linear"
	CycleMomentum                     Opt[bool]    // momentum, or the first of betas, goes the other way; unset: true
	BaseMomentum, MaxMomentum         []float64    // unset: 0.85 and 0.95
	DivFactor                         Opt[float64] // maxLR by the first rate; unset: 25
	FinalDivFactor                    Opt[float64] // the first rate by the last; unset: 1e4
	ThreePhase                        bool         // down as slowly as up, then on to the last rate
	LastEpoch                         Opt[int]
}

// OneCycleLR goes up to maxLR and down to next to nothing, once. Source: torch.optim.lr_scheduler.OneCycleLR.
func OneCycleLR(optimizer *Optimizer, maxLR []float64, more ...OneCycleLROptions) *LRScheduler {
	o := first(more)
	return settings().doubles("max_lr", maxLR).optInt("total_steps", o.TotalSteps).optInt("epochs", o.Epochs).
		optInt("steps_per_epoch", o.StepsPerEpoch).optDouble("pct_start", o.PctStart).
		setString("anneal_strategy", o.AnnealStrategy).optBool("cycle_momentum", o.CycleMomentum).
		setDoubles("base_momentum", o.BaseMomentum).setDoubles("max_momentum", o.MaxMomentum).
		optDouble("div_factor", o.DivFactor).optDouble("final_div_factor", o.FinalDivFactor).
		bool("three_phase", o.ThreePhase).optInt("last_epoch", o.LastEpoch).
		lr("OneCycleLR", optimizer, map[string]string{"max_lr": "maxLR", "total_steps": "TotalSteps", "epochs": "Epochs",
			"steps_per_epoch": "StepsPerEpoch", "cycle_momentum": "CycleMomentum"})
}

// PlateauOptions of [ReduceLROnPlateau].
type PlateauOptions struct {
	Mode          string       // "min", which "" is: the metric is to become small; "max"
	Factor        Opt[float64] // unset: 0.1
	Patience      Opt[int]     // steps without a better metric that are let pass; unset: 10
	Threshold     Opt[float64] // by how much better is better; unset: 1e-4
	ThresholdMode string       // "rel", which "" is: of the best so far; "abs"
	Cooldown      int          // steps after a reduction that do not count
	MinLR         []float64    // one for all groups, or one for each; unset: 0
	Eps           Opt[float64] // a smaller change is not made; unset: 1e-8
}

// ReduceLROnPlateau multiplies rates with Factor when the metric does not become better any more. Source:
// torch.optim.lr_scheduler.ReduceLROnPlateau.
func ReduceLROnPlateau(optimizer *Optimizer, more ...PlateauOptions) *PlateauScheduler {
	o := first(more)
	return &PlateauScheduler{settings().setString("mode", o.Mode).optDouble("factor", o.Factor).
		optInt("patience", o.Patience).optDouble("threshold", o.Threshold).setString("threshold_mode", o.ThresholdMode).
		int("cooldown", o.Cooldown).setDoubles("min_lr", o.MinLR).optDouble("eps", o.Eps).
		schedule("ReduceLROnPlateau", optimizer, nil, nil)}
}

// SWALROptions of [SWALR].
type SWALROptions struct {
	AnnealEpochs   Opt[int] // steps until then; unset: 10
	AnnealStrategy string   // "cos", which "" is, or "linear"
	LastEpoch      Opt[int]
}

// SWALR goes to the constant rate swaLR, one for all groups or one for each, for [Averages]. Source:
// torch.optim.swa_utils.SWALR.
func SWALR(optimizer *Optimizer, swaLR []float64, more ...SWALROptions) *LRScheduler {
	o := first(more)
	return settings().doubles("swa_lr", swaLR).optInt("anneal_epochs", o.AnnealEpochs).
		setString("anneal_strategy", o.AnnealStrategy).optInt("last_epoch", o.LastEpoch).
		lr("SWALR", optimizer, map[string]string{"swa_lr": "swaLR"})
}
