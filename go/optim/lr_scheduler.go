package optim

import (
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// scheduler is what all schedulers have.
type scheduler struct {
	kind   string
	handle c.LRScheduler
}

// LRScheduler changes the learning rates of an optimizer's groups, and cycles momentums where it says so: at once when it is
// made, and with each Step. It keeps the optimizer. Most compute a rate from the one that the group has, so that several
// compose and what the program sets itself counts. One goroutine at a time may use it and the optimizer. The constructors
// panic with *gotorch.Error on options that a scheduler does not take.
//
//	schedule := optim.CosineAnnealingLR(adam, 100)
//	for epoch := range 100 {
//		... adam.Step() ...
//		if err := schedule.Step(); err != nil {
//
// Source: torch.optim.lr_scheduler.
type LRScheduler struct{ *scheduler }

// PlateauScheduler is that of [ReduceLROnPlateau], which is stepped with a metric.
type PlateauScheduler struct{ *scheduler }

func adoptScheduler(kind string, handle c.LRScheduler) *scheduler {
	s := &scheduler{kind, handle}
	runtime.AddCleanup(s, func(handle c.LRScheduler) { c.FreeLRScheduler(handle) }, handle)
	return s
}

// named puts the scheduler's name into an error.
func (s *scheduler) named(op string, err *c.Failure) error {
	runtime.KeepAlive(s)
	if err == nil {
		return nil
	}
	err.Op = s.kind + "." + op
	return bridge.Error(err)
}

// Step goes on by one. Call it after the optimizer's Step.
func (s *LRScheduler) Step() error { return s.named("Step", c.StepLR(s.handle)) }

// StepTo goes to any place, also within an epoch, as in epoch + batch / batches. Of [CosineAnnealingWarmRestarts] alone:
// others return ErrUnsupported.
func (s *LRScheduler) StepTo(epoch float64) error {
	return s.named("StepTo", c.StepLRTo(s.handle, epoch))
}

// Step tells what is to become small, or great: a loss, an accuracy. Call it after validation.
func (s *PlateauScheduler) Step(metric float64) error {
	return s.named("Step", c.StepLRMetric(s.handle, metric))
}

// LastLR is each group's rate, as the last Step left it.
func (s *scheduler) LastLR() []float64 {
	rates, err := c.LastLR(s.handle)
	if failure := s.named("LastLR", err); failure != nil {
		panic(failure)
	}
	return rates
}

// State is what a scheduler has to go on from, with the names and values of Python's state_dict(); functions are no part
// of it.
func (s *scheduler) State() SchedulerState {
	values, err := c.LRSchedulerState(s.handle)
	if failure := s.named("State", err); failure != nil {
		panic(failure)
	}
	state, _ := bridge.FromPython(values).(map[string]any) // its own keys are text
	return state
}

// LoadState goes on from a state, of this scheduler, or of one of Python's, that was made alike, and sets the groups' rates,
// and cycled momentums, to what they were. All or nothing: a name that is missing or unknown is ErrInvalidArgument.
func (s *scheduler) LoadState(state SchedulerState) error {
	return gotorch.Try(func() {
		f := c.NewFrame()
		bridge.PutPython(f, state, s.kind+".LoadState")
		if failure := s.named("LoadState", c.LoadLRSchedulerState(s.handle, f)); failure != nil {
			panic(failure)
		}
	})
}

// SequentialLR goes on with the next scheduler at each milestone, which is a number of steps: there is one milestone fewer
// than schedulers. All are of this optimizer, and are not stepped by themselves any more. Source:
// torch.optim.lr_scheduler.SequentialLR.
func SequentialLR(optimizer *Optimizer, schedulers []*LRScheduler, milestones []int, more ...SchedulerOptions) *LRScheduler {
	o := first(more)
	handle, err := c.SequentialLR(optimizer.handle, handlesOfSchedulers(schedulers), milestones, o.LastEpoch.Or(-1))
	runtime.KeepAlive(schedulers)
	runtime.KeepAlive(optimizer)
	mustSchedule("SequentialLR", err)
	return &LRScheduler{adoptScheduler("SequentialLR", handle)}
}

// ChainedScheduler steps all schedulers at each step, each on what the one before made. They are of one optimizer, and are
// not stepped by themselves any more. Source: torch.optim.lr_scheduler.ChainedScheduler.
func ChainedScheduler(schedulers ...*LRScheduler) *LRScheduler {
	handle, err := c.ChainedScheduler(handlesOfSchedulers(schedulers))
	runtime.KeepAlive(schedulers)
	mustSchedule("ChainedScheduler", err)
	return &LRScheduler{adoptScheduler("ChainedScheduler", handle)}
}

func handlesOfSchedulers(schedulers []*LRScheduler) []c.LRScheduler {
	handles := make([]c.LRScheduler, len(schedulers))
	for i, s := range schedulers {
		handles[i] = s.handle
	}
	return handles
}

func mustSchedule(kind string, err *c.Failure) {
	if err != nil {
		err.Op = "optim." + kind
		bridge.Must(err)
	}
}
