"""Whether programs that were built against a frozen release run with today's library: compare.py FROZEN HEADER LIBRARY

FROZEN is a folder that freeze.py wrote, HEADER today's tandem.h, LIBRARY today's libtandem.so with its types as debug
information. Additions pass: functions, constants, fields at the end of structs that begin with struct_size. Everything
that a built program could notice is named, and the exit status is 1.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import description
from description import Description
from header import Header


def abidiff(before, library, *options):
    """What abidiff has to say; "" for nothing."""
    found = subprocess.run(["abidiff", "--exported-interfaces-only", "--no-show-locs", "--no-corpus-path",
                            "--no-added-syms", *options, str(before), str(library)], capture_output=True, text=True)
    return "" if found.returncode == 0 else (found.stdout + found.stderr).strip() or f"abidiff: {found.returncode}"


def changes(frozen, library, growing, folder):
    """Functions that are gone; other parameters, results, types, and structs but those that may grow."""
    suppressions = pathlib.Path(folder) / "growing.ini"
    suppressions.write_text(f"[suppress_type]\n  type_kind = struct\n  name_regexp = ^({'|'.join(sorted(growing))})$\n",
                            encoding="utf-8")
    said = abidiff(frozen / description.NAME, library, "--suppressions", str(suppressions))
    return [f"abidiff:\n{said}"] if said else []


def untyped(before, after):
    """abidiff compares names alone where a library has no debug information."""
    missing = sorted(before.functions - after.functions)
    return [f"the library does not tell the types of {', '.join(missing)}: gone, or compiled without -g"] if missing else []


def growth(before, after, growing):
    """Structs that begin with struct_size: what an older program passes keeps its place and type. abidiff takes a field
    in their padding for an addition; older programs pass that as well, with anything in it."""
    before, after = before.structs, after.structs
    for name in sorted(growing & before.keys()):
        size, fields = before[name]
        now = after.get(name, (0, {}))[1]
        for field, (byte, type_) in fields.items():
            if field not in now:
                yield f"{name}.{field} is gone"
            elif now[field] != (byte, type_):
                yield f"{name}.{field} was {type_} at byte {byte} and is {now[field][1]} at byte {now[field][0]}"
        for field in sorted(now.keys() - fields.keys()):
            if now[field][0] < size:
                yield (f"{name}.{field} is new at byte {now[field][0]}, inside the {size} bytes that older programs pass: "
                       "append it; where those end in padding, as a field of eight bytes")


def renumbered(before, after):
    for name, number in before.constants.items():
        if name not in after.constants:
            yield f"{name} is gone"
        elif after.constants[name] != number:
            yield f"{name} was {number} and is {after.constants[name]}"
    for name in sorted(before.macros - after.macros):
        yield f"{name} is gone"


def newer_programs(compiler, header, before, after, folder):
    """What an older library, which takes nothing but zeros behind the struct that it knows, would refuse."""
    source, program = (pathlib.Path(folder) / name for name in ("newer.c", "newer"))
    lines = ["#include <stdio.h>", f'#include "{header.path.resolve()}"', "int main(void) {"]
    before, after = before.structs, after.structs
    for name in sorted(header.growing & before.keys() & after.keys()):
        size, fields = after[name]
        if size <= before[name][0]:
            continue
        last = max(fields, key=lambda field: fields[field][0])
        lines += [f"  if (offsetof({name}, {last}) + sizeof((({name}*)0)->{last}) != sizeof({name}))",
                  f'    puts("{name} ends in padding, of any content: its new fields have eight bytes, or come in pairs of four");']
        if macro := header.initialisers.get(name):
            lines += [f"  {{ static const {name} made = {macro};",
                      f"    for (size_t i = {before[name][0]}; i < sizeof made; ++i)",
                      "      if (((const unsigned char*)&made)[i] && ((const int*)&made)[i / 4] != TDM_UNCHANGED) {",
                      f'        puts("{macro} sets a field that is new: zero, or TDM_UNCHANGED, has to be its default"); break; }} }}']
    source.write_text("\n".join(lines + ["  return 0;", "}", ""]), encoding="utf-8")
    subprocess.run([compiler, "-w", str(source), "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()


def links(compiler, frozen, library, folder):
    """A program that uses every function of the frozen header."""
    source, program = (pathlib.Path(folder) / name for name in ("every.c", "every"))
    source.write_text('#include "tandem.h"\n' + Header(frozen / "tandem.h").every_function
                      + "int main(void) { return !every_function[0].function; }\n", encoding="utf-8")
    made = subprocess.run([compiler, "-std=c99", "-I", str(frozen), str(source), "-o", str(program), str(library)],
                          capture_output=True, text=True)
    if made.returncode:
        yield f"a program that uses all of {frozen.name}'s tandem.h does not link:\n{made.stderr.strip()}"


def compare(compiler, frozen, header, library):
    frozen, header_before, header_after = pathlib.Path(frozen), Header(frozen / "tandem.h"), Header(header)
    before = Description((frozen / description.NAME).read_text(encoding="utf-8"))
    after = Description(description.describe(library))
    with tempfile.TemporaryDirectory() as folder:
        return [*changes(frozen, library, header_before.growing, folder),
                *untyped(before, after),
                *growth(before, after, header_before.growing),
                *renumbered(header_before, header_after),
                *newer_programs(compiler, header_after, before, after, folder),
                *links(compiler, frozen, library, folder)]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("frozen", "header", "library"):
        arguments.add_argument(name, type=pathlib.Path)
    arguments.add_argument("--compiler", default="cc")
    given = arguments.parse_args()
    problems = compare(given.compiler, given.frozen, given.header, given.library)
    sys.exit("\n".join(f"{given.frozen.name}: {problem}" for problem in problems) or 0)
