package rpc

import (
	"context"
	"time"

	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// ParameterServer makes this process one whose tables trainers read, and to which they push gradients: one a process. Make it
// before [Init], so that no trainer comes too early, and close it after. It may be used by several goroutines.
//
//	server, err := rpc.NewParameterServer()
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	if err := rpc.Init(ctx, rpc.Options{Name: "server0"}); err != nil {
//		return err
//	}
//	if err := server.Wait(ctx); err != nil {
//		return err
//	}
//	return rpc.Shutdown(ctx, true)
//
// Sources: Li et al. 2014 (Scaling Distributed Machine Learning with the Parameter Server); Ho et al. 2013 (stale synchronous
// parallel).
type ParameterServer struct {
	handle c.ParameterServer
	users  users
	watch  *leak.Watch
}

// ParameterServerOptions of [NewParameterServer].
type ParameterServerOptions struct {
	// Of all tables of this server, without what optimizers remember; a trainer that declares more gets an error. Unset: three
	// quarters of this machine's memory.
	MostBytes int64
}

// NewParameterServer makes one. Errors: gotorch.ErrInvalidArgument where the process has one.
func NewParameterServer(options ...ParameterServerOptions) (*ParameterServer, error) {
	if len(options) > 1 {
		return nil, invalid("rpc.NewParameterServer", "%d structs of options were given, and one is taken", len(options))
	}
	var o ParameterServerOptions
	if len(options) == 1 {
		o = options[0]
	}
	if o.MostBytes < 0 {
		return nil, invalid("rpc.NewParameterServer", "MostBytes is %d; it must be 0 or more", o.MostBytes)
	}
	handle, failure := c.CreateParameterServer(o.MostBytes)
	if failure != nil {
		return nil, errorOf(context.Background(), "", "", failure)
	}
	s := &ParameterServer{handle: handle}
	s.watch = leak.Track(s, "rpc.ParameterServer")
	return s, nil
}

// Wait returns when all trainers have joined and none is left, or ctx ends. Errors: why the training failed, such as
// gotorch.ErrPeerLost naming a trainer that died.
func (s *ParameterServer) Wait(ctx context.Context) error {
	const slice = 200 * time.Millisecond // after which ctx is looked at
	for {
		if ctx.Err() != nil {
			return ended(ctx, "parameter_server_wait", "", "the context ended while trainers were left")
		}
		done := false
		failure := s.use("parameter_server_wait", func() (failure *c.Failure) {
			done, failure = c.WaitParameterServer(s.handle, milliseconds(slice))
			return failure
		})
		if failure != nil {
			return errorOf(ctx, "", "", failure)
		}
		if done {
			return nil
		}
	}
}

// ParameterServerStatistics say what a server did.
type ParameterServerStatistics struct {
	Updates    int // synchronous: of all tables at a time; else one a push
	Pushes     int // that trainers made, one a step
	Waits      int // pushes after which the trainer had to wait for others
	RowsRead   int // of embedding tables
	RowsPushed int
	MostAhead  int // steps that a trainer was ahead of the slowest when it pushed
	Bytes      int64
	Trainers   []string // that take part now
	Tables     []string // of which this server has a part, and the dense parameters that it has
}

// Statistics of this server.
func (s *ParameterServer) Statistics() (ParameterServerStatistics, error) {
	var counted c.ParameterServerStatistics
	failure := s.use("parameter_server_get_statistics", func() (failure *c.Failure) {
		counted, failure = c.ParameterServerStatisticsOf(s.handle)
		return failure
	})
	if failure != nil {
		return ParameterServerStatistics{}, errorOf(context.Background(), "", "", failure)
	}
	return ParameterServerStatistics{int(counted.Updates), int(counted.Pushes), int(counted.Waits), int(counted.RowsRead),
		int(counted.RowsPushed), int(counted.MostAhead), counted.Bytes, counted.Trainers, counted.Tables}, nil
}

func (s *ParameterServer) use(op string, call func() *c.Failure) *c.Failure {
	if s == nil || s.handle == nil || !s.users.acquire() {
		return &c.Failure{Code: c.CodeClosed, Op: op, Message: "the parameter server was closed before this use"}
	}
	defer s.release()
	return call()
}

func (s *ParameterServer) release() {
	if s.users.release() {
		c.FreeParameterServer(s.handle)
	}
}

// Close drops the tables, once no Wait goes on: trainers that are left get gotorch.ErrNotFound. A second Close does nothing.
func (s *ParameterServer) Close() error {
	if s != nil && s.watch != nil && s.watch.Done() && s.users.close() {
		c.FreeParameterServer(s.handle)
	}
	return nil
}
