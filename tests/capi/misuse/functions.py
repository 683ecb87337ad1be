"""Writes a table of every function of tandem.h, with what each parameter is: functions.py ABI_DIR HEADER

The tests in this folder go through it, so that a function that is added is misused too. A type that this program does
not know stops the build."""
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import abi  # noqa: E402


def types(text):
    """Opaque handles, structs with whether they begin with struct_size, and names of integers."""
    opaque = set(re.findall(r"^typedef struct (tdm_\w+) \1;", text, flags=re.M))
    structs = {name: "size_t struct_size;" in body
               for body, name in re.findall(r"^typedef struct \w+ \{(.*?)^\} (tdm_\w+);", text, flags=re.M | re.S)}
    integers = set(re.findall(r"^typedef int32_t (tdm_\w+);", text, flags=re.M))
    return opaque, structs, integers | {"int32_t", "int64_t", "uint16_t", "uint64_t", "size_t"}


def shape(type_, known):
    """(shape, handle or struct that it is about)"""
    opaque, structs, integers = known
    if "(*" in type_:
        return "kCallback", ""
    pointee = re.sub(r"\bconst\b", "", type_).replace(" ", "")
    if pointee == "char*":
        return "kString", ""
    if pointee == "char**":
        return "kStringList", ""
    if pointee in integers:
        return ("kCount" if pointee == "size_t" else "kInteger"), ""
    if pointee == "double":
        return "kReal", ""
    if pointee == "tdm_device":
        return "kDevice", ""
    name = pointee.rstrip("*")
    stars = len(pointee) - len(name)
    if name in opaque and stars == 1:
        return "kHandle", name[4:]
    if name in opaque and stars == 2:
        return ("kHandleList" if "* const*" in type_ else "kHandleOut"), name[4:]
    if name in structs and stars == 1:
        read = type_.startswith("const")
        return ("kStruct" if read else "kStructOut"), name
    if pointee == "void**" and "* const*" in type_:
        return "kMemoryList", ""
    if name in integers | {"double", "void"} and stars >= 1:
        return ("kMemory" if type_.startswith("const") and stars == 1 or name == "void" and stars == 1 else "kOut"), ""
    sys.exit(f"tests/capi/misuse/functions.py does not know the type '{type_}'; say there what it is")


def cast(type_, shape_, i):
    if shape_ in ("kInteger", "kCount"):
        return f"static_cast<{type_}>(a[{i}].integer)"
    if shape_ == "kReal":
        return f"a[{i}].real"
    if shape_ == "kDevice":
        return f"a[{i}].device"
    if shape_ == "kCallback":
        return f"reinterpret_cast<{re.sub('[(][*]' + chr(92) + 'w+[)]', '(*)', type_)}>(a[{i}].pointer)"
    return f"reinterpret_cast<{type_}>(a[{i}].pointer)"


def main(header):
    text = re.sub(r"/\*.*?\*/", "", open(header, encoding="utf-8").read(), flags=re.S)
    known = types(text)
    lines = ["// Written by functions.py from tandem.h.", "const std::vector<Function>& functions() {",
             "  static const std::vector<Function> all = {"]
    for f in abi.functions(header):
        parameters, arguments = [], []
        for parameter in abi.split(f.parameters):
            if parameter == "void":
                continue
            name = (re.search(r"\(\*(\w+)\)", parameter) or re.search(r"(\w+)$", parameter)).group(1)
            type_ = parameter if "(*" in parameter else parameter[:-len(name)].strip()
            kind, about = shape(type_, known)
            size = f"sizeof({about})" if kind in ("kStruct", "kStructOut") else "0"
            sized = "true" if known[1].get(about) else "false"
            parameters.append(f'{{"{name}", Shape::{kind}, "{about}", {size}, {sized}}}')
            arguments.append(cast(type_, kind, len(arguments)))
        call = f"{f.name}({', '.join(arguments)})"
        if f.fallible and f.name != "tdm_error_create":
            body, result = f"return {call};", "true"
        elif f.name == "tdm_error_create":
            body, result = f"tdm_error_free({call}); return nullptr;", "false"
        elif f.result == "const char*":
            body, result = f"touch({call}); return nullptr;", "false"
        else:
            body, result = f"{call}; return nullptr;", "false"
        unused = "" if parameters else "[[maybe_unused]] "
        lines.append(f'      {{"{f.name}", {result}, {{{", ".join(parameters)}}},')
        lines.append(f"       []({unused}const Slot* a) -> tdm_error* {{ {body} }}}},")
    lines += ["  };", "  return all;", "}"]
    print("\n".join(lines))


main(sys.argv[2])
