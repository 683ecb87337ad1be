"""script/go-module-name changes the module's name everywhere: a copy under another name still builds."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--root", type=pathlib.Path, required=True)
parser.add_argument("--go", required=True)
options = parser.parse_args()

with tempfile.TemporaryDirectory() as temporary:
    copy = pathlib.Path(temporary)
    for name in ("go", "examples/go", "tests/go", "tests/bench/go", "script/go-module-name"):
        source = options.root / name
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
    subprocess.run([copy / "script/go-module-name", "example.org/some/where"], check=True, timeout=60)
    subprocess.run([options.go, "build", "./..."], check=True, timeout=100, cwd=copy / "go")
    old = "tandem" + ".example"
    left = [p for p in copy.rglob("*") if p.is_file() and p.name != "go-module-name" and old.encode() in p.read_bytes()]
    if left:
        sys.exit(f"{old} is still in {left}")
