"""Puts before each schema of the dispatcher which calls LibTorch's headers have for it, and prints schemas.txt.

    variants.py LIST INCLUDE > schemas.txt

LIST is what list.cpp printed, INCLUDE the folder of LibTorch's headers. "f" is a function at::NAME, "m" a method of
at::Tensor, "-" none.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"^// (aten::[\w.]+)\(", re.M)


def main(listing, include):
    aten = pathlib.Path(include) / "ATen"
    functions, methods = set(), set(COMMENT.findall((aten / "core/TensorBody.h").read_text(encoding="utf-8")))
    for header in (aten / "ops").glob("*.h"):
        if not header.stem.endswith(("_ops", "_native", "_dispatch")):
            functions.update(COMMENT.findall(header.read_text(encoding="utf-8")))
    for line in pathlib.Path(listing).read_text(encoding="utf-8").splitlines():
        name = line.split("(")[0]
        print(("f" if name in functions else "-") + ("m" if name in methods else "-"), line)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
