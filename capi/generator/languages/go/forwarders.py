"""The Go front end links no library: it carries the ABI's functions as hidden symbols of its own, which jump to what
dlsym found. A fallible function that the library lacks answers an address inside tandem_go_missing, which tells which
one it was."""
from languages.forwarding import absent, call

NOTE = "/* Written by capi/generator from tandem.h; do not edit. */\n"


def files(header):
    count = len(header.functions)
    declarations = NOTE + f"""#ifndef TANDEM_GO_FORWARD_H
#define TANDEM_GO_FORWARD_H

#define TDM_API __attribute__((visibility("hidden")))
#define TDM_DEPRECATED(since, instead)
#include "tandem.h"

#define TANDEM_GO_FUNCTION_COUNT {count}

extern TDM_API const char* const tandem_go_names[TANDEM_GO_FUNCTION_COUNT];
extern TDM_API char tandem_go_missing[TANDEM_GO_FUNCTION_COUNT];

/* Finds every function in an opened libtandem; returns how many it lacks. Call once, before any other function. */
TDM_API int tandem_go_bind(void* library);

#endif
"""
    lines = [NOTE + '#include "forward.h"', "", "#include <dlfcn.h>", "",
             "char tandem_go_missing[TANDEM_GO_FUNCTION_COUNT];",
             "static void (*slots[TANDEM_GO_FUNCTION_COUNT])(void);", "",
             "const char* const tandem_go_names[TANDEM_GO_FUNCTION_COUNT] = {"]
    lines += [f'    "{f.name}",' for f in header.functions]
    lines += ["};", "",
              "int tandem_go_bind(void* library) {",
              "  int missing = 0;",
              "  for (int i = 0; i < TANDEM_GO_FUNCTION_COUNT; ++i) {",
              "    *(void**)&slots[i] = dlsym(library, tandem_go_names[i]);",
              "    missing += !slots[i];",
              "  }",
              "  return missing;",
              "}", ""]
    for i, f in enumerate(header.functions):
        without = f"return (tdm_error*)&tandem_go_missing[{i}]" if f.fallible else absent(f)
        lines += [f"{f.result} {f.name}({f.text}) {{", f"  if (!slots[{i}]) {without};", "  " + call(f, f"slots[{i}]"),
                  "}", ""]
    return {"tandem.h": header.source, "forward.h": declarations, "forward.c": "\n".join(lines)}
