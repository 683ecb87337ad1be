package dist_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

func hashStore(t *testing.T) *dist.Store {
	t.Helper()
	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// A wait under a context is made of many short ones; what it tells is the whole.
func TestAWaitTellsTheTimeoutThatEndedIt(t *testing.T) {
	store := hashStore(t)
	if err := store.SetTimeout(450 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := store.Get(ctx, "absent")
	if !errors.Is(err, gotorch.ErrTimeout) || !strings.Contains(err.Error(), "450ms") || !strings.Contains(err.Error(), `"absent"`) {
		t.Error("the store's timeout:", err)
	}
	ended, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := store.Wait(ended, "absent"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the context's deadline:", err)
	}
}

// Whoever gives up meeting can close the store at once, though LibTorch still waits for the other ranks.
func TestAStoreClosesWhileRanksAreWaitedFor(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a timeout")
	}
	before := gotorch.LiveCounts()["store"]
	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := dist.Init(ctx, dist.Options{Backend: "gloo", Store: store, Rank: gotorch.Some(0), WorldSize: 2,
		Timeout: 10 * time.Second, Name: "abandoned"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if gotorch.LiveCounts()["store"] == before {
		t.Error("Close waited until ranks were no longer waited for")
	}
	if err := store.Set("key", nil); !errors.Is(err, gotorch.ErrClosed) {
		t.Error("a closed store:", err)
	}
	for end := time.Now().Add(testTimeout); gotorch.LiveCounts()["store"] > before; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the store is never freed")
		}
	}
}
