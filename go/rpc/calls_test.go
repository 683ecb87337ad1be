package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/jit"
	"tandem.example/gotorch/rpc"
)

func TestCalls(t *testing.T) { succeed(t, start(t, 2, "calls")) }

// weight is a worker's own parameter.
var weight *gotorch.Tensor

var hooked atomic.Int64

func registerAll() error {
	functions := map[string]func([]any) (any, error){
		"twice": func(a []any) (any, error) { return a[0].(*gotorch.Tensor).MulScalar(2), nil },
		"echo":  func(a []any) (any, error) { return a[0], nil },
		"fails": func(a []any) (any, error) { return nil, errors.New("out of paper") },
		"lost": func(a []any) (any, error) {
			return nil, fmt.Errorf("reading: %w", &gotorch.Error{Code: gotorch.ErrDataLoss, Op: "Read", Message: "record 7 is torn"})
		},
		"panics": func(a []any) (any, error) { return a[len(a)], nil },
		"shapes": func(a []any) (any, error) {
			return gotorch.Ones([]int{2, 3}).MatMul(gotorch.Ones([]int{2, 3})), nil
		},
		"strange": func(a []any) (any, error) { return struct{}{}, nil },
		"sleep": func(a []any) (any, error) {
			time.Sleep(time.Duration(a[0].(int)) * time.Millisecond)
			return "slept", nil
		},
		"parameter": func(a []any) (any, error) { return rpc.NewRRef(weight) },
		"scaled":    func(a []any) (any, error) { return a[0].(*gotorch.Tensor).Mul(weight), nil },
		"before": func(a []any) (any, error) {
			gradients, err := rpc.AutogradContextByID(a[0].(int)).Gradients(weight)
			if err == nil && gradients[0] != nil {
				hooked.Add(1)
			}
			return nil, err
		},
		"weight": func(a []any) (any, error) { return []any{weight.Detach(), int(hooked.Load())}, nil },
		"back": func(a []any) (any, error) { // through a call of its own, on this goroutine
			return rpc.Call(context.Background(), "worker0", "scaled", a[0])
		},
		"circle": func(a []any) (any, error) { // through worker 0 back to this one, by a context of its own
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			return rpc.Call(ctx, "worker0", "back to worker 1", a[0])
		},
		"back to worker 1": func(a []any) (any, error) { return rpc.Call(context.Background(), "worker1", "echo", a[0]) },
	}
	for name, function := range functions {
		if err := rpc.Register(name, function); err != nil {
			return err
		}
	}
	module, err := jit.Compile("def sum_of(x: List[int], by: float = 0.5) -> float:\n    return sum(x) * by\n")
	if err != nil {
		return err
	}
	return rpc.RegisterModule("script", module)
}

