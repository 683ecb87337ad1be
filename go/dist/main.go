package dist

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/leak"
)

// shutdownTimeout is how long native threads may take to end.
const shutdownTimeout = 10 * time.Second

// Main runs a program that a launcher starts: it calls run, prints the error that it returns or panics with, writes it
// to the launcher's error file (TORCHELASTIC_ERROR_FILE), stops native threads, and exits: 0, or 1 after an error. run's
// context ends when the process is interrupted or told to terminate. run is called on the main thread.
func Main(run func(ctx context.Context) error) {
	runtime.LockOSThread() // LibTorch keeps a pool of threads for each thread that calls it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	stack, err := protect(func() error { return run(ctx) })
	if err != nil && ctx.Err() != nil { // what was under way then says that its group was aborted
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	stop()
	code := 0
	if err != nil {
		code = 1
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		if stack != "" {
			fmt.Fprintln(os.Stderr, stack)
		}
		if problem := writeErrorFile(os.Getenv("TORCHELASTIC_ERROR_FILE"), err, stack, time.Now()); problem != nil {
			fmt.Fprintf(os.Stderr, "%s: cannot write TORCHELASTIC_ERROR_FILE: %v\n", filepath.Base(os.Args[0]), problem)
		}
	}
	if err == nil {
		for _, what := range leak.Open() {
			fmt.Fprintf(os.Stderr, "%s: not closed: a %s\n", filepath.Base(os.Args[0]), what)
		}
	}
	if problem := gotorch.Shutdown(shutdownTimeout); problem != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), problem)
	}
	os.Exit(code)
}

// Run is [Main] for a program that trains with one group: it calls run with the group that [Init] makes, and closes it.
// Without a launcher, as with "go run .", the group is a world of one.
func Run(run func(ctx context.Context, group *ProcessGroup) error, options ...Options) {
	Main(func(ctx context.Context) error {
		o, err := bridge.One(options)
		if err != nil {
			return err
		}
		if isAlone(o) {
			store, err := NewHashStore()
			if err != nil {
				return err
			}
			defer store.Close()
			o.Store, o.Rank, o.WorldSize = store, gotorch.Some(0), 1
		}
		group, err := Init(ctx, o)
		if err != nil {
			return err
		}
		defer group.Close()
		return run(ctx, group)
	})
}

// isAlone tells that neither options nor a launcher say which processes there are. A part of what a launcher says is a
// mistake, which Init names.
func isAlone(o Options) bool {
	if o.Store != nil || o.WorldSize != 0 || o.Rank != (gotorch.Opt[int]{}) || o.InitMethod != "" && o.InitMethod != "env://" {
		return false
	}
	p := launchPlace()
	return p.failure == nil && p.launcher == ""
}

// protect turns a panic into an error; a panic that is no error of gotorch's comes with its stack.
func protect(run func() error) (stack string, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			stack = string(debug.Stack())
			err = fmt.Errorf("panic: %v", problem)
		}
	}()
	var returned error
	if err = gotorch.Try(func() { returned = run() }); err == nil {
		err = returned
	}
	return "", err
}

// writeErrorFile writes what torchrun and tandem run read to find the first failure. No path: nothing.
func writeErrorFile(path string, failure error, stack string, now time.Time) error {
	if path == "" {
		return nil
	}
	type extra struct {
		Callstack string `json:"py_callstack"`
		Timestamp string `json:"timestamp"`
	}
	type message struct {
		Message string `json:"message"`
		Extra   extra  `json:"extraInfo"`
	}
	content, err := json.Marshal(map[string]message{"message": {failure.Error(),
		extra{stack, strconv.FormatInt(now.Unix(), 10)}}})
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
