package leaktest_test

import (
	"os"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/leaktest"
)

func ExampleRun() {
	// In a file of the package's tests:
	testMain := func(m *testing.M) { os.Exit(leaktest.Run(m)) }
	_ = testMain
}

func ExampleCheck() {
	testStep := func(t *testing.T) {
		leaktest.Check(t)
		gotorch.Scope(func() { gotorch.Ones([]int{3}).Sum() })
	}
	_ = testStep
}