func callsChild(ctx context.Context) error {
	rank := os.Getenv("RANK")
	if err := registerAll(); err != nil {
		return err
	}
	weight = gotorch.From([]float64{2, 3}, 2).SetRequiresGrad(true)
	if err := rpc.Init(ctx, rpc.Options{NumWorkerThreads: 4}); err != nil {
		return err
	}
	if rank == "0" {
		for name, one := range map[string]func(context.Context) error{"values": values, "failures": failures, "named": named,
			"futures": futures, "circles": circles, "references": references, "training": training, "counts": counts} {
			if err := one(ctx); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return rpc.Shutdown(ctx, true)
}

func values(ctx context.Context) error {
	self, err := rpc.Self()
	if err != nil || self != (rpc.Worker{Name: "worker0", ID: 0}) {
		return fmt.Errorf("this worker is %v: %w", self, err)
	}
	var failed error
	gotorch.Scope(func() {
		x := gotorch.From([]float32{1, 2}, 2)
		doubled, err := rpc.Call(ctx, "worker1", "twice", x)
		if err != nil {
			failed = err
			return
		}
		if failed = check(doubled.(*gotorch.Tensor).Equal(x.MulScalar(2)), "twice gave %v", doubled); failed != nil {
			return
		}
		sum, err := rpc.Call(ctx, "worker1", "aten::add", x, x)
		failed = errors.Join(err, check(err != nil || sum.(*gotorch.Tensor).Equal(x.Add(x)), "the sum is %v", sum))
	})
	if failed != nil {
		return failed
	}
	third, err := rpc.Call(ctx, "worker1", "script.sum_of", []int{1, 2, 3})
	if err != nil || third != 3.0 {
		return fmt.Errorf("the script gave %v: %w", third, err)
	}
	given := map[string]any{"none": nil, "number": 2.5, "bytes": []byte("a\x00\xff"), "list": []any{1, "two", true},
		"ints": []int{1, 2}, "nested": map[int]string{3: "three"}, "tuple": gotorch.Tuple{1, 2.0}}
	back, err := rpc.Call(ctx, "worker1", "echo", given)
	if err != nil {
		return err
	}
	want := `map[bytes:a` + "\x00\xff" + ` ints:[1 2] list:[1 two true] nested:map[3:three] none:<nil> number:2.5 tuple:[1 2]]`
	if err := check(fmt.Sprint(back) == want, "the values came back as %v", back); err != nil {
		return err
	}
	for _, texts := range [][]string{{"a", ""}, {"a\x00b", "c"}} {
		back, err := rpc.Call(ctx, "worker1", "echo", texts)
		if err != nil || fmt.Sprint(back) != fmt.Sprint(texts) {
			return fmt.Errorf("%q came back as %q: %w", texts, back, err)
		}
	}
	return nil
}

func failures(ctx context.Context) error {
	cases := []struct {
		function string
		code     gotorch.Code
		text     string
	}{
		{"fails", gotorch.ErrCallback, "fails on worker 'worker1': out of paper"},
		{"lost", gotorch.ErrDataLoss, "record 7 is torn"},
		{"panics", gotorch.ErrCallback, "index out of range [0] with length 0 (in tandem.example/gotorch/rpc_test.registerAll.func"},
		{"shapes", gotorch.ErrInvalidArgument, "shapes cannot be multiplied"},
		{"strange", gotorch.ErrInvalidArgument, "the result is a struct {}"},
		{"nothing", gotorch.ErrNotFound, "registered are"},
	}
	for _, one := range cases {
		_, err := rpc.Call(ctx, "worker1", one.function)
		var ours *rpc.Error
		if !errors.Is(err, one.code) || !strings.Contains(err.Error(), one.text) || !errors.As(err, &ours) || ours.Worker != "worker1" {
			return fmt.Errorf("%s failed with: %w", one.function, err)
		}
	}
	if _, err := rpc.Call(ctx, "worker1", "panics"); !strings.Contains(err.Error(), ", calls_test.go:") ||
		strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "goroutine") {
		return fmt.Errorf("a panic's error has its line and not the stack: %w", err)
	}
	if _, err := rpc.Call(ctx, "worker7", "twice"); !errors.Is(err, gotorch.ErrNotFound) {
		return fmt.Errorf("a call of nobody failed with: %w", err)
	}
	if _, err := rpc.Call(ctx, "worker1", "echo", make(chan int)); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("a channel: %w", err)
	}
	if _, err := (rpc.CallOptions{Timeout: 50 * time.Millisecond}).Call(ctx, "worker1", "sleep", 300); !errors.Is(err, gotorch.ErrTimeout) {
		return fmt.Errorf("a late answer: %w", err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := rpc.Call(short, "worker1", "sleep", 400)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, gotorch.ErrAborted) {
		return fmt.Errorf("a context that ended: %w", err)
	}
	return nil
}

// named are errors that name the function that the program called.
func named(ctx context.Context) error {
	there, err := rpc.Remote(ctx, "worker1", "fails")
	if err != nil {
		return err
	}
	defer there.Close()
	later, err := rpc.CallAsync(ctx, "worker1", "fails")
	if err != nil {
		return err
	}
	closed, err := rpc.NewRRef(1)
	if err != nil {
		return err
	}
	closed.Close()
	pass, err := rpc.NewAutogradContext()
	if err != nil {
		return err
	}
	pass.Close()
	over, cancel := context.WithCancel(ctx)
	cancel()
	strange := make(chan int)
	of := func(_ any, err error) error { return err }
	for _, one := range []struct {
		op   string
		call func() error
	}{
		{"rpc.Call", func() error { return of(rpc.Call(ctx, "worker7", "echo")) }},
		{"rpc.Call", func() error { return of(rpc.Call(ctx, "worker1", "fails")) }},
		{"rpc.Call", func() error { return of(rpc.Call(ctx, "worker1", "echo", strange)) }},
		{"rpc.Call", func() error { return of(rpc.Call(ctx, "worker1", "echo", closed)) }},
		{"rpc.Call", func() error { return of(rpc.Call(over, "worker1", "echo")) }},
		{"rpc.Call", func() error { return of(rpc.CallOptions{Timeout: -1}.Call(ctx, "worker1", "echo")) }},
		{"rpc.Call", func() error { return of(rpc.CallOptions{Retries: -1}.Call(ctx, "worker1", "echo")) }},
		{"rpc.CallAsync", func() error { return of(rpc.CallAsync(ctx, "worker7", "echo")) }},
		{"rpc.CallAsync", func() error { return of(rpc.CallAsync(ctx, "worker1", "echo", strange)) }},
		{"rpc.Future.Wait", func() error { return of(later.Wait(ctx)) }},
		{"rpc.Remote", func() error { return of(rpc.Remote(ctx, "worker7", "echo")) }},
		{"rpc.RRef.ToHere", func() error { return of(there.ToHere(ctx)) }},
		{"rpc.RRef.ToHere", func() error { return of(closed.ToHere(ctx)) }},
		{"rpc.RRef.LocalValue", func() error { return of(closed.LocalValue(ctx)) }},
		{"rpc.RRef.Owner", func() error { return of(closed.Owner()) }},
		{"rpc.AutogradContext.Backward", func() error { return pass.Backward(ctx) }},
		{"rpc.AutogradContext.BackwardWith", func() error { return pass.BackwardWith(ctx, rpc.BackwardOptions{}) }},
	} {
		if err := names(one.op, one.call()); err != nil {
			return err
		}
	}
	return nil
}

// names tells whether err is that of the function op.
func names(op string, err error) error {
	var ours *gotorch.Error
	return check(errors.As(err, &ours) && ours.Op == op, "not that of %s: %v", op, err)
}

func futures(ctx context.Context) error {
	later, err := rpc.CallAsync(ctx, "worker1", "echo", 3)
	if err != nil {
		return err
	}
	next := later.Then(func(value any, err error) (any, error) { return value.(int) + 1, err })
	panics := next.Then(func(any, error) (any, error) { panic("a bug") })
	if four, err := next.Wait(ctx); err != nil || four != 4 {
		return fmt.Errorf("then gave %v: %w", four, err)
	}
	var panicked *gotorch.PanicError
	if _, err := panics.Wait(ctx); !errors.As(err, &panicked) {
		return fmt.Errorf("a panic in Then: %w", err)
	}
	<-later.Done()
	failed, err := rpc.CallAsync(ctx, "worker1", "lost")
	if err != nil {
		return err
	}
	<-failed.Done()
	for range 2 {
		if _, err := failed.Wait(ctx); !errors.Is(err, gotorch.ErrDataLoss) {
			return fmt.Errorf("a future's failure: %w", err)
		}
	}
	return nil
}

// circles has more functions wait on worker 1, by contexts of their own, than may run there at a time; and those that they wait
// for run there.
func circles(ctx context.Context) error {
	var under []*rpc.Future
	for i := range 10 {
		future, err := rpc.CallOptions{Timeout: 30 * time.Second}.CallAsync(ctx, "worker1", "circle", i)
		if err != nil {
			return err
		}
		under = append(under, future)
	}
	for i, future := range under {
		if back, err := future.Wait(ctx); err != nil || back != i {
			return fmt.Errorf("%d came back as %v: %w", i, back, err)
		}
	}
	return nil
}

func references(ctx context.Context) error {
	there, err := rpc.Remote(ctx, "worker1", "echo", []int{1, 2})
	if err != nil {
		return err
	}
	defer there.Close()
	slow, err := rpc.Remote(ctx, "worker1", "sleep", 2000)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := slow.ToHere(short); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a context that ended: %w", err)
	}
	if slow.Close(); time.Since(begun) > 1500*time.Millisecond {
		return errors.New("Close waited for a ToHere whose context had ended")
	}
	owner, err := there.Owner()
	if err != nil || owner.Name != "worker1" || there.IsOwner() {
		return fmt.Errorf("the owner is %v: %w", owner, err)
	}
	if here, err := there.ToHere(ctx); err != nil || fmt.Sprint(here) != "[1 2]" {
		return fmt.Errorf("the value is %v: %w", here, err)
	}
	if _, err := there.LocalValue(ctx); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("a local value of another's: %w", err)
	}
	back, err := rpc.Call(ctx, "worker1", "echo", map[string]any{"ref": there})
	if err != nil {
		return err
	}
	passed := back.(map[string]any)["ref"].(*rpc.RRef)
	if here, err := passed.ToHere(ctx); err != nil || fmt.Sprint(here) != "[1 2]" {
		return fmt.Errorf("the passed value is %v: %w", here, err)
	}
	passed.Close()
	if _, err := passed.ToHere(ctx); !errors.Is(err, gotorch.ErrClosed) {
		return fmt.Errorf("a closed reference: %w", err)
	}
	if _, err := rpc.Call(ctx, "worker1", "echo", passed); !errors.Is(err, gotorch.ErrClosed) {
		return fmt.Errorf("a closed reference as an argument: %w", err)
	}
	own, err := rpc.NewRRef(weight)
	if err != nil {
		return err
	}
	defer own.Close()
	local, err := own.LocalValue(ctx)
	if err != nil || !own.IsOwner() {
		return fmt.Errorf("an own value: %w", err)
	}
	return check(local.(*gotorch.Tensor).IsSame(weight), "the own value is another tensor")
}

