"""A language's messages.txt: what its programs call the things of tandem.h that errors speak of.

A line each: C's name, a space, the language's name; "-" for what no error of such a program has. C's name is a
function's, a type's, a constant's, or the beginning that constants have in common (TDM_DTYPE). Empty lines and those
that begin with # are left out.
"""
import pathlib


def read(folder, header):
    """{C's name: the language's, None for what no error has}, sorted. Names that the header lacks are refused."""
    path = pathlib.Path(folder) / "messages.txt"
    known = names_of(header)
    table = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        name, _, said = line.partition(" ")
        if name in table:
            raise SystemExit(f"{path}:{number}: {name} stands there twice")
        if not said:
            raise SystemExit(f"{path}:{number}: {name} has no name behind it")
        if name.split(".")[0] not in known:
            raise SystemExit(f"{path}:{number}: tandem.h has no {name}")
        table[name] = None if said == "-" else said
    return dict(sorted(table.items()))


def names_of(header):
    constants = set(header.constants)
    common = {"_".join(words[:n]) for words in (c.split("_") for c in constants) for n in range(2, len(words))}
    # tdm_x stands for any of them in the library's own texts.
    return ({f.name for f in header.functions} | set(header.handles) | set(header.integers) | constants | common |
            {s.name for s in header.structs} | header.macros | {"tdm_x"})
