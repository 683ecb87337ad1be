package dist_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
)

func gotorchPanicChild(context.Context) error {
	gotorch.Zeros([]int{2}).Add(gotorch.Zeros([]int{3}))
	return nil
}

func notClosedChild(context.Context) error {
	_, err := dist.NewHashStore()
	return err
}

func signalChild(ctx context.Context) error {
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func aloneChild(ctx context.Context, group *dist.ProcessGroup) error {
	x := gotorch.Ones([]int{2})
	if err := group.AllReduce(ctx, x, dist.Sum); err != nil {
		return err
	}
	fmt.Println("alone:", group.Rank(), group.Size(), x.Sum().Item())
	return nil
}

// program runs a child under dist.Main and gives its exit code, its output and its error file.
func program(t *testing.T, child string) (code int, output string, file map[string]struct {
	Message string
	Extra   struct {
		Callstack string `json:"py_callstack"`
		Timestamp string
	} `json:"extraInfo"`
}) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "error.json")
	command := testmain.Command(t, child, "TORCHELASTIC_ERROR_FILE="+path)
	text, _ := command.CombinedOutput()
	if content, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(content, &file); err != nil {
			t.Fatalf("%v: %s", err, content)
		}
	}
	return command.ProcessState.ExitCode(), string(text), file
}

func TestMainWritesTheErrorFile(t *testing.T) {
	for child, want := range map[string]string{"error": "the disk is full", "panic": "panic: a bug",
		"gotorch panic": "aten::add.Tensor", "signal": "context canceled"} {
		code, output, file := program(t, child)
		message := file["message"]
		if child == "signal" {
			message.Message = strings.Replace(message.Message, "terminated signal received", want, 1)
			output += want
		}
		if code != 1 || !strings.Contains(output, want) || !strings.Contains(message.Message, want) {
			t.Errorf("%s: exit code %d, %q, file %q", child, code, output, message.Message)
		}
		seconds, err := strconv.ParseInt(message.Extra.Timestamp, 10, 64)
		if err != nil || time.Since(time.Unix(seconds, 0)) > testTimeout {
			t.Errorf("%s: timestamp %q", child, message.Extra.Timestamp)
		}
		if hasStack := strings.Contains(message.Extra.Callstack, "goroutine"); hasStack != (child == "panic") {
			t.Errorf("%s: call stack %q", child, message.Extra.Callstack)
		}
	}
}

func TestMainSucceeds(t *testing.T) {
	if code, output, file := program(t, "success"); code != 0 || output != "" || file != nil {
		t.Fatal(code, output, file)
	}
	if code, output, _ := program(t, "not closed"); code != 0 ||
		!strings.Contains(output, "not closed: a dist.Store made in tandem.example/gotorch/dist") {
		t.Fatal(code, output)
	}
}

func TestRunWithoutALauncherIsAWorldOfOne(t *testing.T) {
	if code, output, _ := program(t, "alone"); code != 0 || !strings.Contains(output, "alone: 0 1 2") {
		t.Fatal(code, output)
	}
	command := testmain.Command(t, "alone", "RANK=0") // a launcher that says too little
	if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), "WORLD_SIZE") {
		t.Fatal(err, string(output))
	}
}

func placeChild() {
	fmt.Println(dist.Rank(), dist.WorldSize(), dist.LocalRank(), dist.LocalWorldSize(), dist.NodeRank(), dist.Launcher())
}

func TestThePlaceIsTheLaunchersOrTheSchedulers(t *testing.T) {
	nothing := []string{"RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "MASTER_ADDR=", "MASTER_PORT=", "SLURM_JOB_ID=", "PMI_RANK="}
	for want, variables := range map[string][]string{
		"0 1 0 1 0 \n":                nil,
		"5 8 1 4 1 the environment\n": {"RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4", "GROUP_RANK=1"},
		"2 4 0 2 1 Slurm\n": {"SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_LOCALID=0",
			"SLURM_NODEID=1", "SLURM_STEP_NUM_NODES=2", "SLURM_STEP_TASKS_PER_NODE=2(x2)", "SLURM_STEP_NODELIST=n[1-2]"},
		"0 1 0 1 0  \n": {"RANK=one", "WORLD_SIZE=8"}, // Init says what is wrong
	} {
		command := testmain.Command(t, "place", append(nothing, variables...)...)
		output, err := command.CombinedOutput()
		if err != nil || strings.TrimSpace(string(output)) != strings.TrimSpace(want) {
			t.Errorf("%v: %v %q, not %q", variables, err, output, want)
		}
	}
}
