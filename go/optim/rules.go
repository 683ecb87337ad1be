package optim

import "tandem.example/gotorch"

// SGDOptions of [SGD].
type SGDOptions struct {
	Momentum, Dampening, WeightDecay float64
	Nesterov, Maximize               bool
}

// SGD is stochastic gradient descent. Source: torch.optim.SGD.
func SGD(parameters []*gotorch.Tensor, lr float64, more ...SGDOptions) *Optimizer {
	o := first(more)
	return begin(lr).double("momentum", o.Momentum).double("dampening", o.Dampening).
		double("weight_decay", o.WeightDecay).bool("nesterov", o.Nesterov).
		bool("maximize", o.Maximize).create("SGD", parameters)
}

// AdamOptions of [Adam] and [AdamW].
type AdamOptions struct {
	Betas                Opt[[2]float64]
	Eps                  Opt[float64]
	WeightDecay          Opt[float64] // unset: 0, of AdamW 0.01
	AMSGrad              bool
	DecoupledWeightDecay bool // of AdamW always
	Maximize             bool
}

func (o AdamOptions) begin(lr float64) options {
	return begin(lr).pair("betas", o.Betas).optDouble("eps", o.Eps).optDouble("weight_decay", o.WeightDecay).
		bool("amsgrad", o.AMSGrad).bool("maximize", o.Maximize)
}

// Adam adapts each parameter's step to its gradients' first two moments. Source: torch.optim.Adam.
func Adam(parameters []*gotorch.Tensor, lr float64, more ...AdamOptions) *Optimizer {
	o := first(more)
	return o.begin(lr).bool("decoupled_weight_decay", o.DecoupledWeightDecay).create("Adam", parameters)
}

// AdamW is Adam with decoupled weight decay. Source: torch.optim.AdamW.
func AdamW(parameters []*gotorch.Tensor, lr float64, more ...AdamOptions) *Optimizer {
	return first(more).begin(lr).create("AdamW", parameters)
}

// AdagradOptions of [Adagrad].
type AdagradOptions struct {
	LRDecay, WeightDecay, InitialAccumulatorValue float64
	Eps                                           Opt[float64]
	Maximize                                      bool
}

// Adagrad divides steps by the root of the sum of squared gradients. Source: torch.optim.Adagrad.
func Adagrad(parameters []*gotorch.Tensor, lr float64, more ...AdagradOptions) *Optimizer {
	o := first(more)
	return begin(lr).double("lr_decay", o.LRDecay).double("weight_decay", o.WeightDecay).
		double("initial_accumulator_value", o.InitialAccumulatorValue).optDouble("eps", o.Eps).
		bool("maximize", o.Maximize).create("Adagrad", parameters)
}

// RMSpropOptions of [RMSprop].
type RMSpropOptions struct {
	Alpha, Eps            Opt[float64]
	WeightDecay, Momentum float64
	Centered, Maximize    bool
}

// RMSprop divides steps by the root of a running mean of squared gradients. Source: torch.optim.RMSprop.
func RMSprop(parameters []*gotorch.Tensor, lr float64, more ...RMSpropOptions) *Optimizer {
	o := first(more)
	return begin(lr).optDouble("alpha", o.Alpha).optDouble("eps", o.Eps).double("weight_decay", o.WeightDecay).
		double("momentum", o.Momentum).bool("centered", o.Centered).
		bool("maximize", o.Maximize).create("RMSprop", parameters)
}

// AdadeltaOptions of [Adadelta].
type AdadeltaOptions struct {
	Rho, Eps    Opt[float64]
	WeightDecay float64
	Maximize    bool
}

// Adadelta makes steps of the size of the steps before, by the root of squared gradients. Its usual learning rate is 1.
// Source: torch.optim.Adadelta.
func Adadelta(parameters []*gotorch.Tensor, lr float64, more ...AdadeltaOptions) *Optimizer {
	o := first(more)
	return begin(lr).optDouble("rho", o.Rho).optDouble("eps", o.Eps).double("weight_decay", o.WeightDecay).
		bool("maximize", o.Maximize).create("Adadelta", parameters)
}

// AdamaxOptions of [Adamax].
type AdamaxOptions struct {
	Betas       Opt[[2]float64]
	Eps         Opt[float64]
	WeightDecay float64
	Maximize    bool
}

// Adamax is Adam with the infinity norm. Source: torch.optim.Adamax.
func Adamax(parameters []*gotorch.Tensor, lr float64, more ...AdamaxOptions) *Optimizer {
	o := first(more)
	return begin(lr).pair("betas", o.Betas).optDouble("eps", o.Eps).double("weight_decay", o.WeightDecay).
		bool("maximize", o.Maximize).create("Adamax", parameters)
}

// NAdamOptions of [NAdam].
type NAdamOptions struct {
	Betas                          Opt[[2]float64]
	Eps                            Opt[float64]
	WeightDecay                    float64
	MomentumDecay                  Opt[float64]
	DecoupledWeightDecay, Maximize bool
}

// NAdam is Adam with Nesterov momentum. Source: torch.optim.NAdam.
func NAdam(parameters []*gotorch.Tensor, lr float64, more ...NAdamOptions) *Optimizer {
	o := first(more)
	return begin(lr).pair("betas", o.Betas).optDouble("eps", o.Eps).double("weight_decay", o.WeightDecay).
		optDouble("momentum_decay", o.MomentumDecay).bool("decoupled_weight_decay", o.DecoupledWeightDecay).
		bool("maximize", o.Maximize).create("NAdam", parameters)
}

// RAdamOptions of [RAdam].
type RAdamOptions struct {
	Betas                          Opt[[2]float64]
	Eps                            Opt[float64]
	WeightDecay                    float64
	DecoupledWeightDecay, Maximize bool
}

