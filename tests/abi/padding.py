"""Structs of the header have no padding between their fields: padding.py COMPILER HEADER

What lies in padding is nobody's: bindings that lay a struct out by hand get it wrong, and a field that is added there
would take what older programs left in it. At the end of a struct up to four bytes are allowed (docs/abi-versions.md)."""
import pathlib
import re
import subprocess
import sys
import tempfile

# Why a struct has padding all the same.
EXCEPT = {"tdm_value": "a tag of four bytes before a union of sixteen"}


def fields(body):
    """The names of a struct's members, in their order."""
    body = re.sub(r"\{[^{}]*\}", "", re.sub(r"\{[^{}]*\}", "", body))  # of inner structs and unions only their own names
    for member in filter(str.strip, re.sub(r"\((?!\*)[^()]*\)", "()", body).split(";")):
        callback = re.search(r"\(\*(\w+)\)", member)
        if callback:
            yield callback.group(1)
        else:
            yield from (re.search(r"(\w+)\s*$", name).group(1) for name in member.split(","))


def main(compiler, header):
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(encoding="utf-8"), flags=re.S)
    structs = {name: list(fields(body))
               for body, name in re.findall(r"^typedef struct \w+ \{(.*?)^\} (tdm_\w+);", text, flags=re.M | re.S)}
    lines = ["#include <stddef.h>", "#include <stdio.h>", f'#include "{pathlib.Path(header).resolve()}"', "int main(void) {"]
    for name, members in structs.items():
        if name in EXCEPT:
            continue
        for before, after in zip(members, members[1:]):
            lines.append(f"  if (offsetof({name}, {before}) + sizeof((({name}*)0)->{before}) != offsetof({name}, {after}))"
                         f' puts("{name} has padding before {after}: order its fields so that there is none");')
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "padding.c", pathlib.Path(folder) / "padding"
        source.write_text("\n".join(lines + ["  return 0;", "}", ""]), encoding="utf-8")
        subprocess.run([compiler, "-w", str(source), "-o", str(program)], check=True)
        said = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    if len(structs) < 30:
        said += f"only {len(structs)} structs were found in {header}\n"
    sys.exit(said or 0)


main(*sys.argv[1:])
