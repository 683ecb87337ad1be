"""Whether abi.json says what the compiler sees: as_compiled.py ABI_JSON INCLUDE CC

A program in C takes each function by the type that abi.json has for it, and compares each struct's defaults and each
constant with the header's.
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def program(abi):
    lines = ["#include <stdio.h>", "#include <string.h>", '#include "tandem/tandem.h"', "",
             # Taken by name alone: nothing is linked.
             "#define IS(function, type) _Static_assert(_Generic(&function, type: 1, default: 0), #function)",
             "int main(void) {", "  int wrong = 0;"]
    for f in abi["functions"]:
        types = ", ".join(p["type"] for p in f["parameters"]) or "void"
        lines.append(f'  IS({f["name"]}, {f["result"]["type"]} (*)({types}));')
    for e in abi["enumerations"]:
        lines += [f'  _Static_assert({c["name"]} == {c["number"]}, "{c["name"]}");' for c in e["constants"]]
    for s in abi["structs"]:
        fields = [f for f in s["fields"] if f["kind"] != "union"]
        for f in fields:
            if f["kind"] != "callback":
                lines.append(f'  _Static_assert(_Generic(((({s["name"]}*)0)->{f["name"]}), {f["type"]}: 1, default: 0), '
                             f'"{s["name"]}.{f["name"]}");')
        if s["initialiser"]:
            lines.append(f'  {{ static const {s["name"]} made = {s["initialiser"]};')
            for f in fields:
                of = f'made.{f["name"]}'
                if f["type"].startswith("tdm_device") and f["kind"] == "struct":
                    value = f'(tdm_device){f["default"]}'
                    same = f'{of}.type == {value}.type && {of}.index == {value}.index'
                else:
                    same = f'{of} == ({f["default"]})'
                lines.append(f'    if (!({same})) {{ puts("{s["name"]}.{f["name"]}"); wrong = 1; }}')
            lines.append("  }")
    return "\n".join(lines + ["  return wrong;", "}", ""])


def main(path, include, compiler):
    with open(path, encoding="utf-8") as file:
        abi = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        source, made = (pathlib.Path(folder) / name for name in ("program.c", "program"))
        source.write_text(program(abi), encoding="utf-8")
        done = subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-I", include, str(source), "-o", str(made)],
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"abi.json is not what the compiler sees:\n{done.stderr}")
        ended = subprocess.run([str(made)], capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"defaults of abi.json that are not the header's:\n{ended.stdout}")
    print(f"{len(abi['functions'])} functions, {len(abi['structs'])} structs")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
