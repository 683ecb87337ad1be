package rpc

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
	"tandem.example/gotorch/nn"
)

// EmbeddingTable is a table of Rows vectors, spread over the servers. Source: torch.nn.Embedding.
type EmbeddingTable struct {
	Rows, Width int
	DType       gotorch.Opt[gotorch.DType] // gotorch.Float32 or gotorch.Float64; unset: Float32
	// Of torch.optim one that takes sparse gradients: "SGD" without momentum and weight decay, "Adagrad", "SparseAdam"; with
	// options by LibTorch's names. Unset: "SGD".
	Optimizer string
	Options   map[string]any
	// Each server has rows that follow each other. Else a row is on the server of its number modulo that of the servers, so
	// that neighbours, which are often asked for together, are on all of them.
	ByRange bool
	// Rows begin as this, [Rows, Width], of the trainer that joins first, or as numbers of a normal distribution around 0, drawn
	// on the servers: the same for a Seed, however many servers there are.
	Initial           *gotorch.Tensor
	StandardDeviation gotorch.Opt[float64] // unset: 1
	Seed              uint64
}

// DenseParameters are a trainer's own tensors that are to have the servers' values; each lies whole on one server.
type DenseParameters struct {
	Parameters []nn.Named // of floating point, on any device; gradients in their Grad: nn.NamedParameters
	Optimizer  string     // any of torch.optim but LBFGS, one a server; unset: "SGD"
	Options    map[string]any
}

// ParameterClientOptions of [NewParameterClient].
type ParameterClientOptions struct {
	Servers  []string // workers with a ParameterServer, in the same order on all trainers
	Trainers int      // that have to join before the first step; more may join later. Unset: 1
	Tables   map[string]EmbeddingTable
	Dense    DenseParameters
	// Each push makes an update at once, unscaled. Else the gradients that all trainers pushed in a step are averaged, and make
	// one update.
	Asynchronous bool
	// Asynchronous: how many steps a trainer may be ahead of the slowest one before it waits.
	Staleness int
	Timeout   time.Duration // of each call and each wait; unset: 5 minutes
	// Where a trainer dies, or closes its client without Leave, the others go on without it, and end with Shutdown(ctx, false),
	// since a graceful one waits for all. Else all of them get gotorch.ErrPeerLost, naming it, and the job goes on from a checkpoint.
	GoOnWithoutLost bool
}

// ParameterClient is a trainer's view of the servers, one a process at a time. All trainers give the same options and declare
// the same tables. Calls of several goroutines follow one another. It must be closed.
//
//	client, err := rpc.NewParameterClient(ctx, rpc.ParameterClientOptions{Servers: []string{"server0"}, Trainers: 2,
//		Tables: map[string]rpc.EmbeddingTable{"users": {Rows: 1_000_000, Width: 64, Optimizer: "Adagrad"}}})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	for _, batch := range batches {
//		x, err := client.Embedding("users", batch.ids) // [*, 64], with history
//		if err != nil {
//			return err
//		}
//		if err := optimizer.Minimize(lossOf(ddp, x, batch)); err != nil {
//			return err
//		}
//		if err := client.Step(ctx); err != nil { // the rows' gradients go to the servers
//			return err
//		}
//	}
//	return client.Leave(ctx)
//
// Errors of its methods: gotorch.ErrTimeout that names the trainers, or the server, that it waited for; gotorch.ErrPeerLost naming
// a worker that is gone; gotorch.ErrAborted after a trainer gave up, or where ctx ended; those of [Call]. What a Step or an Embedding
// failed of, unless it was a timeout, every later call fails of, too.
type ParameterClient struct {
	handle c.ParameterClient
	users  users
	watch  *leak.Watch
	turn   chan struct{} // has an element while nobody uses the handle
	// Of a call whose context ended before it did: its result, which the next call takes, and whether it was a Step.
	unfinished     chan *c.Failure
	unfinishedStep bool
	parameters     []nn.Named
}

