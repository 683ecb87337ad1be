package text_test

import (
	"testing"

	"tandem.example/gotorch/internal/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m, nil) }
