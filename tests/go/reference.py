"""Reference values by Python's torch for the Go front end's own code: what x[...] gives, what print(x) prints, what
C++ prints and pickles.

    reference.py make CHECKOUT     writes go/testdata/{indexing,printing}.json.gz, and of go/compat/testdata
                                   {printing,pickled}.json.gz
    reference.py check CHECKOUT    fails when it would write something else

Run it with a Python that has torch of the pinned version (script/bench makes one: build/bench/venv).
"""
import gzip
import json
import pathlib
import sys

import indexing_cases
import pickled_cases
import printing_cases
import stream_cases


def text(cases):
    """A case a line, so that a difference can be found."""
    return "[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n"


def main(command, checkout):
    stale = []
    for name, module in (("testdata/indexing", indexing_cases), ("testdata/printing", printing_cases),
                         ("compat/testdata/printing", stream_cases), ("compat/testdata/pickled", pickled_cases)):
        path, now = pathlib.Path(checkout) / "go" / f"{name}.json.gz", text(module.cases()).encode()
        if command == "make":
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(gzip.compress(now, mtime=0))
        elif gzip.decompress(path.read_bytes()) != now:
            stale.append(str(path))
    if stale:
        sys.exit(f"{', '.join(stale)}: Python's torch gives something else now; reference.py make writes it anew")


main(*sys.argv[1:])