// training is w <- w - lr * gradient on both workers, through worker1 and back.
func training(ctx context.Context) error {
	raw, err := rpc.Call(ctx, "worker1", "parameter")
	if err != nil {
		return err
	}
	theirs := raw.(*rpc.RRef)
	defer theirs.Close()
	ours, err := rpc.NewRRef(weight)
	if err != nil {
		return err
	}
	defer ours.Close()
	if _, err := rpc.NewDistributedOptimizer(ctx, "SGD", []*rpc.RRef{theirs}, map[string]any{"speed": 1.0}); err == nil ||
		!strings.Contains(err.Error(), "worker1") {
		return fmt.Errorf("an option that there is not: %w", err)
	}
	optimizer, err := rpc.NewDistributedOptimizer(ctx, "SGD", []*rpc.RRef{theirs, ours}, map[string]any{"lr": 1.0},
		rpc.OptimizerOptions{BeforeStep: "before"})
	if err != nil {
		return err
	}
	defer optimizer.Close()
	if err := optimizer.SetOption(ctx, "lr", 0.5); err != nil {
		return err
	}
	pass, err := rpc.NewAutogradContext()
	if err != nil {
		return err
	}
	defer pass.Close()
	x := gotorch.From([]float64{1, 10}, 2)
	inside := pass.In(ctx)
	scaled, err := rpc.Call(inside, "worker1", "scaled", x) // x * w1
	if err != nil {
		return err
	}
	both, err := rpc.Call(inside, "worker1", "back", scaled) // x * w1 * w0, through worker1
	if err != nil {
		return err
	}
	loss := both.(*gotorch.Tensor).Sum()
	if math.Abs(loss.Item()-(4+90)) > 1e-12 {
		return fmt.Errorf("the loss is %v", loss)
	}
	if err := pass.Backward(ctx, loss); err != nil {
		return err
	}
	gradients, err := pass.Gradients(weight, x)
	if err != nil {
		return err
	}
	if want := gotorch.From([]float64{2, 30}, 2); gradients[1] != nil || !gradients[0].Equal(want) {
		return fmt.Errorf("the gradients are %v", gradients)
	}
	if err := optimizer.Step(ctx, pass); err != nil {
		return err
	}
	pass.Close()
	if err := optimizer.Step(ctx, pass); !errors.Is(err, gotorch.ErrClosed) {
		return fmt.Errorf("a step of a pass that was closed: %w", err)
	}
	state, err := rpc.Call(ctx, "worker1", "weight")
	if err != nil {
		return err
	}
	want := gotorch.From([]float64{1, -12}, 2)
	there := state.([]any)
	if !weight.Equal(want) || !there[0].(*gotorch.Tensor).Equal(want) || there[1] != 1 || hooked.Load() != 1 {
		return fmt.Errorf("weights are %v and %v; hooks were called %d times", weight, there, hooked.Load())
	}
	gotorch.NoGrad(func() { weight.CopyI(gotorch.From([]float64{2, 3}, 2)) })
	return nil
}

