package optim_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/optim"
)

// A line of schedules.json: what Python's schedulers did, as tests/cpp/optim/reference.py says.
type scheduleCase struct {
	Type       string
	Options    map[string]any
	Parts      []*scheduleCase
	Milestones []int
	Optimizer  string
	After      *scheduleCase
	Scale      bool
	Fraction   float64
	Outside    bool
	Rates      [][]float64
	State      optim.SchedulerState
}

// What is stepped in one of three ways.
type stepped interface {
	LastLR() []float64
	State() optim.SchedulerState
	LoadState(optim.SchedulerState) error
}

func floatOf(o map[string]any, name string) optim.Opt[float64] {
	if x, ok := o[name].(float64); ok {
		return optim.Some(x)
	}
	return optim.Opt[float64]{}
}

func intOf(o map[string]any, name string) optim.Opt[int] {
	if x, ok := o[name].(float64); ok {
		return optim.Some(int(x))
	}
	return optim.Opt[int]{}
}

func boolOf(o map[string]any, name string) optim.Opt[bool] {
	if b, ok := o[name].(bool); ok {
		return optim.Some(b)
	}
	return optim.Opt[bool]{}
}

func textOf(o map[string]any, name string) string {
	text, _ := o[name].(string)
	return text
}

func listOf(o map[string]any, name string) (list []float64) {
	switch v := o[name].(type) {
	case float64:
		return []float64{v}
	case []any:
		for _, one := range v {
			list = append(list, one.(float64))
		}
	}
	return list
}

func factor(group, epoch int) float64 {
	if group == 0 {
		return math.Pow(0.95, float64(epoch))
	}
	return 1 / (1 + float64(epoch)/4)
}

func (one *scheduleCase) scheduler(o *optim.Optimizer) stepped {
	if one.Type == "ReduceLROnPlateau" {
		return optim.ReduceLROnPlateau(o, optim.PlateauOptions{Mode: textOf(one.Options, "mode"), Factor: floatOf(one.Options, "factor"),
			Patience: intOf(one.Options, "patience"), Threshold: floatOf(one.Options, "threshold"),
			ThresholdMode: textOf(one.Options, "threshold_mode"), Cooldown: intOf(one.Options, "cooldown").Or(0),
			MinLR: listOf(one.Options, "min_lr"), Eps: floatOf(one.Options, "eps")})
	}
	return one.lrScheduler(o)
}

func (one *scheduleCase) lrScheduler(optimizer *optim.Optimizer) *optim.LRScheduler {
	o := one.Options
	last := intOf(o, "last_epoch")
	var parts []*optim.LRScheduler
	for _, part := range one.Parts {
		parts = append(parts, part.lrScheduler(optimizer))
	}
	switch one.Type {
	case "LambdaLR":
		return optim.LambdaLR(optimizer, factor)
	case "MultiplicativeLR":
		return optim.MultiplicativeLR(optimizer, factor)
	case "StepLR":
		return optim.StepLR(optimizer, intOf(o, "step_size").Or(0), optim.StepLROptions{Gamma: floatOf(o, "gamma"), LastEpoch: last})
	case "MultiStepLR":
		var milestones []int
		for _, x := range listOf(o, "milestones") {
			milestones = append(milestones, int(x))
		}
		return optim.MultiStepLR(optimizer, milestones, optim.StepLROptions{Gamma: floatOf(o, "gamma")})
	case "ConstantLR":
		return optim.ConstantLR(optimizer, optim.ConstantLROptions{Factor: floatOf(o, "factor"), TotalIters: intOf(o, "total_iters")})
	case "LinearLR":
		return optim.LinearLR(optimizer, optim.LinearLROptions{StartFactor: floatOf(o, "start_factor"),
			EndFactor: floatOf(o, "end_factor"), TotalIters: intOf(o, "total_iters")})
	case "ExponentialLR":
		return optim.ExponentialLR(optimizer, floatOf(o, "gamma").Or(0))
	case "PolynomialLR":
		return optim.PolynomialLR(optimizer, optim.PolynomialLROptions{TotalIters: intOf(o, "total_iters"), Power: floatOf(o, "power")})
	case "CosineAnnealingLR":
		return optim.CosineAnnealingLR(optimizer, intOf(o, "T_max").Or(0),
			optim.CosineAnnealingLROptions{EtaMin: floatOf(o, "eta_min").Or(0), LastEpoch: last})
	case "CosineAnnealingWarmRestarts":
		return optim.CosineAnnealingWarmRestarts(optimizer, intOf(o, "T_0").Or(0),
			optim.WarmRestartsOptions{TMult: intOf(o, "T_mult"), EtaMin: floatOf(o, "eta_min").Or(0)})
	case "CyclicLR":
		given := optim.CyclicLROptions{StepSizeUp: intOf(o, "step_size_up"), StepSizeDown: intOf(o, "step_size_down"),
			Mode: textOf(o, "mode"), Gamma: floatOf(o, "gamma"), ScaleMode: textOf(o, "scale_mode"),
			CycleMomentum: boolOf(o, "cycle_momentum"), BaseMomentum: listOf(o, "base_momentum"), MaxMomentum: listOf(o, "max_momentum")}
		if one.Scale {
			given.ScaleFn = func(at float64) float64 { return 1 / (1 + at/8) }
		}
		return optim.CyclicLR(optimizer, listOf(o, "base_lr"), listOf(o, "max_lr"), given)
	case "OneCycleLR":
		return optim.OneCycleLR(optimizer, listOf(o, "max_lr"), optim.OneCycleLROptions{TotalSteps: intOf(o, "total_steps"),
			Epochs: intOf(o, "epochs"), StepsPerEpoch: intOf(o, "steps_per_epoch"), PctStart: floatOf(o, "pct_start"),
			AnnealStrategy: textOf(o, "anneal_strategy"), CycleMomentum: boolOf(o, "cycle_momentum"),
			BaseMomentum: listOf(o, "base_momentum"), MaxMomentum: listOf(o, "max_momentum"), DivFactor: floatOf(o, "div_factor"),
			FinalDivFactor: floatOf(o, "final_div_factor"), ThreePhase: boolOf(o, "three_phase").Or(false)})
	case "SWALR":
		return optim.SWALR(optimizer, listOf(o, "swa_lr"), optim.SWALROptions{AnnealEpochs: intOf(o, "anneal_epochs"),
			AnnealStrategy: textOf(o, "anneal_strategy")})
	case "SequentialLR":
		return optim.SequentialLR(optimizer, parts, one.Milestones)
	case "ChainedScheduler":
		return optim.ChainedScheduler(parts...)
	}
	panic(one.Type)
}

