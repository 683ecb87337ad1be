package dist_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
)

var children = testmain.Children{
	"collectives":             func() { dist.Main(collectivesChild) },
	"ddp":                     func() { dist.Main(ddpChild) },
	"lost while training":     func() { dist.Main(lostWhileTraining) },
	"several values":          func() { dist.Main(severalValues) },
	"lost peer":               func() { dist.Main(lostPeerChild) },
	"error":                   func() { dist.Main(func(context.Context) error { return errors.New("the disk is full") }) },
	"panic":                   func() { dist.Main(func(context.Context) error { panic("a bug") }) },
	"gotorch panic":           func() { dist.Main(gotorchPanicChild) },
	"not closed":              func() { dist.Main(notClosedChild) },
	"signal":                  func() { dist.Main(signalChild) },
	"alone":                   func() { dist.Run(aloneChild) },
	"place":                   placeChild,
	"pipeline":                func() { dist.Main(pipelineChild) },
	"pipeline fails":          func() { dist.Main(pipelineFailsChild) },
	"pipeline refused":        func() { dist.Main(pipelineRefusedChild) },
	"model parallel":          func() { dist.Main(modelParallelChild) },
	"model parallel mistakes": func() { dist.Main(modelParallelMistakes) },
	"success":                 func() { dist.Main(func(context.Context) error { return nil }) },
	"pipeline split":          func() { dist.Main(pipelineSplitChild) },
	"device mesh":             func() { dist.Main(deviceMeshChild) },
}

func TestMain(m *testing.M) { testmain.Run(m, children) }

const testTimeout = 60 * time.Second

// ranks starts a child on each of n processes that find one another as a launcher's do, and gives their output.
func ranks(t *testing.T, n int, child string, variables ...string) []*rankProcess {
	t.Helper()
	port := testmain.FreePort(t)
	all := make([]*rankProcess, n)
	for rank := range all {
		own := append([]string{"RANK=" + strconv.Itoa(rank), "WORLD_SIZE=" + strconv.Itoa(n), "LOCAL_RANK=" + strconv.Itoa(rank),
			"MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + strconv.Itoa(port), "OMP_NUM_THREADS=1"}, variables...)
		r := &rankProcess{Cmd: testmain.Command(t, child, own...)}
		r.Stdout, r.Stderr = &r.output, &r.output
		r.WaitDelay = 5 * time.Second
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		all[rank] = r
	}
	return all
}

type rankProcess struct {
	*exec.Cmd
	output strings.Builder
}

// wait gives the exit code; after testTimeout the process is killed and the test fails.
func (r *rankProcess) wait(t *testing.T) int {
	t.Helper()
	timer := time.AfterFunc(testTimeout, func() { r.Process.Kill() })
	defer timer.Stop()
	r.Wait()
	return r.ProcessState.ExitCode()
}

func succeed(t *testing.T, all []*rankProcess) {
	t.Helper()
	for rank, r := range all {
		if code := r.wait(t); code != 0 {
			t.Errorf("rank %d: exit code %d: %s", rank, code, r.output.String())
		}
	}
}

func check(ok bool, format string, arguments ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, arguments...)
}

func environment(name string) string { return os.Getenv(name) }
