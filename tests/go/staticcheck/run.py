"""Runs staticcheck, of the version that go.mod here has, on every package of Go modules: run.py GO PROGRAM MODULE...

PROGRAM is where the checker is built, as script/bootstrap does: `run.py GO PROGRAM` alone builds it.
"""
import os
import pathlib
import subprocess
import sys

go, program, *modules = sys.argv[1:]
program = pathlib.Path(program).resolve()
build = [go, "build", "-mod=readonly", "-o", str(program), "honnef.co/go/tools/cmd/staticcheck"]
if subprocess.run(build, cwd=pathlib.Path(__file__).parent, env=os.environ | {"CGO_ENABLED": "0"}).returncode:
    sys.exit("staticcheck cannot be built; script/bootstrap fetches what it is built from")
# The checker asks `go` of the path for packages.
path = os.pathsep.join([str(pathlib.Path(go).resolve().parent), os.environ["PATH"]])
failed = [module for module in modules
          if subprocess.run([program, "./..."], cwd=module, env=os.environ | {"PATH": path}).returncode]
if failed:
    sys.exit(f"staticcheck has something to say of {', '.join(failed)}")
