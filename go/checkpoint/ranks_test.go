package checkpoint_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/nn"
)

// ranks runs body on goroutines that are the ranks of a group.
func ranks(t *testing.T, size int, body func(rank int, group *dist.ProcessGroup)) {
	t.Helper()
	store, err := dist.NewHashStore()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() {
			group, err := dist.Init(context.Background(), dist.Options{Backend: "gloo", Rank: gotorch.Some(rank), WorldSize: size,
				Store: store, Timeout: 30 * time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			defer group.Close()
			body(rank, group)
		})
	}
	all.Wait()
}

// What one rank cannot fill is an error on all of them, which then can go on together.
func TestARankThatCannotUseItFailsAll(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "run")
	ranks(t, 2, func(rank int, group *dist.ProcessGroup) {
		folder := open(t, path, checkpoint.Options{Group: group})
		defer folder.Close()
		net := nn.NewLinear(4, 2)
		if err := folder.Save(ctx, 1, checkpoint.State{Model: net}); err != nil {
			t.Error(rank, err)
		}
		wanted := net
		if rank == 1 {
			wanted = nn.NewLinear(4, 3)
		}
		state := checkpoint.State{Model: wanted}
		loaded, err := folder.Load(ctx, &state)
		if loaded != nil || err == nil {
			t.Errorf("rank %d: %v, %v", rank, loaded, err)
		} else if rank == 0 && !strings.Contains(err.Error(), "rank 1: ") {
			t.Errorf("rank %d: %v", rank, err)
		}
		state.Model = net
		if loaded, err := folder.Load(ctx, &state); err != nil || loaded.Step != 1 {
			t.Errorf("rank %d: %v, %v", rank, loaded, err)
		}
	})
}

// What one rank fails of before it saves anything the others are told, who save already.
func TestARankThatCannotMakeItFailsAll(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "run")
	ranks(t, 2, func(rank int, group *dist.ProcessGroup) {
		folder := open(t, path, checkpoint.Options{Group: group})
		defer folder.Close()
		good := checkpoint.State{Model: nn.NewLinear(4, 2), Values: rank}
		state := good
		if rank == 1 {
			state.Values = func() {} // no JSON
		}
		told := func(err error) {
			if err == nil || !strings.Contains(err.Error(), "the values cannot be written as JSON") ||
				rank == 0 && !strings.Contains(err.Error(), "rank 1: ") {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		told(folder.Save(ctx, 1, state))
		err := folder.SaveAsync(ctx, 2, state)
		if rank == 0 && err == nil { // it goes on beside the rest there
			err = folder.Wait(ctx)
		}
		told(err)
		if err := folder.SaveAsync(ctx, 3, good); err != nil {
			t.Error(err)
		}
		if err := folder.Wait(ctx); err != nil {
			t.Error(err)
		}
		if steps, err := folder.Steps(); !slices.Equal(steps, []int{3}) {
			t.Error(steps, err)
		}
	})
}

func TestAPartIsReadWithoutTheOtherFiles(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "run")
	folder := open(t, path)
	training := newTraining(1)
	training.step(t)
	if err := folder.Save(ctx, 7, training.state()); err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"optimizer", "averages"} {
		if err := os.Remove(filepath.Join(path, "step-000000007", section+".safetensors")); err != nil {
			t.Fatal(err)
		}
	}
	other := newTraining(2)
	if loaded, err := folder.Load(ctx, &checkpoint.State{Model: other.net}); err != nil || loaded.Step != 7 {
		t.Fatal(loaded, err)
	}
	if nn.Fingerprint(other.net) != nn.Fingerprint(training.net) {
		t.Error("the model is another one")
	}
	whole := training.state()
	if _, err := folder.Load(ctx, &whole); !errors.Is(err, gotorch.ErrDataLoss) {
		t.Error(err)
	}

	part, loaded, err := folder.LoadTensors(ctx, checkpoint.Selection{Sections: []string{"model"}, Prefixes: []string{"0.", "2.w"}})
	if err != nil || loaded.Step != 7 {
		t.Fatal(loaded, err)
	}
	var names []string
	for name, one := range part["model"] {
		names = append(names, name)
		one.Close()
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"0.bias", "0.weight", "2.weight"}) || len(part) != 1 {
		t.Error(names, part)
	}
	if _, _, err := folder.LoadTensors(ctx, checkpoint.Selection{Sections: []string{"modle"}}); !errors.Is(err, gotorch.ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "checkpoint.Folder.LoadTensors: ") {
		t.Error(err)
	}
	if _, _, err := folder.LoadTensors(ctx, checkpoint.Selection{Step: gotorch.Some(3)}); !errors.Is(err, gotorch.ErrNotFound) {
		t.Error(err)
	}
}

