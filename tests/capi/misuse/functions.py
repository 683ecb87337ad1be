"""Writes a table of every function of abi.json, with what each parameter is: functions.py ABI_JSON

The tests in this folder go through it, so that a function that is added is misused too. A kind of parameter that this
program does not know stops the build."""
import json
import sys


def shape(p):
    """(shape, handle or struct that it is about)"""
    kind, about, is_list = p["kind"], p.get("about", ""), p.get("list", False)
    if kind == "callback":
        return "kCallback", ""
    if kind == "string":
        return "kStringList" if is_list else "kString", ""
    if kind == "handle":
        if p["direction"] == "out":
            return "kHandleOut", about[4:]
        return "kHandleList" if is_list else "kHandle", about[4:]
    if kind == "struct":
        if "*" not in p["type"]:
            return "kDevice", ""
        if p["direction"] == "in":
            return "kStruct", about
        return "kStructOut", about
    if kind in ("memory", "opaque"):
        return "kMemoryList" if is_list else "kOut" if p["type"].count("*") == 2 else "kMemory", ""
    if kind in ("integer", "real"):
        if "*" not in p["type"]:
            return "kReal" if kind == "real" else "kCount" if about == "size_t" else "kInteger", ""
        return "kMemory" if p["direction"] == "in" else "kOut", ""
    sys.exit(f"tests/capi/misuse/functions.py does not know the kind of {p}; say there what it is")


def cast(type_, shape_, i):
    if shape_ in ("kInteger", "kCount"):
        return f"static_cast<{type_}>(a[{i}].integer)"
    if shape_ == "kReal":
        return f"a[{i}].real"
    if shape_ == "kDevice":
        return f"a[{i}].device"
    return f"reinterpret_cast<{type_}>(a[{i}].pointer)"


def main(path):
    with open(path, encoding="utf-8") as file:
        abi = json.load(file)
    structs = {s["name"]: s["sized"] for s in abi["structs"]}
    lines = ["// Written by functions.py from abi.json.", "const std::vector<Function>& functions() {",
             "  static const std::vector<Function> all = {"]
    word = {True: "true", False: "false"}
    for f in abi["functions"]:
        parameters, arguments = [], []
        for p in f["parameters"]:
            kind, about = shape(p)
            size = f"sizeof({about})" if kind in ("kStruct", "kStructOut") else "0"
            parameters.append(f'{{"{p["name"]}", Shape::{kind}, "{about}", {size}, {word[structs.get(about, False)]}, '
                              f'{word[p["nullable"]]}, {word[p.get("nullable_elements", False)]}}}')
            arguments.append(cast(p["type"], kind, len(arguments)))
        call = f"{f['name']}({', '.join(arguments)})"
        if f["fallible"]:
            body, result = f"return {call};", "true"
        elif f["result"].get("about") == "tdm_error":
            body, result = f"tdm_error_free({call}); return nullptr;", "false"
        elif f["result"]["type"] == "const char*":
            body, result = f"touch({call}); return nullptr;", "false"
        else:
            body, result = f"{call}; return nullptr;", "false"
        unused = "" if parameters else "[[maybe_unused]] "
        lines.append(f'      {{"{f["name"]}", {result}, {{{", ".join(parameters)}}},')
        lines.append(f"       []({unused}const Slot* a) -> tdm_error* {{ {body} }}}},")
    lines += ["  };", "  return all;", "}"]
    print("\n".join(lines))


main(sys.argv[1])
