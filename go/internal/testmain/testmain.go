// Package testmain runs a package's tests: with the checkout's libtandem, and failing when native handles are left.
package testmain

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Run is called by TestMain. In a process that [Command] started it runs that child instead.
func Run(m *testing.M, children Children) {
	if os.Getenv("GOTORCH_TEST_NO_CHECKOUT") == "" {
		Checkout()
	}
	children.run()
	code := m.Run()
	if code == 0 && !leaks() {
		code = 1
	}
	if err := gotorch.Shutdown(30 * time.Second); err != nil {
		fmt.Fprintln(os.Stderr, "shutdown:", err)
		code = 1
	}
	os.Exit(code)
}

// Checkout makes the checkout's builds places where libtandem is looked for.
func Checkout() {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..")
	for _, preset := range []string{"dev", "release"} {
		c.CheckoutLibraries = append(c.CheckoutLibraries, filepath.Join(root, "build", preset, "lib"))
	}
}

// leaks tells of what is open once the collector has freed what it may.
func leaks() (none bool) {
	kinds := []string{"tensor", "module", "optimizer", "store", "process_group", "work", "ddp", "recordio_writer",
		"recordio_reader", "loader", "scope", "named_tensors", "string", "mode", "hook", "callback", "generator", "stream", "event", "grad_scaler",
		"error"}
	var left []string
	for range 50 {
		runtime.GC()
		left = left[:0]
		for _, kind := range kinds {
			if n := gotorch.LiveHandles(kind); n > 0 {
				left = append(left, fmt.Sprintf("%d %s handles", n, kind))
			}
		}
		left = append(left, leak.Open()...)
		if len(left) == 0 {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "left open after the tests:", left)
	return false
}
