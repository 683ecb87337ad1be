package leaktest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/leaktest"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/recordio"
	"tandem.example/gotorch/rpc"
	"tandem.example/gotorch/tensorboard"
)

func TestMain(m *testing.M) { testmain.Run(m, nil) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func parameter() *gotorch.Tensor { return gotorch.Ones([]int{2}).SetRequiresGrad(true) }

func group() (*dist.ProcessGroup, func()) {
	store := must(dist.NewHashStore())
	group := must(dist.Init(context.Background(), dist.Options{Backend: "gloo", Store: store, Rank: gotorch.Some(0), WorldSize: 1}))
	return group, func() { group.Close(); store.Close() }
}

// join makes this process the only worker of its job.
var join = sync.OnceFunc(func() {
	store := must(dist.NewHashStore())
	defer store.Close()
	if err := rpc.Init(context.Background(), rpc.Options{Store: store, Rank: gotorch.Some(0), WorldSize: 1, NumWorkerThreads: 2}); err != nil {
		panic(err)
	}
})

var ofProcess struct {
	server *rpc.ParameterServer
	users  int
}

// server is the one that a process may have.
func server() (*rpc.ParameterServer, func()) {
	if ofProcess.users++; ofProcess.users == 1 {
		ofProcess.server = must(rpc.NewParameterServer())
	}
	return ofProcess.server, func() {
		if ofProcess.users--; ofProcess.users == 0 {
			ofProcess.server.Close()
		}
	}
}

func records(folder string) string {
	path := filepath.Join(folder, "numbers.recordio")
	w := must(recordio.Create(path))
	defer w.Discard()
	must(w.Write([]byte{1, 2, 3, 4}))
	if err := w.Close(); err != nil {
		panic(err)
	}
	return path
}

// leaks opens an object of each type; what it gives holds on to it, and closes it.
var leaks = map[string]func(folder string) (held any, release func()){
	"tensor": func(string) (any, func()) { x := gotorch.Ones([]int{2}); return x, x.Close },
	"module": func(string) (any, func()) { return nn.NewLinear(2, 3), func() {} },
	"optimizer": func(string) (any, func()) {
		return optim.SGD([]*gotorch.Tensor{parameter()}, 0.1), func() {}
	},
	"grad_scaler": func(string) (any, func()) { return optim.NewGradScaler(), func() {} },
	"lr_scheduler": func(string) (any, func()) {
		return optim.ExponentialLR(optim.SGD(nn.Parameters(nn.NewLinear(2, 3)), 0.1), 0.9), func() {}
	},
	"averaged_parameters": func(string) (any, func()) {
		return optim.SWA(nn.Parameters(nn.NewLinear(2, 3)), nil), func() {}
	},
	"checkpoint_folder": func(folder string) (any, func()) {
		checkpoints := must(checkpoint.Open(folder + "/run"))
		return checkpoints, func() { checkpoints.Close() }
	},
	"generator": func(string) (any, func()) { return gotorch.NewGenerator(gotorch.CPU), func() {} },
	"store": func(string) (any, func()) {
		store := must(dist.NewHashStore())
		return store, func() { store.Close() }
	},
	"process_group": func(string) (any, func()) { return group() },
	"work": func(string) (any, func()) {
		group, done := group()
		work := must(group.AllReduceAsync(gotorch.Ones([]int{2}), dist.Sum))
		return work, func() {
			if err := work.Wait(context.Background()); err != nil {
				panic(err)
			}
			done()
		}
	},
	"ddp": func(string) (any, func()) {
		group, done := group()
		ddp := must(dist.NewDDP(group, nn.NewLinear(2, 3)))
		return ddp, func() { ddp.Close(); done() }
	},
	"model_averager": func(string) (any, func()) {
		group, done := group()
		averager := must(dist.NewPeriodicModelAverager(group, 2, 0))
		return averager, func() { averager.Close(); done() }
	},
	"summary_writer": func(folder string) (any, func()) {
		w := must(tensorboard.NewSummaryWriter(folder))
		return w, func() { w.Close() }
	},
	"data_parallel": func(string) (any, func()) {
		parallel := nn.NewDataParallel(nn.NewLinear(2, 3), nn.DataParallelOptions{Replicas: 2})
		return parallel, parallel.Close
	},
	"pipeline": func(string) (any, func()) {
		group, done := group()
		loss := func(outputs, _ []*gotorch.Tensor) *gotorch.Tensor { return outputs[0].Sum() }
		pipeline := must(dist.NewPipeline(group, []dist.PipelineStage{{Module: nn.NewLinear(2, 3)}}, dist.PipelineOptions{Loss: loss}))
		return pipeline, func() { pipeline.Close(); done() }
	},
	"device_mesh": func(string) (any, func()) {
		group, done := group()
		mesh := must(dist.NewDeviceMesh(context.Background(), group, []int{1}, []string{"dp"}))
		return mesh, func() { mesh.Close(); done() }
	},
	"recordio_writer": func(folder string) (any, func()) {
		w := must(recordio.Create(filepath.Join(folder, "open.recordio")))
		return w, func() { w.Discard() }
	},
	"rref": func(string) (any, func()) {
		join()
		reference := must(rpc.NewRRef(parameter()))
		return reference, func() { reference.Close() }
	},
	"rpc_future": func(string) (any, func()) {
		join()
		return must(rpc.CallAsync(context.Background(), "worker0", "aten::neg", parameter())), func() {}
	},
	"distributed_optimizer": func(string) (any, func()) {
		join()
		reference := must(rpc.NewRRef(parameter()))
		optimizer := must(rpc.NewDistributedOptimizer(context.Background(), "SGD", []*rpc.RRef{reference}, map[string]any{"lr": 0.1}))
		return optimizer, func() { optimizer.Close(); reference.Close() }
	},
	"parameter_server": func(string) (any, func()) {
		return server()
	},
	"parameter_client": func(string) (any, func()) {
		join()
		_, done := server()
		client := must(rpc.NewParameterClient(context.Background(), rpc.ParameterClientOptions{Servers: []string{"worker0"},
			Tables: map[string]rpc.EmbeddingTable{"words": {Rows: 2, Width: 2}}}))
		return client, func() { client.Leave(context.Background()); client.Close(); done() }
	},
	"recordio_reader": func(folder string) (any, func()) {
		r := must(recordio.Open(records(folder)))
		return r, func() { r.Close() }
	},
	"dataset": func(folder string) (any, func()) {
		dataset := must(data.Records([]string{records(folder)}, []data.Field{{Name: "number", DType: gotorch.Int32, Out: gotorch.Int64}}))
		return dataset, func() { dataset.Close() }
	},
	"loader": func(folder string) (any, func()) {
		loader := must(data.Open([]string{records(folder)}, []data.Field{{Name: "number", DType: gotorch.Int32, Out: gotorch.Int64}},
			data.Options{BatchSize: 1}))
		return loader, func() { loader.Close() }
	},
	"hook":     hooked,
	"callback": hooked,
	"stream":   func(string) (any, func()) { return must(gotorch.NewStream(gotorch.CUDA(0))), func() {} },
	"event":    func(string) (any, func()) { return must(gotorch.NewEvent(false)), func() {} },
	"scope":    func(string) (any, func()) { return nil, inside(gotorch.Scope) },
	"mode":     func(string) (any, func()) { return nil, inside(gotorch.NoGrad) },
}

func hooked(string) (any, func()) {
	x := parameter()
	hook := x.RegisterHook(func(*gotorch.Tensor) (*gotorch.Tensor, error) { return nil, nil })
	return [2]any{x, hook}, hook.Remove
}

// inside starts a goroutine that stays in a scope or a mode until it is released.
func inside(enter func(func())) (release func()) {
	entered, leave, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		enter(func() { close(entered); <-leave })
	}()
	<-entered
	return func() { close(leave); <-left }
}