// NewParameterClient joins as a trainer. It returns once Trainers have joined; who comes later, once the present step is over.
// Then the dense parameters have the servers' values, which are those of the trainer that joined first. Names of tables and
// dense parameters are 1 to 255 bytes, without '/'. When ctx ends it returns, and this trainer leaves once it has joined, or its
// Timeout is over; until then the process can have no other client.
//
// Errors: gotorch.ErrInvalidArgument for what makes no sense, or differs from what other trainers gave, naming table and
// trainers; gotorch.ErrOutOfMemory for more than a server's MostBytes; gotorch.ErrUnsupported for an optimizer that does not
// suit.
func NewParameterClient(ctx context.Context, o ParameterClientOptions) (*ParameterClient, error) {
	const op = "rpc.NewParameterClient"
	if ctx.Err() != nil {
		return nil, ended(ctx, "parameter_client_create", "", "the context ended before the call")
	}
	if o.Timeout < 0 || o.Trainers < 0 || o.Staleness < 0 {
		return nil, invalid(op, "Timeout is %v, Trainers %d and Staleness %d; none is negative", o.Timeout, o.Trainers, o.Staleness)
	}
	raw := c.ParameterClientOptions{Servers: o.Servers, Trainers: cmp.Or(o.Trainers, 1), Staleness: o.Staleness,
		TimeoutMS: milliseconds(cmp.Or(o.Timeout, 5*time.Minute)), DenseOptimizer: o.Dense.Optimizer, Synchronous: !o.Asynchronous,
		Leave: o.GoOnWithoutLost}
	frame := c.NewFrame()
	if err := gotorch.Try(func() {
		raw.OptionCounts = append(raw.OptionCounts, putOptions(frame, o.Dense.Options, op))
		for _, one := range o.Dense.Parameters {
			checkName(one.Name, op)
			if one.Tensor == nil {
				panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op, Message: "dense parameter '" + one.Name + "' is nil"})
			}
			raw.Names = append(raw.Names, one.Name)
			raw.Parameters = append(raw.Parameters, bridge.Handle(one.Tensor, op))
		}
		for _, name := range slices.Sorted(maps.Keys(o.Tables)) {
			one := o.Tables[name]
			checkName(name, op)
			table := c.EmbeddingTable{Name: name, Optimizer: one.Optimizer, Rows: one.Rows, Width: one.Width,
				DType: int32(one.DType.Or(gotorch.Float32)), ByRange: one.ByRange, StandardDeviation: one.StandardDeviation.Or(1),
				Seed: one.Seed}
			if one.Initial != nil {
				table.Initial = bridge.Handle(one.Initial, op)
			}
			raw.Tables = append(raw.Tables, table)
			raw.OptionCounts = append(raw.OptionCounts, putOptions(frame, one.Options, op))
		}
	}); err != nil {
		frame.Release()
		return nil, withWorker(ctx, "", err)
	}
	handle, err := made(ctx, "parameter_client_create", "the context ended before all trainers had joined",
		func() (c.ParameterClient, *c.Failure) {
			defer runtime.KeepAlive(o)
			return c.CreateParameterClient(raw, frame)
		}, func(late c.ParameterClient) {
			c.LeaveParameterClient(late)
			c.FreeParameterClient(late)
		})
	if err != nil {
		return nil, err
	}
	p := &ParameterClient{handle: handle, turn: make(chan struct{}, 1), parameters: o.Dense.Parameters}
	p.turn <- struct{}{}
	p.watch = leak.Track(p, "rpc.ParameterClient")
	return p, nil
}

// checkName refuses what C would cut off.
func checkName(name, op string) {
	if strings.IndexByte(name, 0) >= 0 {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op, Message: fmt.Sprintf("the name %q has a zero byte", name)})
	}
}

// putOptions adds them to the frame, and counts them.
func putOptions(frame *c.Frame, options map[string]any, op string) int64 {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		frame.Name(name)
		put(frame, options[name], op, "option '"+name+"'")
	}
	return int64(len(options))
}

// begin has this goroutine use the handle, once no other one does, and a call that was left alone has ended: settled tells that
// it was a Step. Its failure is that of the call that begins. done ends the use.
func (p *ParameterClient) begin(ctx context.Context, op string) (done func(), settled bool, err error) {
	if p == nil || p.turn == nil || !p.users.acquire() {
		return nil, false, closed(op, "parameter client")
	}
	if ctx.Err() != nil {
		p.release()
		return nil, false, ended(ctx, op, "", "the context ended before the call")
	}
	c.WaitingInRPC(func() {
		select {
		case <-p.turn:
		case <-ctx.Done():
			err = ended(ctx, op, "", "the context ended before this call's turn")
		}
	})
	if err != nil {
		p.release()
		return nil, false, err
	}
	done = func() {
		p.turn <- struct{}{}
		p.release()
	}
	if p.unfinished == nil {
		return done, false, nil
	}
	failure, err := result(ctx, p.unfinished, op, "", "the context ended; the call before goes on")
	if err == nil {
		p.unfinished = nil
		err = errorOf(ctx, op, "", failure)
	}
	if err != nil {
		done()
		return nil, false, err
	}
	return done, p.unfinishedStep, nil
}

func (p *ParameterClient) release() {
	if p.users.release() {
		c.FreeParameterClient(p.handle)
	}
}

