"""libtandem's C: made at build time, from tandem.h alone.

forward.c   libtandem's exported functions, each of which loads the core and forwards to it
table.c     the core's table of {name, function}
exports.map a linker version script for libtandem
initial.c   the functions tdm_X_init(), of the macros TDM_X_INIT
"""
from languages.forwarding import absent, call, forwarded


def at_build(api):
    header = api.header
    return {"forward.c": forward(header), "table.c": table(header), "exports.map": exports(header),
            "initial.c": initial(header)}


def forward(header):
    functions = forwarded(header)
    lines = ["#define TDM_DEPRECATED(since, instead)", '#include "library/slots.h"', "",
             "const char* const tandem_slot_names[] = {"]
    lines += [f'    "{f.name}",' for f in functions]
    lines += ["};", f"const size_t tandem_slot_count = {len(functions)};",
              f"tandem_function tandem_slots[{len(functions)}];", ""]
    for i, f in enumerate(functions):
        lines.append(f"{f.result} {f.name}({f.text}) {{")
        if f.fallible:
            lines.append(f'  if (!tandem_is_ready()) {{ tdm_error* e = tandem_make_ready("{f.name}"); if (e) return e; }}')
            lines.append(f'  if (!tandem_slots[{i}]) return tandem_missing("{f.name}");')
        else:
            lines.append(f"  if (!tandem_slots[{i}]) {absent(f)};")
        lines += ["  " + call(f, f"tandem_slots[{i}]"), "}", ""]
    return "\n".join(lines)


def table(header):
    lines = ["#define TDM_API __attribute__((visibility(\"hidden\")))", "#define TDM_DEPRECATED(since, instead)",
             '#include "core/call/table.h"\n#include "tandem/tandem.h"', "", "const tandem_entry tandem_core_entries[] = {"]
    lines += [f'    {{"{f.name}", (tandem_function)&{f.name}}},' for f in forwarded(header)]
    lines += ["};",
              "const size_t tandem_core_entry_count = sizeof tandem_core_entries / sizeof *tandem_core_entries;", ""]
    return "\n".join(lines)


def initial(header):
    lines = ['#include "tandem/tandem.h"', "", "#include <string.h>", "",
             "/* As much of `whole` as the caller has room for, zeros behind it. */",
             "static void fill(void* made, size_t struct_size, const void* whole, size_t whole_size) {",
             "  if (!made || struct_size < sizeof(size_t) || struct_size % sizeof(size_t) != 0 || struct_size > 4096) return;",
             "  memset(made, 0, struct_size);",
             "  memcpy(made, whole, struct_size < whole_size ? struct_size : whole_size);",
             "  memcpy(made, &struct_size, sizeof struct_size);",
             "}", ""]
    for f in header.functions:
        if f.initialises:
            lines += [f"{f.result} {f.name}({f.text}) {{",
                      f"  static const {f.initialises} whole = TDM_{f.initialises[4:].upper()}_INIT;",
                      "  fill(made, struct_size, &whole, sizeof whole);", "}", ""]
    return "\n".join(lines)


def exports(header):
    return "{\n  global:\n" + "".join(f"    {f.name};\n" for f in header.functions) + "  local: *;\n};\n"