const stopVariable = "TEST_STOP_FOLDER"

// stoppedRank is a process, one of two ranks; the second stops itself, the first says what ends its save.
func stoppedRank() {
	check := func(err error) {
		if err != nil {
			fmt.Println("unexpected:", err)
			os.Exit(1)
		}
	}
	folder, how, ok := strings.Cut(os.Getenv(stopVariable), "|")
	rank, err := strconv.Atoi(os.Getenv("TEST_RANK"))
	if !ok || err != nil {
		os.Exit(2)
	}
	group, err := dist.Init(context.Background(), dist.Options{Backend: "gloo", Rank: gotorch.Some(rank), WorldSize: 2,
		InitMethod: "tcp://127.0.0.1:" + os.Getenv("TEST_PORT"), Timeout: 10 * time.Minute}) // a stopped process may hold a file store's lock
	check(err)
	checkpoints, err := checkpoint.Open(filepath.Join(folder, "run"), checkpoint.Options{Group: group})
	check(err)
	state := checkpoint.State{Model: nn.NewLinear(4, 2)}
	check(checkpoints.SaveAsync(context.Background(), 1, state))
	check(checkpoints.Wait(context.Background()))
	check(group.Barrier(context.Background()))
	if rank == 1 {
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour) // another thread may take the signal, and this one run on until that has stopped it
	}
	ctx, cancel := context.WithCancel(context.Background())
	check(checkpoints.SaveAsync(context.Background(), 2, state))
	time.AfterFunc(time.Second, map[string]func(){"context": cancel, "abort": checkpoints.Abort,
		"close": func() { checkpoints.Close() }, "close group": func() { group.Close() }, "abort group": func() { group.Abort() }, "close alone": func() {}}[how])
	if how == "close alone" {
		fmt.Printf("%q\n", checkpoints.Close())
	} else {
		fmt.Printf("%q\n", checkpoints.Wait(ctx))
	}
	checkpoints.Close()
	group.Close()
	fmt.Println("closed")
}

func TestASaveThatWaitsForAStoppedRankEnds(t *testing.T) {
	for _, how := range []string{"context", "abort", "close", "close group", "abort group", "close alone"} {
		folder := t.TempDir()
		port := "TEST_PORT=" + strconv.Itoa(testmain.FreePort(t))
		stopped := testmain.Command(t, "stopped rank", stopVariable+"="+folder+"|"+how, "TEST_RANK=1", port)
		if err := stopped.Start(); err != nil {
			t.Fatal(err)
		}
		waiting := testmain.Command(t, "stopped rank", stopVariable+"="+folder+"|"+how, "TEST_RANK=0", port)
		output, err := waiting.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := waiting.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(output)
		lines.Scan()
		said := lines.Text()
		for _, part := range []string{"step-000000002", "rank 1 is missing", "abort"} {
			if !strings.Contains(said, part) {
				t.Errorf("%s: %s lacks %q", how, said, part)
			}
		}
		if how == "context" && !strings.Contains(said, context.Canceled.Error()) {
			t.Errorf("%s: %s", how, said)
		}
		if lines.Scan(); lines.Text() != "closed" {
			t.Errorf("%s: %q instead of the end", how, lines.Text())
		}
		if err := waiting.Wait(); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		stopped.Process.Kill()
		stopped.Wait()
	}
}