func (one *scheduleCase) twoGroups() *optim.Optimizer {
	first, second := []*gotorch.Tensor{parameter(0)}, []*gotorch.Tensor{parameter(0)}
	var o *optim.Optimizer
	if one.Optimizer == "Adam" {
		o = optim.Adam(first, 0.1)
	} else {
		o = optim.SGD(first, 0.1, optim.SGDOptions{Momentum: 0.9})
	}
	if err := o.AddGroup(second, optim.Settings{"lr": 0.02}); err != nil {
		panic(err)
	}
	return o
}

// begin is a new optimizer and its scheduler, after the one that was there before.
func (one *scheduleCase) begin() (*optim.Optimizer, stepped) {
	o := one.twoGroups()
	if one.After != nil {
		one.After.scheduler(o)
	}
	return o, one.scheduler(o)
}

func (one *scheduleCase) step(s stepped, number int) error {
	switch s := s.(type) {
	case *optim.PlateauScheduler:
		return s.Step(float64((number*5)%7+10-number) / 8)
	case *optim.LRScheduler:
		if one.Fraction != 0 {
			return s.StepTo(float64(number) * one.Fraction)
		}
		return s.Step()
	}
	panic("no scheduler")
}

// Every constructor with every option goes as Python's scheduler does, also from a state that was written as JSON half way.
func TestSchedulesAreThoseOfPython(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "tests", "cpp", "optim", "schedules.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []*scheduleCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, one := range cases {
		kinds[one.Type] = true
		one.follow(t)
	}
	if len(kinds) != 16 {
		t.Error(len(kinds), "kinds")
	}
}