// Types whose objects live only during a call: no Go program leaves one open.
var transient = regexp.MustCompile(`^(sampler|checkpoint|named_tensors|strings?|rpc_result|own_tensors|error)$`)

// Types that only a GPU has.
var onGPU = regexp.MustCompile(`^(stream|event)$`)

func TestEachTypeIsCountedAndReported(t *testing.T) {
	gpus := must(gotorch.CUDADeviceCount())
	for kind := range gotorch.LiveCounts() {
		open, ok := leaks[kind]
		switch {
		case transient.MatchString(kind):
			continue
		case onGPU.MatchString(kind) && gpus == 0:
			t.Logf("no GPU: nothing can leave a %s open", kind)
			continue
		case !ok:
			t.Errorf("no leak of a %s is tried", kind)
			continue
		}
		t.Run(kind, func(t *testing.T) {
			watched := &recorder{TB: t}
			leaktest.Check(watched)
			held, release := open(t.TempDir())
			if list := strings.Join(leaktest.Open(), ", "); !regexp.MustCompile(`\d × ` + kind + `\b`).MatchString(list) {
				t.Errorf("Open tells %s", list)
			}
			watched.end()
			if !regexp.MustCompile(`left open by the test: .*1 × ` + kind + `\b`).MatchString(watched.errors) {
				t.Errorf("Check tells %q", watched.errors)
			}
			runtime.KeepAlive(held)
			release()
		})
	}
}

// dynamicLoader and "loader" are of one type of the core's: what tells them apart is where they were made.
func dynamicLoader(folder string) (held any, release func()) {
	set := must(data.Records([]string{records(folder)}, []data.Field{{Name: "number", DType: gotorch.Int32, Out: gotorch.Int64}}))
	defer set.Close()
	store := must(dist.NewHashStore())
	defer store.Close()
	loader := must(data.NewDynamicLoader(set, store, data.DynamicOptions{BatchSize: 1, MicroBatch: 1}))
	return loader, func() { loader.Close() }
}