func counts(ctx context.Context) error {
	before, err := rpc.Statistics()
	if err != nil {
		return err
	}
	rpc.Call(ctx, "worker1", "fails")
	after, err := rpc.Statistics()
	if err != nil {
		return err
	}
	b, a := before["worker1"], after["worker1"]
	return check(a.Calls == b.Calls+1 && a.Failed == b.Failed+1 && a.BytesSent > b.BytesSent && a.Latency > 0,
		"statistics were %+v and are %+v", b, a)
}

func TestFaults(t *testing.T) {
	all := start(t, 2, "faults")
	if code := all[1].wait(); code != 7 {
		t.Errorf("worker 1: exit code %d: %s", code, all[1].output.String())
	}
	succeed(t, all[:1])
}

// faultsChild: worker 1 ends within a call.
func faultsChild(ctx context.Context) error {
	if err := rpc.Register("die", func([]any) (any, error) { os.Exit(7); return nil, nil }); err != nil {
		return err
	}
	if err := rpc.Init(ctx, rpc.Options{Name: "w" + os.Getenv("RANK"), Timeout: 20 * time.Second, NumWorkerThreads: 2}); err != nil {
		return err
	}
	if os.Getenv("RANK") == "1" {
		time.Sleep(testTimeout)
	}
	for range 2 { // in the call, and for good
		if _, err := rpc.Call(ctx, "w1", "die"); !errors.Is(err, gotorch.ErrPeerLost) {
			return fmt.Errorf("a worker that died: %w", err)
		}
	}
	if err := rpc.Shutdown(ctx, false); err != nil {
		return err
	}
	if _, err := rpc.Call(ctx, "w0", "aten::neg", gotorch.Ones([]int{1})); !errors.Is(err, gotorch.ErrClosed) {
		return fmt.Errorf("after leaving: %w", err)
	}
	if err := rpc.Shutdown(ctx, true); err != nil {
		return err
	}
	return check(!rpc.IsInitialized(), "it is still a worker")
}

