package elastic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Options of [Run].
type Options struct {
	Backend   string         // of the groups, as [dist.Options] has it; unset: "auto", on a GPU "nccl"
	Timeout   time.Duration  // of each collective; unset: 30 minutes
	Device    gotorch.Device // of this rank, for nccl
	Interface string         // network interface of gloo

	CommitEvery int // steps: what a failure costs at most, against a copy of the state in memory; unset: 10

	// A folder that all ranks see: where nobody is left, training goes on from its newest checkpoint. A disk that fails, or
	// is full, costs a checkpoint, of which a line on stderr says so, once one was written or loaded; before that, and at
	// the end of training, it is [Run]'s error.
	Checkpoints     string
	CheckpointEvery int              // steps, a multiple of CommitEvery; unset: none are written
	CheckpointsKept gotorch.Opt[int] // unset: 3; Some(0): all

	// Random numbers of the CPU are those of (Seed, step, rank) in each step, so that a step that is made again draws what
	// it drew before, whoever makes it.
	Seed gotorch.Opt[uint64]

	// CheckEvery has all ranks compare their parameters, by hashes, every so many steps, a multiple of CommitEvery; unset:
	// never. A rank that has others than most computes wrongly: its [Run] returns [gotorch.ErrDataLoss], and the others go
	// on without it from the last commit. Where there is no majority, as with two ranks, all of them return that.
	CheckEvery int

	// Signals after which this process leaves, between two steps: its machine is about to go. [dist.Main] ends a program at
	// SIGTERM and SIGINT, so use another one there, such as SIGUSR1.
	LeaveOn []os.Signal
}

// Outcome of a [Run] without an error.
type Outcome int

const (
	Finished  Outcome = iota // training has come to its end, here
	NotNeeded                // it came to its end without this process, a spare
	Left                     // this process left
)

// Job is what training sees of the membership epoch that it runs in.
type Job struct {
	session c.Elastic
	state   *checkpoint.State
	group   *dist.ProcessGroup
}

// Group connects the ranks of this epoch. What is made of it (DDP, loaders) is to be closed before train returns; the
// group itself closes with the epoch.
func (j *Job) Group() *dist.ProcessGroup { return j.group }

// Rank of this process in the epoch.
func (j *Job) Rank() int { return j.group.Rank() }

// Size is the number of ranks of the epoch.
func (j *Job) Size() int { return j.group.Size() }

// Epoch of the membership, from 1.
func (j *Job) Epoch() int { return int(c.ElasticEpoch(j.session)) }

// Steps that were completed since the job began, by whatever ranks.
func (j *Job) Steps() int { return int(c.ElasticSteps(j.session)) }

// errStop is what Step gives where train is to end for now; leaves: for good.
type errStop struct{ leaves bool }

func (e *errStop) Error() string {
	return "elastic: ranks join or leave: training goes on in the next membership epoch (return this error from train)"
}

// Step tells that a step is complete, the optimizer's and whatever else belongs to it included. What it returns is for
// train to return: where ranks join or leave training begins again with others, from here.
func (j *Job) Step() error {
	next, failure := c.StepElastic(j.session)
	if failure != nil {
		return bridge.Error(failure)
	}
	if next == c.ElasticGoOn {
		return nil
	}
	if err := j.Commit(); err != nil {
		return err
	}
	if next == c.ElasticCommit {
		return nil
	}
	return &errStop{leaves: next == c.ElasticLeave}
}

// Commit keeps what training goes on with, now: on all ranks. Step does it by itself.
func (j *Job) Commit() error { return commit(j.session, j.state) }

// Leave has this process leave, between two of the next steps. From any goroutine.
func (j *Job) Leave() { c.NotifyElastic(j.session) }

// Describe is what the launcher says of the job beside its step, such as a loss; up to 200 bytes.
func (j *Job) Describe(format string, values ...any) {
	c.DescribeElastic(j.session, fmt.Sprintf(format, values...))
}

func commit(session c.Elastic, state *checkpoint.State) error {
	return bridge.Content(state, func(tensors []c.CheckpointTensor, values string) error {
		return bridge.Error(c.CommitElastic(session, tensors, values))
	})
}

