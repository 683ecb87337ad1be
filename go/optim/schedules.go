package optim

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

// schedule makes the scheduler of these options. parameters are Go's names, by Python's, of what the constructor has as
// parameters, and of options that an error may name where they were not given; function may be nil.
func (o options) schedule(kind string, optimizer *Optimizer, parameters map[string]string, function c.Callback) *scheduler {
	handle, err := c.CreateLRScheduler(kind, optimizer.handle, o.frame, function)
	runtime.KeepAlive(optimizer)
	if err != nil {
		known := map[string]string{"min_lr": "MinLR"}
		maps.Copy(known, parameters)
		err.Message = names.Options(strings.TrimPrefix(err.Message, kind+": "),
			append(o.given, slices.Sorted(maps.Keys(parameters))...), known)
		mustSchedule(kind, err)
	}
	return adoptScheduler(kind, handle)
}

func (o options) lr(kind string, optimizer *Optimizer, parameters map[string]string) *LRScheduler {
	return &LRScheduler{o.schedule(kind, optimizer, parameters, nil)}
}

// SchedulerOptions are of schedulers that have no others. All schedulers have LastEpoch: the number of steps that were made,
// unset for -1, which begins anew. The optimizer must have had a scheduler before; to go on in another process, use LoadState.
type SchedulerOptions struct{ LastEpoch Opt[int] }

// calling makes a callback of factor; what that panics with becomes an error of the call that asks it.
func calling(factor func(group int, at float64) float64) c.Callback {
	return func(call c.Invocation) ([]c.Tensor, error) {
		call.Rate.Factor = factor(call.Rate.Group, call.Rate.At)
		return nil, nil
	}
}

func byFunction(kind string, optimizer *Optimizer, factor func(group, epoch int) float64, more []SchedulerOptions) *LRScheduler {
	o := settings().optInt("last_epoch", first(more).LastEpoch)
	return &LRScheduler{o.schedule(kind, optimizer, nil,
		calling(func(group int, at float64) float64 { return factor(group, int(at)) }))}
}

// LambdaLR multiplies each group's initial rate with factor(group, epoch), epoch being the number of steps so far. factor must
// use neither the optimizer nor the scheduler, which would never be freed; what it panics with is an error of the Step, which
// then changes nothing. Source: torch.optim.lr_scheduler.LambdaLR.
func LambdaLR(optimizer *Optimizer, factor func(group, epoch int) float64, more ...SchedulerOptions) *LRScheduler {
	return byFunction("LambdaLR", optimizer, factor, more)
}

// MultiplicativeLR multiplies each group's rate with factor(group, epoch); see [LambdaLR]. Source:
// torch.optim.lr_scheduler.MultiplicativeLR.
func MultiplicativeLR(optimizer *Optimizer, factor func(group, epoch int) float64, more ...SchedulerOptions) *LRScheduler {
	return byFunction("MultiplicativeLR", optimizer, factor, more)
}

// StepLROptions of [StepLR] and [MultiStepLR].
type StepLROptions struct {
	Gamma     Opt[float64] // unset: 0.1
	LastEpoch Opt[int]
}

// StepLR multiplies rates with Gamma every stepSize steps. Source: torch.optim.lr_scheduler.StepLR.
func StepLR(optimizer *Optimizer, stepSize int, more ...StepLROptions) *LRScheduler {
	o := first(more)
	return settings().int("step_size", stepSize).optDouble("gamma", o.Gamma).optInt("last_epoch", o.LastEpoch).
		lr("StepLR", optimizer, map[string]string{"step_size": "stepSize"})
}

// MultiStepLR multiplies rates with Gamma at each milestone. Source: torch.optim.lr_scheduler.MultiStepLR.
func MultiStepLR(optimizer *Optimizer, milestones []int, more ...StepLROptions) *LRScheduler {
	o := first(more)
	given := settings().name("milestones")
	given.frame.Ints(milestones)
	return given.optDouble("gamma", o.Gamma).optInt("last_epoch", o.LastEpoch).
		lr("MultiStepLR", optimizer, map[string]string{"milestones": "milestones"})
}

