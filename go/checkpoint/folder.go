package checkpoint

import (
	"context"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Folder has the checkpoints of one training. One goroutine at a time may use it.
type Folder struct {
	mutex  sync.Mutex
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

// Wait waits for the save that [Folder.SaveAsync] began. Its error is told once, here or by the next save.
func (f *Folder) Wait(ctx context.Context) error {
	return f.use(ctx, "checkpoint_folder_wait", func() *c.Failure { return c.WaitCheckpoint(f.handle) })
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

// Close waits for a save that goes on, and gives its error where nobody was told. A second Close does nothing.
func (f *Folder) Close() error {
	if !f.watch.Done() {
		return nil
	}
	err := f.Wait(context.Background())
	f.mutex.Lock()
	defer f.mutex.Unlock()
	c.FreeCheckpointFolder(f.handle)
	f.handle = nil
	return err
}