func TestRefused(t *testing.T) { succeed(t, start(t, 1, "refused")) }

func refusedChild(ctx context.Context) error {
	if _, err := rpc.Workers(); !errors.Is(err, gotorch.ErrClosed) {
		return fmt.Errorf("workers before Init: %w", err)
	}
	_, ofCounts := rpc.CountRRefs()
	_, ofStatistics := rpc.Statistics()
	_, ofSelf := rpc.Self()
	if err := errors.Join(names("rpc.CountRRefs", ofCounts), names("rpc.Statistics", ofStatistics), names("rpc.Self", ofSelf)); err != nil {
		return err
	}
	if err := rpc.Init(ctx, rpc.Options{Name: "not a name"}); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("a name: %w", err)
	}
	if err := rpc.Register("a::b", func([]any) (any, error) { return nil, nil }); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("a function's name: %w", err)
	}
	if err := rpc.Register("twice", nil); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("no function: %w", err)
	}
	if err := rpc.Init(ctx, rpc.Options{NumWorkerThreads: 5000}); !errors.Is(err, gotorch.ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "Options.NumWorkerThreads is 5000") {
		return fmt.Errorf("too many threads: %w", err)
	}
	// Its context ends what waits for workers that do not come.
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	err := rpc.Init(short, rpc.Options{WorldSize: 2, Timeout: 2 * time.Second})
	return check(errors.Is(err, context.DeadlineExceeded), "nobody came: %v", err)
}