// RAdam is Adam that adapts steps only when it knows enough of the gradients' variance. Source: torch.optim.RAdam.
func RAdam(parameters []*gotorch.Tensor, lr float64, more ...RAdamOptions) *Optimizer {
	o := first(more)
	return begin(lr).pair("betas", o.Betas).optDouble("eps", o.Eps).double("weight_decay", o.WeightDecay).
		bool("decoupled_weight_decay", o.DecoupledWeightDecay).bool("maximize", o.Maximize).create("RAdam", parameters)
}

// ASGDOptions of [ASGD].
type ASGDOptions struct {
	Lambd, Alpha, T0 Opt[float64]
	WeightDecay      float64
	Maximize         bool
}

// ASGD is stochastic gradient descent that averages parameters from step T0 on, as "ax" of its state. Source:
// torch.optim.ASGD.
func ASGD(parameters []*gotorch.Tensor, lr float64, more ...ASGDOptions) *Optimizer {
	o := first(more)
	return begin(lr).optDouble("lambd", o.Lambd).optDouble("alpha", o.Alpha).optDouble("t0", o.T0).
		double("weight_decay", o.WeightDecay).bool("maximize", o.Maximize).create("ASGD", parameters)
}

// RpropOptions of [Rprop].
type RpropOptions struct {
	Etas      Opt[[2]float64] // what a step's size is multiplied with when the gradient turns, and when it does not
	StepSizes Opt[[2]float64] // least and most
	Maximize  bool
}

// Rprop steps by the gradients' signs, with a size for each element. For gradients of all samples at once. Source:
// torch.optim.Rprop.
func Rprop(parameters []*gotorch.Tensor, lr float64, more ...RpropOptions) *Optimizer {
	o := first(more)
	return begin(lr).pair("etas", o.Etas).pair("step_sizes", o.StepSizes).bool("maximize", o.Maximize).
		create("Rprop", parameters)
}

// SparseAdamOptions of [SparseAdam].
type SparseAdamOptions struct {
	Betas    Opt[[2]float64]
	Eps      Opt[float64]
	Maximize bool
}

// SparseAdam is Adam for sparse gradients, as of embeddings: what no row of a gradient is about stays. Source:
// torch.optim.SparseAdam.
func SparseAdam(parameters []*gotorch.Tensor, lr float64, more ...SparseAdamOptions) *Optimizer {
	o := first(more)
	return begin(lr).pair("betas", o.Betas).optDouble("eps", o.Eps).bool("maximize", o.Maximize).
		create("SparseAdam", parameters)
}

// AdafactorOptions of [Adafactor].
type AdafactorOptions struct {
	Beta2Decay  Opt[float64]
	Eps1        Opt[float64] // unset: of the parameter's dtype
	Eps2, D     Opt[float64]
	WeightDecay float64
	Maximize    bool
}

// Adafactor keeps of a matrix the second moments of rows and columns alone. Source: torch.optim.Adafactor.
func Adafactor(parameters []*gotorch.Tensor, lr float64, more ...AdafactorOptions) *Optimizer {
	o := first(more)
	return begin(lr).optDouble("beta2_decay", o.Beta2Decay).optDouble("eps1", o.Eps1).optDouble("eps2", o.Eps2).
		optDouble("d", o.D).double("weight_decay", o.WeightDecay).bool("maximize", o.Maximize).
		create("Adafactor", parameters)
}

// MuonOptions of [Muon].
type MuonOptions struct {
	WeightDecay, Momentum Opt[float64]
	Nesterov              Opt[bool] // unset: true
	NSCoefficients        Opt[[3]float64]
	Eps                   Opt[float64]
	NSSteps               Opt[int]
	AdjustLRFn            string // "original", which "" is, or "match_rms_adamw"
}

// Muon makes the momentum of matrices orthogonal. It takes matrices alone, which are to be of hidden layers: give biases,
// embeddings and heads to [AdamW]. Source: torch.optim.Muon.
func Muon(parameters []*gotorch.Tensor, lr float64, more ...MuonOptions) *Optimizer {
	o := first(more)
	given := begin(lr).optDouble("weight_decay", o.WeightDecay).optDouble("momentum", o.Momentum).
		optDouble("eps", o.Eps).optBool("nesterov", o.Nesterov).optInt("ns_steps", o.NSSteps).
		setString("adjust_lr_fn", o.AdjustLRFn)
	if list, ok := o.NSCoefficients.Get(); ok {
		given = given.doubles("ns_coefficients", list[:])
	}
	return given.create("Muon", parameters)
}

// LBFGSOptions of [LBFGS].
type LBFGSOptions struct {
	MaxIter                        Opt[int]     // iterations a step; unset: 20
	MaxEval                        Opt[int]     // evaluations of the closure a step; unset: a quarter more than MaxIter
	ToleranceGrad, ToleranceChange Opt[float64] // where a step ends early; unset: 1e-7 and 1e-9
	HistorySize                    Opt[int]     // unset: 100
	LineSearchFn                   string       // "": none, else "strong_wolfe"
}

// LBFGS steps by the loss's curvature, which it estimates from the gradients before. It looks at all parameters together, and
// computes the loss several times a step: step it by [Optimizer.StepClosure]. Its usual learning rate is 1. Source: torch.optim.LBFGS.
func LBFGS(parameters []*gotorch.Tensor, lr float64, more ...LBFGSOptions) *Optimizer {
	o := first(more)
	return begin(lr).optInt("max_iter", o.MaxIter).optInt("max_eval", o.MaxEval).
		optDouble("tolerance_grad", o.ToleranceGrad).optDouble("tolerance_change", o.ToleranceChange).
		optInt("history_size", o.HistorySize).setString("line_search_fn", o.LineSearchFn).create("LBFGS", parameters)
}
