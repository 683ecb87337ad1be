package rpc_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
)

var children = testmain.Children{
	"calls":      func() { dist.Main(callsChild) },
	"faults":     func() { dist.Main(faultsChild) },
	"gpu":        func() { dist.Main(gpuChild) },
	"parameters": func() { dist.Main(parametersChild) },
	"refused":    func() { dist.Main(refusedChild) },
}

func TestMain(m *testing.M) { testmain.Run(m, children) }

const testTimeout = 60 * time.Second

type worker struct {
	*exec.Cmd
	output strings.Builder
}

// start starts a child on each of n processes that find one another as a launcher's do.
func start(t *testing.T, n int, child string) []*worker {
	t.Helper()
	port := testmain.FreePort(t)
	all := make([]*worker, n)
	for rank := range all {
		w := &worker{Cmd: testmain.Command(t, child, "RANK="+strconv.Itoa(rank), "WORLD_SIZE="+strconv.Itoa(n),
			"MASTER_ADDR=127.0.0.1", "MASTER_PORT="+strconv.Itoa(port), "OMP_NUM_THREADS=1")}
		w.Stdout, w.Stderr = &w.output, &w.output
		w.WaitDelay = 5 * time.Second
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		all[rank] = w
	}
	return all
}

// wait gives the exit code; after testTimeout the process is killed.
func (w *worker) wait() int {
	timer := time.AfterFunc(testTimeout, func() { w.Process.Kill() })
	defer timer.Stop()
	w.Wait()
	return w.ProcessState.ExitCode()
}

func succeed(t *testing.T, all []*worker) {
	t.Helper()
	for rank, w := range all {
		if code := w.wait(); code != 0 {
			t.Errorf("worker %d: exit code %d: %s", rank, code, w.output.String())
		}
	}
}

func check(ok bool, format string, arguments ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, arguments...)
}
