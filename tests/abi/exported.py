"""Compares what libtandem exports with the frozen list: exported.py NM LIBTANDEM symbols.txt HEADER

A symbol that disappears breaks every program that uses it; one that appears must be meant to. Add new functions of
tandem.h to symbols.txt, in order."""
import subprocess
import sys

from header import Header

nm, library, frozen_path, header = sys.argv[1:]
listing = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
exported = sorted(line.split()[-1].split("@")[0] for line in listing.splitlines() if line.split()[-2] != "A")
frozen = open(frozen_path, encoding="utf-8").read().split()
declared = {f.name for f in Header(header).functions}
problems = [f"exported, but not in {frozen_path}: {name}" for name in sorted(set(exported) - set(frozen))]
problems += [f"in {frozen_path}, but no longer exported: {name}" for name in sorted(set(frozen) - set(exported))]
problems += [f"declared in tandem.h, but not exported: {name}" for name in sorted(declared - set(exported))]
sys.exit("\n".join(problems) or 0)
