package need_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestBuildsThatCannotBeSayWhatIsMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds Go's own packages for another system")
	}
	for setting, want := range map[string]string{
		"GOOS=linux":  "gotorch needs cgo: set CGO_ENABLED=1",
		"GOOS=darwin": "gotorch runs on Linux alone",
	} {
		// Package dist needs the others.
		command := exec.Command("go", "build", "tandem.example/gotorch/dist", "tandem.example/gotorch")
		command.Env = append(os.Environ(), "CGO_ENABLED=0", setting)
		output, err := command.CombinedOutput()
		text := string(output)
		if err == nil || !strings.Contains(text, want) || strings.Count(text, "cannot use") != 1 || strings.Contains(text, "undefined:") {
			t.Errorf("%s: %v\n%s", setting, err, text)
		}
	}
}
