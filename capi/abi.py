"""Reads tandem.h and writes what follows from it, so that a function of the C ABI is declared in one place.

    abi.py forward HEADER    C: libtandem's exported functions, each of which loads the core and forwards to it
    abi.py table HEADER      C: the core's table of {name, function}
    abi.py exports HEADER    linker version script for libtandem
    abi.py initial HEADER    C: the functions tdm_X_init(), of the macros TDM_X_INIT
    abi.py names HEADER      the exported names, a line each
    abi.py go HEADER DIR     the Go front end's copy of the header and its run-time forwarders, into DIR
    abi.py go-check HEADER DIR    fails when what stands in DIR is not what `go` would write
"""
import os
import re
import sys

# Implemented by the loader itself, because they must work before, or without, the core.
LOCAL = {
    "tdm_error_get_code", "tdm_error_operation", "tdm_error_message", "tdm_error_free",
    "tdm_error_create", "tdm_error_user_data",
    "tdm_load", "tdm_shutdown", "tdm_version", "tdm_libtorch_version",
}
# What a getter answers when no core is loaded, where zero would be a lie.
NOT_LOADED = {name: "(tdm_device){TDM_DEVICE_CPU, -1}" for name in ("tdm_tensor_get_device", "tdm_generator_get_device")}
NOT_LOADED["tdm_tensor_get_layout"] = "-1"


INITIALISER = re.compile(r"(tdm_\w+)_init$")


class Function:
    def __init__(self, result, name, parameters):
        self.result, self.name, self.parameters = result, name, parameters
        self.fallible = result == "tdm_error*"
        # The struct that it initialises, for which the loader needs no core.
        initialiser = INITIALISER.match(name)
        self.initialises = initialiser.group(1) if initialiser else None
        self.local = name in LOCAL or self.initialises is not None

    @property
    def arguments(self):
        names = []
        for parameter in split(self.parameters):
            if parameter == "void":
                continue
            callback = re.search(r"\(\*(\w+)\)", parameter)
            names.append(callback.group(1) if callback else re.search(r"(\w+)$", parameter).group(1))
        return ", ".join(names)


def split(parameters):
    depth, start = 0, 0
    for i, c in enumerate(parameters):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            yield parameters[start:i].strip()
            start = i + 1
    yield parameters[start:].strip()


