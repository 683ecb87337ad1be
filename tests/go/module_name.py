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
    for name in ("go", "examples/go", "tests/go", "tests/bench/go", "capi/generator", "script/go-module-name"):
        source = options.root / name
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    subprocess.run([copy / "script/go-module-name", "example.org/some/where"], check=True, timeout=60)
    subprocess.run([options.go, "build", "./..."], check=True, timeout=100, cwd=copy / "go")
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(copy / "capi/generator"))
    from languages.go import operators as go_operators  # writes import paths
    if go_operators.MODULE != "example.org/some/where":
        sys.exit(f"the generator would write the operators for {go_operators.MODULE}")
    old = "tandem" + ".example"
    left = [p for p in copy.rglob("*") if p.is_file() and p.name != "go-module-name" and old.encode() in p.read_bytes()]
    if left:
        sys.exit(f"{old} is still in {left}")