// ConstantLROptions of [ConstantLR].
type ConstantLROptions struct {
	Factor     Opt[float64] // unset: 1/3
	TotalIters Opt[int]     // unset: 5
	LastEpoch  Opt[int]
}

// ConstantLR multiplies rates with Factor for TotalIters steps. Source: torch.optim.lr_scheduler.ConstantLR.
func ConstantLR(optimizer *Optimizer, more ...ConstantLROptions) *LRScheduler {
	o := first(more)
	return settings().optDouble("factor", o.Factor).optInt("total_iters", o.TotalIters).optInt("last_epoch", o.LastEpoch).
		lr("ConstantLR", optimizer, nil)
}

// LinearLROptions of [LinearLR].
type LinearLROptions struct {
	StartFactor Opt[float64] // unset: 1/3
	EndFactor   Opt[float64] // unset: 1
	TotalIters  Opt[int]     // unset: 5
	LastEpoch   Opt[int]
}

// LinearLR goes from StartFactor times the rates to EndFactor times them: a warm-up. Source:
// torch.optim.lr_scheduler.LinearLR.
func LinearLR(optimizer *Optimizer, more ...LinearLROptions) *LRScheduler {
	o := first(more)
	return settings().optDouble("start_factor", o.StartFactor).optDouble("end_factor", o.EndFactor).
		optInt("total_iters", o.TotalIters).optInt("last_epoch", o.LastEpoch).lr("LinearLR", optimizer, nil)
}

// ExponentialLR multiplies rates with gamma at each step. Source: torch.optim.lr_scheduler.ExponentialLR.
func ExponentialLR(optimizer *Optimizer, gamma float64, more ...SchedulerOptions) *LRScheduler {
	return settings().double("gamma", gamma).optInt("last_epoch", first(more).LastEpoch).
		lr("ExponentialLR", optimizer, map[string]string{"gamma": "gamma"})
}

// PolynomialLROptions of [PolynomialLR].
type PolynomialLROptions struct {
	TotalIters Opt[int]     // unset: 5
	Power      Opt[float64] // unset: 1
	LastEpoch  Opt[int]
}

// PolynomialLR goes to zero in TotalIters steps by a polynomial. Source: torch.optim.lr_scheduler.PolynomialLR.
func PolynomialLR(optimizer *Optimizer, more ...PolynomialLROptions) *LRScheduler {
	o := first(more)
	return settings().optInt("total_iters", o.TotalIters).optDouble("power", o.Power).optInt("last_epoch", o.LastEpoch).
		lr("PolynomialLR", optimizer, nil)
}

// CosineAnnealingLROptions of [CosineAnnealingLR].
type CosineAnnealingLROptions struct {
	EtaMin    float64 // the least rate
	LastEpoch Opt[int]
}

// CosineAnnealingLR follows half a cosine down to EtaMin in tMax steps, and back. Source:
// torch.optim.lr_scheduler.CosineAnnealingLR.
func CosineAnnealingLR(optimizer *Optimizer, tMax int, more ...CosineAnnealingLROptions) *LRScheduler {
	o := first(more)
	return settings().int("T_max", tMax).double("eta_min", o.EtaMin).optInt("last_epoch", o.LastEpoch).
		lr("CosineAnnealingLR", optimizer, map[string]string{"T_max": "tMax"})
}

// WarmRestartsOptions of [CosineAnnealingWarmRestarts].
type WarmRestartsOptions struct {
	TMult     Opt[int] // how much longer each cycle is than the one before; unset: 1
	EtaMin    float64  // the least rate
	LastEpoch Opt[int]
}

// CosineAnnealingWarmRestarts follows half a cosine down to EtaMin and begins anew, the first time after t0 steps. Its StepTo
// goes to any place. Source: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts.
func CosineAnnealingWarmRestarts(optimizer *Optimizer, t0 int, more ...WarmRestartsOptions) *LRScheduler {
	o := first(more)
	return settings().int("T_0", t0).optInt("T_mult", o.TMult).double("eta_min", o.EtaMin).optInt("last_epoch", o.LastEpoch).
		lr("CosineAnnealingWarmRestarts", optimizer, map[string]string{"T_0": "t0"})
}
