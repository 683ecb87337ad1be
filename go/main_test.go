package gotorch_test

import (
	"fmt"
	"os"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/testmain"
)

var children = testmain.Children{
	"8 goroutines":  func() { trainOnGoroutines(8) },
	"64 goroutines": func() { trainOnGoroutines(64) },
	"load":          func() { fmt.Println(gotorch.Load()) },
	"leave main":    leaveMainWhileComputing,
	"os.Exit":       func() { leaveMainWhileComputing(); os.Exit(3) },
	"shutdown":      shutdownWhileComputing,
	"memory scopes": func() { trainForMemory(true) },
	"memory gc":     func() { trainForMemory(false) },
}

func TestMain(m *testing.M) { testmain.Run(m, children) }
