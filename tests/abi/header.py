"""tandem.h as the generator reads it.

    header.py HEADER    prints a table of all its functions, in C
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "capi/generator"))
from abi.header import Header  # noqa: E402, F401

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(Header(sys.argv[1]).every_function)
