// Package programs is whole programs with small nets of their own, as people write them with the public packages: what
// they train, and that they leave no native object behind (testmain counts).
package programs

import (
	"testing"

	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/internal/testmain"
)

var children = testmain.Children{
	"resnet": func() { dist.Main(resnetRank) },
}

func TestMain(m *testing.M) { testmain.Run(m, children) }
