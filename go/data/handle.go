package data

import (
	"errors"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// native is a loader's handle, which one goroutine at a time calls with, and any may close.
type native struct {
	name   string     // of the type, for errors
	mutex  sync.Mutex // of calls
	life   sync.Mutex // of the next three, never held during a call: callbacks of one may call too
	handle c.Loader   // nil: closed
	users  int        // calls that use it
	idle   sync.Cond  // there are none
	watch  *leak.Watch
}

// with calls with the handle, as the one that does.
func (n *native) with(call func(c.Loader) error) error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.beside(call)
}

// beside calls with the handle, also while others do.
func (n *native) beside(call func(c.Loader) error) error {
	n.life.Lock()
	handle := n.handle
	if handle == nil {
		n.life.Unlock()
		return &gotorch.Error{Code: gotorch.ErrClosed, Op: n.name, Message: "the loader was closed before this use"}
	}
	n.users++
	n.life.Unlock()
	defer func() {
		n.life.Lock()
		defer n.life.Unlock()
		if n.users--; n.users == 0 {
			n.idle.Broadcast()
		}
	}()
	return call(handle)
}

// close ends calls that wait, and then frees the handle, which joins threads: their callbacks find the loader closed.
func (n *native) close() {
	if !n.watch.Done() {
		return
	}
	n.beside(func(handle c.Loader) error { return bridge.Error(c.AbortLoader(handle)) })
	n.life.Lock()
	handle := n.handle
	n.handle = nil
	n.idle.L = &n.life
	for n.users > 0 {
		n.idle.Wait()
	}
	n.life.Unlock()
	c.FreeLoader(handle)
}

// failed is the error of a call that both kinds of loaders have, under the name that it has in one of them.
func failed(operation string, failure *c.Failure) error {
	err := bridge.Error(failure)
	var known *gotorch.Error
	if errors.As(err, &known) {
		known.Op = operation
	}
	return err
}
