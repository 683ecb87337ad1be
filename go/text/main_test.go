package text_test

import (
	"os"
	"testing"

	"tandem.example/gotorch/internal/testmain"
)

// Networks as small as these are computed fastest by one thread.
func TestMain(m *testing.M) {
	os.Setenv("OMP_NUM_THREADS", "1")
	testmain.Run(m, nil)
}
