"""Serves the gotorch module from a file proxy, and builds and runs a user's program outside of the checkout with it.

    module_proxy.py --go GO --module FOLDER

The program must build without libtandem being there, run with it, and say what to do without it.
"""
import argparse
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

VERSION = "v0.1.0"
SCRIPT = str(pathlib.Path(__file__).resolve().parents[2] / "script/go-module-proxy")
script = importlib.util.module_from_spec(importlib.util.spec_from_loader(
    "go_module_proxy", importlib.machinery.SourceFileLoader("go_module_proxy", SCRIPT)))
script.__loader__.exec_module(script)
PROGRAM = """package main

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

func main() {
	if err := gotorch.Load(); err != nil {
		fmt.Println(err)
		return
	}
	x := gotorch.From([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(gotorch.ToSlice[float32](x.MatMul(x)), nn.NewLinear(2, 3).Forward(x).Shape())
}
"""


def run(command, **more):
    print("+", *command, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250, **more)
    print(done.stdout, end="", flush=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}")
    return done.stdout


parser = argparse.ArgumentParser()
parser.add_argument("--go", required=True)
parser.add_argument("--module", type=pathlib.Path, required=True)
options = parser.parse_args()

with tempfile.TemporaryDirectory() as temporary:
    home = pathlib.Path(temporary)
    name = script.serve(options.module, home / "proxy", VERSION)
    user = home / "user"
    user.mkdir()
    (user / "main.go").write_text(PROGRAM.replace("tandem.example/gotorch", name))
    environment = {k: v for k, v in os.environ.items() if k not in ("GOFLAGS", "TANDEM_LIBRARY")}
    environment |= {
        "GOPROXY": (home / "proxy").as_uri(), "GONOSUMDB": name, "GONOSUMCHECK": "1", "GOFLAGS": "-modcacherw",
        "GOMODCACHE": str(home / "modules"), "GOWORK": "off",
    }
    run([options.go, "mod", "init", "example.org/user"], cwd=user, env=environment)
    run([options.go, "get", f"{name}@{VERSION}"], cwd=user, env=environment)
    run([options.go, "build", "-o", "user", "."], cwd=user, env=environment)
    output = run([user / "user"], cwd=home, env=environment | {"TANDEM_LIBRARY": os.environ["TANDEM_LIBRARY"]})
    if output.strip() != "[7 10 15 22] [2 3]":
        sys.exit("that is not what the program prints")
    output = run([user / "user"], cwd=home, env=environment | {"TANDEM_LIBRARY": str(home)})
    if "TANDEM_LIBRARY" not in output:
        sys.exit("that does not say what to do without the library")