def functions(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    found = []
    for match in re.finditer(r"^TDM_API\s+([^;]+);", text, flags=re.M):
        # Strings may have parentheses in them.
        declaration = " ".join(re.sub(r'\bTDM_DEPRECATED\(\s*(?:"[^"]*"[\s,]*)+\)', "", match.group(1)).split())
        parts = re.match(r"(.*?)\s*\b(tdm_\w+)\((.*)\)$", declaration)
        if not parts:
            sys.exit(f"{header}: cannot read the declaration: {declaration}")
        found.append(Function(parts.group(1).strip(), parts.group(2), parts.group(3)))
    return found


def forward(found):
    forwarded = [f for f in found if not f.local]
    lines = ["#define TDM_DEPRECATED(since, instead)", '#include "loader/slots.h"', ""]
    lines += [f"const char* const tandem_slot_names[] = {{"]
    lines += [f'    "{f.name}",' for f in forwarded]
    lines += ["};", f"const size_t tandem_slot_count = {len(forwarded)};",
              f"tandem_function tandem_slots[{len(forwarded)}];", ""]
    for i, f in enumerate(forwarded):
        cast = f"(({f.result} (*)({f.parameters}))tandem_slots[{i}])({f.arguments})"
        lines.append(f"{f.result} {f.name}({f.parameters}) {{")
        if f.fallible:
            lines.append(f'  if (!tandem_is_ready()) {{ tdm_error* e = tandem_make_ready("{f.name}"); if (e) return e; }}')
            lines.append(f'  if (!tandem_slots[{i}]) return tandem_missing("{f.name}");')
            lines.append(f"  return {cast};")
        else:
            nothing = "return" if f.result == "void" else f"return {NOT_LOADED.get(f.name, '0')}"
            lines.append(f"  if (!tandem_slots[{i}]) {nothing};")
            lines.append(f"  {'' if f.result == 'void' else 'return '}{cast};")
        lines += ["}", ""]
    return "\n".join(lines)


def table(found):
    lines = ["#define TDM_API __attribute__((visibility(\"hidden\")))", "#define TDM_DEPRECATED(since, instead)",
             '#include "core/table.h"\n#include "tandem/tandem.h"', "", "const tandem_entry tandem_core_entries[] = {"]
    lines += [f'    {{"{f.name}", (tandem_function)&{f.name}}},' for f in found if not f.local]
    lines += ["};",
              "const size_t tandem_core_entry_count = sizeof tandem_core_entries / sizeof *tandem_core_entries;", ""]
    return "\n".join(lines)


def initial(found):
    lines = ['#include "tandem/tandem.h"', "", "#include <string.h>", "",
             "/* As much of `whole` as the caller has room for, zeros behind it. */",
             "static void fill(void* made, size_t struct_size, const void* whole, size_t whole_size) {",
             "  if (!made || struct_size < sizeof(size_t) || struct_size % sizeof(size_t) != 0 || struct_size > 4096) return;",
             "  memset(made, 0, struct_size);",
             "  memcpy(made, whole, struct_size < whole_size ? struct_size : whole_size);",
             "  memcpy(made, &struct_size, sizeof struct_size);",
             "}", ""]
    for f in found:
        if f.initialises:
            lines += [f"{f.result} {f.name}({f.parameters}) {{",
                      f"  static const {f.initialises} whole = TDM_{f.initialises[4:].upper()}_INIT;",
                      "  fill(made, struct_size, &whole, sizeof whole);", "}", ""]
    return "\n".join(lines)


def exports(found):
    return "{\n  global:\n" + "".join(f"    {f.name};\n" for f in found) + "  local: *;\n};\n"


def names(found):
    return "".join(f"{f.name}\n" for f in found)


# The Go front end links no library: it carries the ABI's functions as hidden symbols of its own, which jump to what
# dlsym found. A fallible function that the library lacks answers an address inside tandem_go_missing, which tells
# which one it was.
def go_files(header):
    found = functions(header)
    note = "/* Written by capi/abi.py from tandem.h; do not edit. */\n"
    declarations = note + f"""#ifndef TANDEM_GO_FORWARD_H
#define TANDEM_GO_FORWARD_H

#define TDM_API __attribute__((visibility("hidden")))
#define TDM_DEPRECATED(since, instead)
#include "tandem.h"

#define TANDEM_GO_FUNCTION_COUNT {len(found)}

extern TDM_API const char* const tandem_go_names[TANDEM_GO_FUNCTION_COUNT];
extern TDM_API char tandem_go_missing[TANDEM_GO_FUNCTION_COUNT];

/* Finds every function in an opened libtandem; returns how many it lacks. Call once, before any other function. */
TDM_API int tandem_go_bind(void* library);

#endif
"""
    lines = [note + '#include "forward.h"', "", "#include <dlfcn.h>", "",
             "char tandem_go_missing[TANDEM_GO_FUNCTION_COUNT];",
             "static void (*slots[TANDEM_GO_FUNCTION_COUNT])(void);", "",
             "const char* const tandem_go_names[TANDEM_GO_FUNCTION_COUNT] = {"]
    lines += [f'    "{f.name}",' for f in found]
    lines += ["};", "",
              "int tandem_go_bind(void* library) {",
              "  int missing = 0;",
              "  for (int i = 0; i < TANDEM_GO_FUNCTION_COUNT; ++i) {",
              "    *(void**)&slots[i] = dlsym(library, tandem_go_names[i]);",
              "    missing += !slots[i];",
              "  }",
              "  return missing;",
              "}", ""]
    for i, f in enumerate(found):
        cast = f"(({f.result} (*)({f.parameters}))slots[{i}])({f.arguments})"
        if f.fallible:
            absent = f"return (tdm_error*)&tandem_go_missing[{i}]"
        elif f.result == "void":
            absent = "return"
        else:
            absent = f"return {NOT_LOADED.get(f.name, '0')}"
        lines += [f"{f.result} {f.name}({f.parameters}) {{",
                  f"  if (!slots[{i}]) {absent};",
                  f"  {'' if f.result == 'void' else 'return '}{cast};", "}", ""]
    with open(header, encoding="utf-8") as file:
        copy = file.read()
    return {"tandem.h": copy, "forward.h": declarations, "forward.c": "\n".join(lines)}


def go_main(check, header, folder):
    stale = []
    for name, text in go_files(header).items():
        path = os.path.join(folder, name)
        if check:
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    stale.append(path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    if stale:
        sys.exit(f"stale: {' '.join(stale)}; run capi/abi.py go {header} {folder}")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] in ("go", "go-check"):
        sys.exit(go_main(sys.argv[1] == "go-check", sys.argv[2], sys.argv[3]))
    if len(sys.argv) != 3 or sys.argv[1] not in ("forward", "table", "exports", "names", "initial"):
        sys.exit(__doc__)
    sys.stdout.write(globals()[sys.argv[1]](functions(sys.argv[2])))
