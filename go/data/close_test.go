package data_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

// gated are samples that nobody gets before the gate opens.
type gated struct {
	once          sync.Once
	entered, gate chan struct{}
}

func (*gated) Len() int { return 4 }
func (g *gated) Get(i int) ([]*gotorch.Tensor, error) {
	g.once.Do(func() { close(g.entered) })
	<-g.gate
	return []*gotorch.Tensor{gotorch.From([]int64{int64(i)})}, nil
}

// asking asks its loader for statistics while that is closed.
type asking struct {
	*gated
	ask func()
}

func (a asking) Get(i int) ([]*gotorch.Tensor, error) {
	sample, err := a.gated.Get(i)
	a.ask()
	return sample, err
}

// Close joins threads whose callbacks may call the loader themselves.
func TestCloseWhileACallbackAsks(t *testing.T) {
	for _, threads := range []int{0, 1} {
		source := &gated{entered: make(chan struct{}), gate: make(chan struct{})}
		var loader *data.Loader
		answers := make(chan error, 10)
		samples, err := data.FromSamples(asking{source, func() {
			time.Sleep(50 * time.Millisecond) // Close is in the call that joins
			_, err := loader.Statistics()
			answers <- err
		}}, "x")
		if err != nil {
			t.Fatal(err)
		}
		if loader, err = data.NewLoader(samples, data.Options{BatchSize: 1, Threads: gotorch.Some(threads)}); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for batch, err := range loader.Epoch(context.Background(), 0) {
				if err == nil {
					batch.Close()
				}
			}
		}()
		<-source.entered
		closed := make(chan error)
		go func() { closed <- loader.Close() }()
		time.Sleep(50 * time.Millisecond) // Close waits, in whatever order
		close(source.gate)
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("Close waits for a callback that waits for Close, with threads: ", threads)
		}
		<-ended
		if err := <-answers; err != nil && !errors.Is(err, gotorch.ErrClosed) {
			t.Error(err)
		}
		samples.Close()
	}
}

// Whoever closes a loader ends the goroutine that waits for a batch of it.
func TestCloseEndsAWait(t *testing.T) {
	source := &gated{entered: make(chan struct{}), gate: make(chan struct{})}
	samples, err := data.FromSamples(source, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer samples.Close()
	loader, err := data.NewLoader(samples, data.Options{BatchSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		for batch, err := range loader.Epoch(context.Background(), 0) {
			if err != nil {
				ended <- err
				return
			}
			batch.Close()
		}
		ended <- nil
	}()
	<-source.entered
	closed := make(chan error)
	go func() { closed <- loader.Close() }()
	if err := <-ended; !errors.Is(err, gotorch.ErrAborted) {
		t.Error(err)
	}
	close(source.gate) // Close waits for the loader's threads, which are in the function above
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := loader.State(); !errors.Is(err, gotorch.ErrClosed) {
		t.Error(err)
	}
}

func TestAContextEndsTheWaitForABatch(t *testing.T) {
	for name, limit := range map[string]func() (context.Context, context.CancelFunc, error){
		"cancel": func() (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx, cancel, context.Canceled
		},
		"deadline": func() (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			return ctx, cancel, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := &gated{entered: make(chan struct{}), gate: make(chan struct{})}
			samples := must(data.FromSamples(source, "x"))
			defer samples.Close()
			loader := must(data.NewLoader(samples, data.Options{BatchSize: 1}))
			ctx, cancel, want := limit()
			defer cancel()
			ended := make(chan error)
			go func() {
				for batch, err := range loader.Epoch(ctx, 0) {
					if err != nil {
						ended <- err
						return
					}
					batch.Close()
				}
				ended <- nil
			}()
			select {
			case err := <-ended:
				if !errors.Is(err, want) {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				close(source.gate)
				<-ended
				t.Fatal("the wait goes on after its context")
			}
			if _, err := loader.State(); err != nil {
				t.Error(err)
			}
			for _, err := range loader.Epoch(t.Context(), 0) {
				if !errors.Is(err, gotorch.ErrAborted) {
					t.Error("the loader goes on: ", err)
				}
			}
			close(source.gate)
			if err := loader.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
