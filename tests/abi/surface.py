"""A library with the functions of a header and nothing in them: what an ABI looks like, and what links against it."""
import pathlib
import subprocess

from header import Header

STUB = '#define TDM_API __attribute__((visibility("default")))\n#include "{header}"\n'


def build(compiler, header, library, extra=""):
    """Compiles `header`'s functions, and `extra` C, to the shared library `library`, with the types as debug
    information."""
    source = pathlib.Path(library).with_suffix(".c")
    bodies = [f"{f.result} {f.name}({f.text}) {{ __builtin_trap(); }}\n" for f in Header(header).functions]
    source.write_text(STUB.format(header=pathlib.Path(header).resolve()) + "".join(bodies) + extra, encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-g2", "-O0", "-fvisibility=hidden", str(source), "-o", str(library),
                    "-Wl,-soname,libtandem.so.0"], check=True)
