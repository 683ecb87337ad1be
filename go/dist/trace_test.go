package dist_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

// traceFile is what Perfetto reads.
type traceFile struct {
	Tandem struct {
		Kind, Run string
		Rank      int
		WorldSize int `json:"world_size"`
	}
	TraceEvents []struct {
		Ph, Name string
		Args     map[string]any
	}
}

func readTrace(path string) (trace traceFile, names map[string]int, err error) {
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &trace)
	}
	names = map[string]int{}
	for _, event := range trace.TraceEvents {
		if event.Ph == "X" || event.Ph == "b" {
			names[event.Name]++
		}
	}
	return trace, names, err
}

func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	threads(t, 1, func(ctx context.Context, group *dist.ProcessGroup) error {
		if err := check(dist.StopTrace(path) != nil, "a trace that is not on was stopped"); err != nil {
			return err
		}
		if err := group.StartTrace(ctx, dist.TraceOptions{MostEvents: int64(1000)}); err != nil {
			return err
		}
		if err := check(group.StartTrace(ctx) != nil, "a trace was started twice"); err != nil {
			return err
		}
		_, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		for range 2 {
			if err := ddp.Forward(input(0)).Sum().Backward(); err != nil {
				return err
			}
		}
		if err := errors.Join(group.Barrier(ctx), dist.StopTrace(path)); err != nil {
			return err
		}
		trace, names, err := readTrace(path)
		return errors.Join(err, check(trace.Tandem.Kind == "trace" && trace.Tandem.WorldSize == 1 && names["step"] == 2 &&
			names["backward"] == 2 && names["bucket 0"] == 2 && names["barrier"] == 1 && names["all_reduce"] >= 2,
			"%+v %v", trace.Tandem, names))
	})
}

func TestProfiler(t *testing.T) {
	folder := t.TempDir()
	threads(t, 1, func(ctx context.Context, group *dist.ProcessGroup) error {
		if _, err := gotorch.StopProfiler(""); err == nil {
			return errors.New("a profiler that is not on was stopped")
		}
		if err := group.StartProfiler(ctx, gotorch.ProfilerOptions{Shapes: true}); err != nil {
			return err
		}
		// On whatever thread a goroutine is.
		done := make(chan struct{})
		go func() {
			defer close(done)
			gotorch.Ones([]int{4, 4}).Tanh().Close()
		}()
		<-done
		x := gotorch.Ones([]int{8, 8})
		x.MM(x).Close()
		if err := group.AllReduce(ctx, x, dist.Sum); err != nil {
			return err
		}
		if err := check(group.StartProfiler(ctx) != nil, "the profiler was started twice"); err != nil {
			return err
		}
		path := filepath.Join(folder, "profile.json")
		table, err := gotorch.StopProfiler(path)
		if err != nil {
			return err
		}
		trace, names, err := readTrace(path)
		if err := errors.Join(err, check(trace.Tandem.Kind == "profile" && names["aten::mm"] == 1 &&
			names["aten::tanh"] == 1 && names["gloo:all_reduce"] == 1, "%+v %v", trace.Tandem, names)); err != nil {
			return err
		}
		if err := check(strings.Contains(table, "aten::mm") && strings.Contains(table, "own ms"), "%s", table); err != nil {
			return err
		}
		if err := gotorch.StartProfiler(); err != nil {
			return err
		}
		_, err = gotorch.StopProfiler(filepath.Join(folder, "no", "such", "folder"))
		return check(err != nil && strings.Contains(err.Error(), "cannot create"), "%v", err)
	})
}

func TestBucketTrial(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		_, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		if err := check(ddp.TryBucketSizes(dist.BucketTrialOptions{SizesMB: []float64{-1}}) != nil,
			"-1 MiB was taken"); err != nil {
			return err
		}
		if err := ddp.TryBucketSizes(dist.BucketTrialOptions{SizesMB: []float64{0, 25}, Iterations: 1,
			Rounds: 1}); err != nil {
			return err
		}
		for range 10 {
			if err := ddp.Forward(input(group.Rank())).Sum().Backward(); err != nil {
				return err
			}
		}
		advice, err := ddp.BucketAdvice()
		return errors.Join(err, check(advice.Done && len(advice.Trials) == 1 && advice.Trials[0].Buckets == 1 &&
			advice.BucketCapMB == 0, "%+v", advice))
	})
}
