"""Keeps what a release's C ABI is, so that later ones can be compared with it: a copy of its header, and libabigail's
description of its functions and types.

    freeze.py                writes frozen/MAJOR.MINOR/ for the version that tandem.h names
    freeze.py --again        the same over what is there: only as long as that version is not released
    freeze.py --check        fails when a description is not its header's, or the version of tandem.h has none
"""
import argparse
import pathlib
import sys
import tempfile

import description
import surface
from compare import abidiff
from header import Header

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE.parents[1] / "capi/include/tandem/tandem.h"
FROZEN = HERE / "frozen"


def freeze(compiler, again):
    folder = FROZEN / Header(HEADER).version
    if folder.exists() and not again:
        sys.exit(f"{folder} is there: what was released stays; raise TDM_VERSION_MINOR (--again: it is not released yet)")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tandem.h").write_bytes(HEADER.read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        library = pathlib.Path(scratch) / "libtandem.so"
        surface.build(compiler, HEADER, library)
        (folder / description.NAME).write_text(description.describe(library), encoding="utf-8")
    print(f"wrote {folder}")


def check(compiler, frozen=FROZEN, header=HEADER):
    version = Header(header).version
    if not (frozen / version).is_dir():
        yield f"tandem.h is of version {version}, which {frozen} lacks: run tests/abi/freeze.py"
    for folder in sorted(frozen.iterdir()):
        found = Header(folder / "tandem.h").version
        if found != folder.name:
            yield f"{folder}/tandem.h is of version {found}"
        with tempfile.TemporaryDirectory() as scratch:
            library = pathlib.Path(scratch) / "libtandem.so"
            surface.build(compiler, folder / "tandem.h", library)
            if said := abidiff(folder / description.NAME, library):
                yield f"{folder / description.NAME} does not describe the header beside it; restore both\n{said}"


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--again", action="store_true")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--compiler", default="cc")
    given = arguments.parse_args()
    if given.check:
        sys.exit("\n".join(check(given.compiler)) or 0)
    freeze(given.compiler, given.again)
