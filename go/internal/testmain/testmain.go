// Package testmain runs a package's tests: with the checkout's libtandem, and failing when native objects are left.
package testmain

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/leaktest"
)

// Run is called by TestMain. In a process that [Command] started it runs that child instead.
func Run(m *testing.M, children Children) {
	if os.Getenv("GOTORCH_TEST_NO_CHECKOUT") == "" {
		Checkout()
	}
	children.run()
	os.Exit(leaktest.Run(m))
}

// Checkout makes the checkout's builds places where libtandem is looked for.
func Checkout() {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..")
	for _, preset := range []string{"dev", "release"} {
		c.CheckoutLibraries = append(c.CheckoutLibraries, filepath.Join(root, "build", preset, "lib"))
	}
}