// Embedding gives the rows of indices, int64 of any shape: [*indices, Width] on the CPU. Each row is fetched once. With
// gradients enabled the result has history, and the next Step pushes the rows' gradients. It takes no context, and as long as
// the client's Timeout at most. Errors: gotorch.ErrNotFound (no such table), gotorch.ErrOutOfRange naming the table and the
// index.
func (p *ParameterClient) Embedding(table string, indices *gotorch.Tensor) (rows *gotorch.Tensor, err error) {
	done, _, err := p.begin(context.Background(), "parameter_client_embedding")
	if err != nil {
		return nil, err
	}
	defer done()
	panicked := gotorch.Try(func() {
		made, failure := c.EmbeddingOfParameterClient(p.handle, table, bridge.Handle(indices, "rpc.ParameterClient.Embedding"))
		runtime.KeepAlive(indices)
		if err = errorOf(context.Background(), "", "", failure); err == nil {
			rows = bridge.Wrap(made).(*gotorch.Tensor)
		}
	})
	return rows, cmp.Or(err, panicked)
}

// Step pushes the gradients of the dense parameters, and those of the rows that Embedding gave since the last step; waits as
// the mode has it; then the dense parameters have the servers' new values, and gradients are dropped. A parameter without a
// gradient counts as zeros where another trainer has one.
//
// When ctx ends it returns with gotorch.ErrAborted, and the step goes on: the next call waits for its end, and where that is a
// Step it makes no other one. After gotorch.ErrTimeout, too, another Step pushes nothing, and waits on.
func (p *ParameterClient) Step(ctx context.Context) error {
	const op = "parameter_client_step"
	done, settled, err := p.begin(ctx, op)
	if err != nil {
		return err
	}
	defer done()
	if settled {
		return nil
	}
	return p.run(ctx, op, "the context ended; the step goes on", func() *c.Failure { return c.StepParameterClient(p.handle) })
}

// run has a call end the wait with ctx, for who has begun; what goes on is unfinished then.
func (p *ParameterClient) run(ctx context.Context, op, what string, call func() *c.Failure) error {
	if ctx.Done() == nil || isSessions(ctx) {
		failure := call()
		runtime.KeepAlive(p.parameters)
		return errorOf(ctx, "", "", failure)
	}
	came := make(chan *c.Failure, 1)
	p.users.join()
	go func() {
		defer p.release()
		failure := call()
		runtime.KeepAlive(p.parameters)
		came <- failure
	}()
	failure, err := result(ctx, came, op, "", what)
	if err != nil {
		p.unfinished, p.unfinishedStep = came, op == "parameter_client_step"
		return err
	}
	return errorOf(ctx, "", "", failure)
}

// Steps is the number of this trainer's next step, from 0; who joined late counts on from where the others were. -1 after Close.
// It waits for the end of a step that was left alone.
func (p *ParameterClient) Steps() int {
	if p == nil || p.turn == nil || !p.users.acquire() {
		return -1
	}
	defer p.release()
	<-p.turn
	defer func() { p.turn <- struct{}{} }()
	if p.unfinished != nil { // a step that was left alone counts once it is over; the next call has its failure
		c.WaitingInRPC(func() { p.unfinished <- <-p.unfinished })
	}
	return int(c.StepsOfParameterClient(p.handle))
}

// SetOption sets an option of the optimizer of a table or, for "", of the dense parameters, on all servers, for schedules of
// learning rates. One trainer calls it, between its steps. Errors: gotorch.ErrNotFound.
func (p *ParameterClient) SetOption(ctx context.Context, table, name string, value any) error {
	done, _, err := p.begin(ctx, "parameter_client_set_option")
	if err != nil {
		return err
	}
	defer done()
	frame := c.NewFrame()
	if err := gotorch.Try(func() { putOptions(frame, map[string]any{name: value}, "rpc.ParameterClient.SetOption") }); err != nil {
		frame.Release()
		return withWorker(ctx, "", err)
	}
	return p.run(ctx, "parameter_client_set_option", "the context ended; servers may have the option yet",
		func() *c.Failure { return c.SetParameterOption(p.handle, table, frame) })
}

// Leave is for after the last step: the others go on without this trainer. A second Leave does nothing.
func (p *ParameterClient) Leave(ctx context.Context) error {
	done, _, err := p.begin(ctx, "parameter_client_leave")
	if err != nil {
		return err
	}
	defer done()
	return p.run(ctx, "parameter_client_leave", "the context ended; leaving goes on",
		func() *c.Failure { return c.LeaveParameterClient(p.handle) })
}

// Use has package checkpoint save and load the tables: see checkpoint.State. call runs on this goroutine.
func (p *ParameterClient) Use(ctx context.Context, call func(c.ParameterClient) *c.Failure) error {
	done, _, err := p.begin(ctx, "parameter_client_state")
	if err != nil {
		return err
	}
	defer done()
	return errorOf(ctx, "", "", call(p.handle))
}

// Close gives the client up, once no call goes on: the other trainers hear that this one gave up, unless it has left. A second
// Close does nothing.
func (p *ParameterClient) Close() error {
	if p != nil && p.watch != nil && p.watch.Done() && p.users.close() {
		c.FreeParameterClient(p.handle)
	}
	return nil
}
