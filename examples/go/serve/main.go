// Serve answers HTTP requests by a model that Python exported in evaluation mode:
//
//	serve-go --model eval.pt2
//	curl -d '[[0.1, 0.2, 0.3]]' http://127.0.0.1:8080/predict
//
// A request is a JSON array of rows, and so is the reply. Rows of requests that arrive together are computed as one batch.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type settings struct {
	model, checkpoints, address string
	rows, waiting, bytes        int
	wait                        time.Duration
}

// How long requests that are under way may take once the server was told to stop.
const grace = 30 * time.Second

func main() {
	var s settings
	flag.StringVar(&s.model, "model", "", "`FILE.pt2` that Python exported in evaluation mode")
	flag.StringVar(&s.checkpoints, "checkpoints", "", "`FOLDER` of a training of this model, whose newest checkpoint has the weights")
	flag.StringVar(&s.address, "address", "127.0.0.1:8080", "to listen on; port 0: any that is free")
	flag.IntVar(&s.rows, "rows", 32, "most rows of a batch, and of a request")
	flag.DurationVar(&s.wait, "wait", 2*time.Millisecond, "longest time that a request waits for others to join its batch")
	flag.IntVar(&s.waiting, "waiting", 256, "most requests at once; more get status 503")
	flag.IntVar(&s.bytes, "bytes", 1<<20, "most bytes of a request")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends; requests that came before get their answers.
func (s *settings) run(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is no flag; --help lists all", flag.Arg(0))
	}
	if s.model == "" {
		return fmt.Errorf("give --model FILE.pt2, which Python exported in evaluation mode; --help lists all flags")
	}
	if min(s.rows, s.waiting, s.bytes) < 1 || s.wait < 0 {
		return fmt.Errorf("--rows, --waiting and --bytes must be above 0, and --wait not below it")
	}
	served, err := loadModel(ctx, s.model, s.checkpoints, s.rows)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	queue := newBatcher(served, s.waiting, s.wait)
	server := &http.Server{Handler: newHandler(served, queue, s.waiting, int64(s.bytes)), ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Printf("rows of %s, at most %d at once, on http://%s/predict\n", served.row(), served.most, listener.Addr())

	select {
	case err = <-failed:
	case <-ctx.Done():
		late, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		err = server.Shutdown(late)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("requests were still under way after %v", grace)
		}
	}
	if err == nil {
		queue.close() // only now: no handler uses it any more
	}
	return err
}
