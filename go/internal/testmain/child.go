package testmain

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Children are programs that tests start as processes of their own: this test binary, told to run one of them.
type Children map[string]func()

const childVariable = "GOTORCH_TEST_CHILD"

func (children Children) run() {
	name := os.Getenv(childVariable)
	if name == "" {
		return
	}
	child, ok := children[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no child %q\n", name)
		os.Exit(2)
	}
	child()
	os.Exit(0)
}

// Command starts a child, in an environment to which the variables are added; "NAME=" removes one.
func Command(t testing.TB, child string, variables ...string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), executable)
	command.Env = append(os.Environ(), childVariable+"="+child)
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		command.Env = slices.DeleteFunc(command.Env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		if value != "" {
			command.Env = append(command.Env, variable)
		}
	}
	return command
}

// FreePort is one of loopback that nobody listens at.
func FreePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
