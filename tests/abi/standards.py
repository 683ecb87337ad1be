"""Compiles tandem.h as each C and C++ that programs are written in, and nothing more: standards.py CC CXX HEADER

Macros are only checked where they are expanded, so every initialiser is used. Once with nothing before it, and once after
the headers of C that define common words as macros (complex, bool, I, imaginary)."""
import pathlib
import subprocess
import sys
import tempfile

from header import Header

STANDARDS = {".c": ["c99", "c11", "c17", "gnu99"], ".cpp": ["c++11", "c++17", "c++20"]}
BEFORE = {"": "", "after <complex.h>": "#include <complex.h>\n#include <stdbool.h>\n#include <math.h>\n#include <errno.h>\n"}


def problems(compiler, compiler_of_cpp, header):
    header = pathlib.Path(header).resolve()
    uses = "".join(f"  {{ {name} made = {macro}; size += made.struct_size; }}\n"
                   for name, macro in sorted(Header(header).initialisers.items()))
    text = f'#include "{header}"\nsize_t total(void);\nsize_t total(void) {{\n  size_t size = 0;\n{uses}  return size;\n}}\n'
    with tempfile.TemporaryDirectory() as folder:
        for suffix, standards in STANDARDS.items():
            for place, before in BEFORE.items():
                source = pathlib.Path(folder) / f"program{suffix}"
                source.write_text(before + text, encoding="utf-8")
                for standard in standards:
                    made = subprocess.run([compiler if suffix == ".c" else compiler_of_cpp, f"-std={standard}", "-Wall",
                                           "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", str(source)],
                                          capture_output=True, text=True)
                    if made.returncode:
                        yield f"tandem.h is no {standard}{place and ' ' + place}:\n{made.stderr.strip()}"


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit("\n".join(problems(*sys.argv[1:])) or 0)
