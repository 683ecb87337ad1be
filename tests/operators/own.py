"""Checks that own.txt is what the core registers: own.py LISTER OWN"""
import difflib
import pathlib
import subprocess
import sys

lister, own = sys.argv[1:]
now = subprocess.run([lister, "tandem"], check=True, stdout=subprocess.PIPE, text=True).stdout
then = pathlib.Path(own).read_text(encoding="utf-8")
if now != then:
    lines = difflib.unified_diff(then.splitlines(), now.splitlines(), "own.txt", "the core", lineterm="", n=0)
    sys.exit("\n".join(lines) + "\nown.txt is not what the core registers: list_own_operators tandem prints it")
print(f"{len(now.splitlines())} operators, as the core registers them")
