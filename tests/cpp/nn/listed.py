"""Checks that modules.json is what the registry says of itself: listed.py LISTER MODULES_JSON"""
import difflib
import pathlib
import subprocess
import sys

lister, stored = sys.argv[1:]
now = subprocess.run([lister], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
then = pathlib.Path(stored).read_text(encoding="utf-8").splitlines()
if now != then:
    lines = list(difflib.unified_diff(then, now, "modules.json", "the registry", lineterm="", n=0))
    sys.exit("\n".join(lines[:40]) + f"\nmodules.json is not what the registry has; {lister} > {stored}")
print(f"{len(now) - 2} modules, as the registry has them")