func TestDynamicLoadersAreReported(t *testing.T) {
	watched := &recorder{TB: t}
	leaktest.Check(watched)
	_, release := dynamicLoader(t.TempDir())
	watched.end()
	release()
	if !regexp.MustCompile(`1 × data.DynamicLoader made in \S*\.dynamicLoader\b.*1 × loader\b`).MatchString(watched.errors) {
		t.Errorf("Check tells %q", watched.errors)
	}
}

// recorder is a test that Check watches, and that only notes errors.
type recorder struct {
	testing.TB
	cleanups []func()
	errors   string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Cleanup(f func())                  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) { r.errors += fmt.Sprintf(format, args...) }
func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}

func TestCheckIsSilentWhenAllIsClosed(t *testing.T) {
	old := gotorch.Ones([]int{2})
	watched := &recorder{TB: t}
	leaktest.Check(watched)
	gotorch.Scope(func() { old.AddScalar(1) })
	old.AddScalar(1) // the collector's
	gotorch.Ones([]int{2}).Close()
	if watched.end(); watched.errors != "" {
		t.Error(watched.errors)
	}
	old.Close()
}

const leaveVariable = "GOTORCH_TEST_LEAVE_OPEN"

var kept []any

// TestLeaveOpen leaves an object of each type open, in the process that TestRunFailsOnLeaks starts.
func TestLeaveOpen(t *testing.T) {
	folder := os.Getenv(leaveVariable)
	if folder == "" {
		t.Skip("only in a process of its own")
	}
	gpus := must(gotorch.CUDADeviceCount())
	for kind, open := range leaks {
		if gpus > 0 || !onGPU.MatchString(kind) {
			held, release := open(folder)
			kept = append(kept, held, release)
		}
	}
	dynamicLoader(t.TempDir()) // which nothing reaches any more
}

func TestRunFailsOnLeaks(t *testing.T) {
	if os.Getenv(leaveVariable) != "" {
		t.Skip("this is the process that leaks")
	}
	for _, name := range []string{"TestLeaveOpen", "TestCheckIsSilentWhenAllIsClosed"} {
		command := exec.CommandContext(t.Context(), must(os.Executable()), "-test.run=^"+name+"$")
		command.Env = append(os.Environ(), leaveVariable+"="+t.TempDir())
		output, err := command.CombinedOutput()
		if fails := name == "TestLeaveOpen"; (err != nil) != fails || strings.Contains(string(output), "left open after the tests") != fails {
			t.Fatalf("%s: %v\n%s", name, err, output)
		} else if !fails {
			continue
		}
		for kind := range leaks {
			if !onGPU.MatchString(kind) && !regexp.MustCompile(`left open after the tests:.* × `+kind+`\b`).Match(output) {
				t.Errorf("no word of the %s\n%s", kind, output)
			}
		}
		for _, told := range []string{`left open after the tests:.*1 × data.DynamicLoader made in \S*\.dynamicLoader\b`,
			`a data.DynamicLoader made in \S*\.dynamicLoader became unreachable without Close`} {
			if !regexp.MustCompile(told).Match(output) {
				t.Errorf("a dropped DynamicLoader: no %q in\n%s", told, output)
			}
		}
		if !strings.Contains(string(output), "dist.DDP made in") {
			t.Errorf("no word of where the DDP was made\n%s", output)
		}
	}
}

// Every package of the module that has tests checks for leaks.
func TestEveryPackageChecks(t *testing.T) {
	packages, checked := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		packages[filepath.Dir(path)] = true
		if strings.Contains(string(text), "testmain.Run(m") || strings.Contains(string(text), "leaktest.Run(m") {
			checked[filepath.Dir(path)] = true
		}
		return err
	})
	delete(packages, "../internal/leak") // which has no native objects
	if err != nil || len(packages) < 7 {
		t.Fatal(packages, err)
	}
	for one := range packages {
		if !checked[one] {
			t.Errorf("%s has tests, and no TestMain that calls testmain.Run", one)
		}
	}
}

func TestCountsAreThoseOfTheHeader(t *testing.T) {
	header := string(must(os.ReadFile("../internal/c/tandem.h")))
	comment := regexp.MustCompile(`(?s)/\* Live handles of a type \(([^)]*)\)`).FindStringSubmatch(header)
	if comment == nil {
		t.Fatal("tandem.h does not list the types")
	}
	counted := gotorch.LiveCounts()
	for _, quoted := range regexp.MustCompile(`"\w+"`).FindAllString(comment[1], -1) {
		kind := strings.Trim(quoted, `"`)
		if n, ok := counted[kind]; !ok || n < 0 {
			t.Errorf("LiveCounts has no %s: %d", kind, n)
		}
		delete(counted, kind)
	}
	if len(counted) > 0 {
		t.Errorf("tandem.h does not know of %v", counted)
	}
}
