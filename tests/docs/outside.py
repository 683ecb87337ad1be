"""Does what docs/own-project.md says, and runs the program of docs/from-pytorch.md, in folders outside of the checkout.

    outside.py CHECKOUT GO

TANDEM_LIBRARY is in the environment. Nothing is fetched: Go may ask the folder that the page makes alone.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

checkout, go = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
page = (checkout / "docs/own-project.md").read_text(encoding="utf-8")
blocks = dict(re.findall(r"<!-- run (\w+) -->\n```sh\n(.*?)```", page, re.S))


def run(command, folder, environment):
    print(f"+ {command}", flush=True)
    done = subprocess.run(["bash", "-euc", command], cwd=folder, env=environment, text=True, timeout=280,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, end="", flush=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}")
    return done.stdout


def build(home, block, program):
    """A folder with the program of that name, built as the page's block says."""
    folder = home / f"{program}_{block}"
    shutil.copytree(checkout / "tests/docs/programs" / program, folder)
    unwanted = ("GOFLAGS", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
    environment = {k: v for k, v in os.environ.items() if k not in unwanted} | {
        "PATH": f"{go.parent}:{os.environ['PATH']}", "TANDEM": str(checkout), "PROXY": str(home / "proxy"),
        "GOPROXY": "off", "GOFLAGS": "-modcacherw", "GOMODCACHE": str(home / "modules"), "GOWORK": "off",
        "GOTOOLCHAIN": "local",
    }
    run(blocks[block].replace(",https://proxy.golang.org", ""), folder, environment)
    return run("./digits", folder, environment)


with tempfile.TemporaryDirectory() as temporary:
    for block in ("own_project", "own_project_by_proxy"):
        if "rank 0 of 1: [1.0 1.0]" not in build(pathlib.Path(temporary), block, "own_project"):
            sys.exit("the program does not print what it learned")
    if "learned: true [4 0]" not in build(pathlib.Path(temporary), "own_project", "from_pytorch"):
        sys.exit("the program from PyTorch did not learn")