func (one *scheduleCase) follow(t *testing.T) {
	t.Helper()
	optimizer, scheduler := one.begin()
	for number, want := range one.Rates {
		if number == 13 {
			saved, err := json.Marshal(scheduler.State())
			if err != nil {
				t.Fatal(err)
			}
			var state optim.SchedulerState
			if err := json.Unmarshal(saved, &state); err != nil {
				t.Fatal(err)
			}
			optimizer, scheduler = one.begin()
			if err := scheduler.LoadState(state); err != nil {
				t.Fatal(one.Type, err)
			}
		}
		if number == 8 && one.Outside {
			if err := optimizer.Set(1, "lr", 0.0625); err != nil {
				t.Fatal(err)
			}
		}
		if number > 0 {
			if err := one.step(scheduler, number-1); err != nil {
				t.Fatal(one.Type, err)
			}
		}
		for group := range 2 {
			rate, err := optimizer.Setting(group, "lr")
			if err != nil {
				t.Fatal(err)
			}
			momentum := "momentum"
			if one.Optimizer == "Adam" {
				momentum = "beta1"
			}
			cycled, err := optimizer.Setting(group, momentum)
			if err != nil {
				t.Fatal(err)
			}
			if !near(rate.(float64), want[group]) || !near(cycled.(float64), want[2+group]) {
				t.Fatalf("%s %v, step %d: group %d has %v and %v, not %v", one.Type, one.Options, number, group, rate, cycled, want)
			}
			if scheduler.LastLR()[group] != rate {
				t.Fatal(one.Type, scheduler.LastLR(), rate)
			}
		}
	}
	if last, ok := scheduler.State()["_last_lr"].([]float64); !ok || !near(last[0], one.Rates[len(one.Rates)-1][0]) {
		t.Error(one.Type, scheduler.State())
	}
	for name := range one.State {
		if _, ok := scheduler.State()[name]; !ok {
			t.Error(one.Type, "has no", name)
		}
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-10*math.Abs(want)+1e-15 }

func TestFunctionsOfRatesThatFail(t *testing.T) {
	o := (&scheduleCase{}).twoGroups()
	own := errors.New("my own")
	fails := false
	lambda := optim.LambdaLR(o, func(group, epoch int) float64 {
		if fails {
			panic(own)
		}
		return float64(epoch + 1)
	})
	fails = true
	err := lambda.Step()
	if !errors.Is(err, own) || !errors.Is(err, gotorch.ErrCallback) || !strings.Contains(err.Error(), "LambdaLR.Step") {
		t.Fatal(err)
	}
	fails = false
	if err := lambda.Step(); err != nil || !near(lambda.LastLR()[0], 0.2) {
		t.Fatal(err, lambda.LastLR(), "a step that failed is no step")
	}
	err = gotorch.Try(func() { optim.LambdaLR(o, func(int, int) float64 { panic(own) }) })
	if !errors.Is(err, own) {
		t.Fatal(err)
	}
}

// Python looks for a number among the milestones, not for text.
func TestMilestonesAreNumbers(t *testing.T) {
	make := func() *optim.LRScheduler { return optim.MultiStepLR((&scheduleCase{}).twoGroups(), []int{3, 8, 8}) }
	state := make().State()
	want := map[any]any{3: 1, 8: 2}
	if !reflect.DeepEqual(state["milestones"], want) {
		t.Fatalf("%#v", state["milestones"])
	}
	path := filepath.Join(t.TempDir(), "state.pt")
	if err := gotorch.SavePt(path, state); err != nil {
		t.Fatal(err)
	}
	read, err := gotorch.LoadPt(path)
	if err != nil || !reflect.DeepEqual(read.(map[string]any)["milestones"], want) {
		t.Fatalf("%#v, %v", read, err)
	}
	for _, one := range []optim.SchedulerState{state, read.(map[string]any)} {
		if err := make().LoadState(one); err != nil {
			t.Error(err)
		}
	}
}

func TestSchedulersRefuse(t *testing.T) {
	o := (&scheduleCase{}).twoGroups()
	cosine := optim.CosineAnnealingLR(o, 10)
	other := optim.CosineAnnealingLR((&scheduleCase{}).twoGroups(), 10)
	try := func(body func()) error { return gotorch.Try(body) }
	wrong := cosine.State()
	wrong["eta_min"] = "low"
	unknown := cosine.State()
	unknown["gamma"] = 1.0
	strange := cosine.State()
	strange["T_max"] = struct{}{}
	for text, got := range map[string]error{
		"optim.StepLR: stepSize must":                                 try(func() { optim.StepLR(o, 0) }),
		"optim.CyclicLR: maxLR has 3":                                 try(func() { optim.CyclicLR(o, []float64{0.1}, []float64{1, 2, 3}) }),
		"Mode is 'square'; it can be":                                 try(func() { optim.CyclicLR(o, []float64{0.1}, []float64{1}, optim.CyclicLROptions{Mode: "square"}) }),
		"TotalSteps is missing; give it, or Epochs and StepsPerEpoch": try(func() { optim.OneCycleLR(o, []float64{1}) }),
		"Factor must be less than 1":                                  try(func() { optim.ReduceLROnPlateau(o, optim.PlateauOptions{Factor: optim.Some(1.0)}) }),
		"2 schedulers and 3 milestones":                               try(func() { optim.SequentialLR(o, []*optim.LRScheduler{cosine, cosine}, []int{1, 2, 3}) }),
		"of another optimizer":                                        try(func() { optim.ChainedScheduler(cosine, other) }),
		"CosineAnnealingLR.StepTo: ":                                  cosine.StepTo(1.5),
		"state 'eta_min' is no number":                                cosine.LoadState(wrong),
		"state 'gamma' is unknown":                                    cosine.LoadState(unknown),
		"the value[T_max] is a struct {}, which no":                   cosine.LoadState(strange),
		"state 'T_max' is missing":                                    cosine.LoadState(optim.SchedulerState{}),
	} {
		if got == nil || !strings.Contains(got.Error(), text) {
			t.Errorf("%q: %v", text, got)
		}
	}
	if err := cosine.Step(); err != nil {
		t.Fatal(err)
	}
}
