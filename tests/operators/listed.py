"""Checks that schemas.txt is what the dispatcher lists and LibTorch's headers declare: listed.py LISTER OPERATORS INCLUDE"""
import difflib
import pathlib
import subprocess
import sys
import tempfile

lister, operators, include = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    listing = pathlib.Path(folder) / "list.txt"
    listing.write_bytes(subprocess.run([lister], check=True, stdout=subprocess.PIPE).stdout)
    now = subprocess.run([sys.executable, "-B", f"{operators}/variants.py", listing, include], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
then = pathlib.Path(operators, "schemas.txt").read_text(encoding="utf-8")
if now != then:
    lines = list(difflib.unified_diff(then.splitlines(), now.splitlines(), "schemas.txt", "LibTorch", lineterm="", n=0))
    sys.exit("\n".join(lines[:40]) + "\nschemas.txt is not what this LibTorch has: list.cpp and variants.py make it")
print(f"{len(now.splitlines())} schemas, as LibTorch has them")