// Run calls train, again with other ranks whenever that changes: with the state of the last commit after a failure, from
// where it was where ranks join or leave. state has what training goes on with; it is the same on all ranks, and the first
// rank's to begin with. train returns nil when training is over; its other errors, and panics as [gotorch.Try] has them,
// are Run's, unless a rank was lost. When ctx ends, all that waits for other ranks ends.
//
// Without `tandem run` there is one epoch: of the ranks that a launcher's environment names, or of one.
func Run(ctx context.Context, state *checkpoint.State, train func(ctx context.Context, job *Job) error,
	options ...Options) (Outcome, error) {
	o, err := bridge.One(options)
	if err != nil {
		return Finished, err
	}
	if err := ctx.Err(); err != nil {
		return Finished, context.Cause(ctx)
	}
	if _, seeded := o.Seed.Get(); seeded && state.RNG {
		return Finished, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "elastic.Run",
			Message: "Seed makes the random numbers of each step, and the state's RNG keeps others; give one of them"}
	}
	session, err := open(o)
	if err != nil {
		return Finished, err
	}
	defer c.FreeElastic(session)
	defer abortWith(ctx, session)()
	defer leaveOn(session, o.LeaveOn)()

	outcome, err := run(ctx, session, state, train, o)
	if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
		err = fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	}
	return outcome, err
}

func run(ctx context.Context, session c.Elastic, state *checkpoint.State, train func(context.Context, *Job) error,
	o Options) (Outcome, error) {
	if err := commit(session, state); err != nil {
		return Finished, err
	}
	for {
		handle, failure := c.MeetElastic(session)
		if failure != nil {
			return Finished, bridge.Error(failure)
		}
		if handle == nil && c.ElasticHasLeft(session) {
			return Left, nil
		}
		if handle == nil {
			return NotNeeded, nil
		}
		err := epoch(ctx, session, state, train, handle, o)
		if err == nil { // what it still writes may fail of a lost rank, too
			err = bridge.Error(c.DoneElastic(session))
		}
		if err == nil {
			return Finished, nil
		}
		var stop *errStop
		if errors.As(err, &stop) {
			if stop.leaves {
				return Left, bridge.Error(c.LeftElastic(session))
			}
			continue
		}
		ended, failure := c.ElasticHasEnded(session)
		if failure != nil || !ended {
			return Finished, err
		}
	}
}

func epoch(ctx context.Context, session c.Elastic, state *checkpoint.State, train func(context.Context, *Job) error,
	handle c.ProcessGroup, o Options) (err error) {
	group := bridge.NewGroup(ctx, handle, int32(o.Device.Kind), int32(o.Device.Index)).(*dist.ProcessGroup)
	defer group.Close()
	found, failure := c.ElasticCommitted(session)
	if failure != nil {
		return bridge.Error(failure)
	}
	if err := bridge.Fill(state, found); err != nil {
		return fmt.Errorf("elastic: the state of step %d cannot be loaded: %w", found.Step, err)
	}
	job := &Job{session, state, group}
	if panicked := gotorch.Try(func() { err = train(ctx, job) }); panicked != nil {
		return panicked
	}
	return err
}

func open(o Options) (c.Elastic, error) {
	if o.CommitEvery < 0 || o.CheckpointEvery < 0 || o.CheckEvery < 0 || o.CheckpointsKept.Or(0) < 0 {
		return nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "elastic.Run",
			Message: "CommitEvery, CheckpointEvery, CheckEvery and CheckpointsKept are no negative numbers"}
	}
	backend := "auto"
	if o.Device.Kind == gotorch.CUDADevice {
		backend = "nccl"
	}
	device := o.Device
	if device.Kind == gotorch.CPUDevice {
		device = gotorch.CPU
	}
	timeout := int64(1800000)
	if o.Timeout > 0 {
		timeout = int64((o.Timeout + time.Millisecond - 1) / time.Millisecond)
	}
	group := c.GroupOptions{Backend: cmp.Or(o.Backend, backend), Interface: o.Interface, Rank: -1, WorldSize: -1,
		TimeoutMS: timeout, DeviceKind: int32(device.Kind), DeviceIndex: int32(device.Index)}
	seed, seeded := o.Seed.Get()
	session, failure := c.CreateElastic(group, c.ElasticOptions{CommitEvery: int64(cmp.Or(o.CommitEvery, 10)),
		Checkpoints: o.Checkpoints, CheckpointEvery: int64(o.CheckpointEvery), CheckpointsKept: int32(o.CheckpointsKept.Or(3)),
		CheckEvery: int64(o.CheckEvery), HasSeed: seeded, Seed: seed})
	return session, bridge.Error(failure)
}

// abortWith has the session end with ctx, until what it gives is called.
func abortWith(ctx context.Context, session c.Elastic) (stop func()) {
	ended := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(ended)
		c.AbortElastic(session)
	})
	return func() {
		if !cancel() {
			<-ended
		}
	}
}

// leaveOn has the process leave after one of the signals, until what it gives is called.
func leaveOn(session c.Elastic, signals []os.Signal) (stop func()) {
	if len(signals) == 0 {
		return func() {}
	}
	came, ends, ended := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(came, signals...)
	go func() {
		defer close(ended)
		for {
			select {
			case <-came:
				c.NotifyElastic(session)
			case <-ends:
				return
			}
		}
	}()
	return func() {
		signal.Stop(came)
		close(ends)
		<-ended
	}
}
