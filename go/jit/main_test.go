package jit_test

import (
	"testing"

	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
)

func TestMain(m *testing.M) {
	testmain.Run(m, testmain.Children{
		"train":  func() { dist.Main(train) },
		"nested": func() { dist.Main(nested) },
	})
}
