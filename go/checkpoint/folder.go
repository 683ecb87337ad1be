package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Folder has the checkpoints of one training. One goroutine at a time may use it, but for [Folder.Abort] and
// [Folder.Close].
type Folder struct {
	mutex  sync.Mutex   // of calls
	freed  sync.RWMutex // of the handle, which calls use for as long as they hold either
	handle c.CheckpointFolder
	watch  *leak.Watch
	path   string
	group  *dist.ProcessGroup
}

// Options of [Open].
type Options struct {
	Keep  gotorch.Opt[int]   // how many checkpoints stay, of the newest; unset: 3; Some(0): all
	Group *dist.ProcessGroup // whose ranks save and load together, in a folder that all of them see; nil: this process alone
}

// Open gives the folder, which the first save makes. Close it before its group.
func Open(path string, options ...Options) (*Folder, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	f := &Folder{path: path, group: o.Group}
	create := func(group c.ProcessGroup) (failure *c.Failure) {
		f.handle, failure = c.CreateCheckpointFolder(path, int64(o.Keep.Or(3)), group)
		return failure
	}
	if f.group == nil {
		err = bridge.Error(create(nil))
	} else {
		err = bridge.UseGroup(context.Background(), f.group, "checkpoint_folder_create", create)
	}
	if err != nil {
		return nil, err
	}
	f.watch = leak.Track(f, "checkpoint.Folder")
	return f, nil
}

// Path of the folder.
func (f *Folder) Path() string { return f.path }

// use runs a call that may wait for other ranks: when ctx ends the group is aborted.
func (f *Folder) use(ctx context.Context, op string, call func() *c.Failure) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.handle == nil {
		return bridge.Error(&c.Failure{Code: c.CodeClosed, Op: op, Message: "this folder of checkpoints was closed"})
	}
	if f.group == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		return bridge.Error(call())
	}
	return bridge.UseGroup(ctx, f.group, op, func(c.ProcessGroup) *c.Failure { return call() })
}

// Saving tells whether a save goes on that [Folder.SaveAsync] began.
func (f *Folder) Saving() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.handle != nil && c.SavingCheckpoint(f.handle)
}

// Wait waits for the save that [Folder.SaveAsync] began. Its error is told once, here or by the next save. When ctx ends
// the save is aborted, as by [Folder.Abort].
func (f *Folder) Wait(ctx context.Context) error {
	if f.group != nil {
		stop := context.AfterFunc(ctx, f.Abort)
		defer stop()
	}
	err := f.use(context.Background(), "checkpoint_folder_wait", func() *c.Failure { return c.WaitCheckpoint(f.handle) })
	if errors.Is(err, gotorch.ErrAborted) && ctx.Err() != nil {
		return fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	}
	return err
}

// Abort ends a save beside training that waits for other ranks, with an error (gotorch.ErrAborted) that names those who
// are missing: a rank that is stopped would hold it up until the group's timeout. So does the end of the group, by its
// Abort, its Close, or its context. Afterwards nothing can be saved beside training. Any goroutine may call it.
func (f *Folder) Abort() {
	f.freed.RLock()
	defer f.freed.RUnlock()
	if f.handle != nil {
		c.AbortCheckpoint(f.handle)
	}
}

// Steps are those of the checkpoints that are there, rising, whether they are whole or not.
func (f *Folder) Steps() (steps []int, err error) {
	err = f.use(context.Background(), "checkpoint_folder_steps", func() *c.Failure {
		found, failure := c.CheckpointSteps(f.handle)
		for _, step := range found {
			steps = append(steps, int(step))
		}
		return failure
	})
	return steps, err
}

// Close waits for a save that goes on, and gives its error where nobody was told. A save that another goroutine waits for is
// aborted, and so is one that waits for a rank whose process has not run for some ten seconds. A second Close does nothing.
func (f *Folder) Close() error {
	if !f.watch.Done() {
		return nil
	}
	if !f.mutex.TryLock() {
		f.Abort()
		f.mutex.Lock()
	}
	defer f.mutex.Unlock()
	err := bridge.Error(c.CloseCheckpoint(f.handle))
	f.freed.Lock()
	defer f.freed.Unlock()
	c.FreeCheckpointFolder(f.handle)
	f.handle = nil
	return err
}
