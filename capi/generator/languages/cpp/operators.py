"""Writes the header-only C++ facade's operators: functions in tandem::abi::ops and its namespaces linalg, fft, special
and functional, a line through Call (tandem/abi/ops/call.hpp) each."""
import textwrap

from operators.naming import snake

NOTE = "// Written by capi/generator; do not edit.\n"
HEADERS = {"": "ops/tensor.hpp", "linalg": "ops/linalg.hpp", "fft": "ops/fft.hpp", "special": "ops/special.hpp",
           "functional": "ops/functional.hpp", "init": "ops/init.hpp", "utils": "ops/utils.hpp"}
TITLES = {
    "": "Operators: what torch and torch.Tensor have.",
    "linalg": "Linear algebra: torch.linalg.", "fft": "Discrete Fourier transforms: torch.fft.",
    "special": "Special functions: torch.special.",
    "functional": "Layers and losses as functions: torch.nn.functional.",
    "init": "Starting values of parameters: torch.nn.init.",
    "utils": "Gradients and sequences: torch.nn.utils.",
}
# schema type → (C++ type of a parameter, Call's method, of which type the option is optional).
TYPES = {
    "Tensor": ("const Tensor&", "tensor", None), "Tensor?": ("const Tensor&", "tensor", None),
    "Tensor[]": ("const TensorList&", "tensors", None), "Tensor?[]": ("const TensorList&", "tensors", None),
    "Generator?": ("const Generator&", "generator", None),
    "Scalar": ("const Scalar&", "scalar", "Scalar"), "int": ("int64_t", "integer", "int64_t"),
    "Scalar[]": ("const std::vector<Scalar>&", "scalars", None),
    "int[]": ("const std::vector<int64_t>&", "integers", "std::vector<int64_t>"),
    "float": ("double", "real", "double"),
    "float[]": ("const std::vector<double>&", "reals", "std::vector<double>"),
    "bool": ("bool", "flag", "bool"), "str": ("const std::string&", "string", "std::string"),
    "ScalarType": ("int32_t", "dtype", "int32_t"), "Layout": ("int32_t", "layout", "int32_t"),
    "MemoryFormat": ("int32_t", "memory_format", "int32_t"), "Device": ("const Device&", "device", "Device"),
}
TENSORS = {n: "std::tuple<" + ", ".join(["Tensor"] * n) + ">" for n in (2, 3, 4)}
RESULTS = {
    (): ("void", "done"), ("Tensor",): ("Tensor", "one"), ("Tensor",) * 2: (TENSORS[2], "two"),
    ("Tensor",) * 3: (TENSORS[3], "three"), ("Tensor",) * 4: (TENSORS[4], "four"),
    ("Tensor[]",): ("std::vector<Tensor>", "list"),
    ("Tensor", "Tensor[]"): ("std::tuple<Tensor, std::vector<Tensor>>", "one_and_list"),
    ("bool",): ("bool", "truth"), ("int",): ("int64_t", "number"), ("float",): ("double", "real_number"), ("ScalarType",): ("int32_t", "element_type"),
}


def by_name(bound):
    return {(b.home, b.name): b for b in bound}


def name(b, functions):
    """Of the function; `functions` are all by home and Go name, of which out= variants take it."""
    home = "" if b.home == "Tensor" else b.home
    if b.op.outputs:
        return snake(functions[(b.home, b.name.removesuffix("Out"))].op, home) + "_out"
    return snake(b.op, home)


def qualified(b, functions):
    """As the documentation names it: ops::linalg::norm."""
    return "ops::" + ("" if b.home in ("", "Tensor") else b.home + "::") + name(b, functions)


def kind(argument):
    """(type, whether None is a value of its own)"""
    return (argument.type, False) if argument.type in TYPES else (argument.type.removesuffix("?"), True)


def parameter(argument, is_option):
    base, may_be_none = kind(argument)
    plain, _, optional = TYPES[base]
    if is_option:
        return f"{plain} {argument.name} = {plain[6:-1]}()" if optional is None else \
            f"const std::optional<{optional}>& {argument.name} = {{}}"
    return f"const std::optional<{optional}>& {argument.name}" if may_be_none else f"{plain} {argument.name}"


def calls(b):
    given, chosen = {p.name: p for p in b.parameters}, {o.name for o in b.options}
    chain = []
    for i, a in enumerate(b.op.arguments):
        base, may_be_none = kind(given.get(a.name, a)) if a.name not in b.hidden else ("", False)
        method = TYPES[base][1] if base else ""
        if a.name in b.hidden:
            chain.append("unset()")
        elif a.name in chosen and TYPES[base][2]:
            chain.append(f"option({a.name}, &Call::{method})")
        elif a.name in given and may_be_none:
            chain.append(f"nullable({a.name}, &Call::{method})")
        else:
            chain.append(f"{method}({a.name})")
    while chain and chain[-1] == "unset()":
        chain.pop()
    return chain


def wrapped(first, parts, glue, indent):
    """Parts after `first`, on lines of at most 120 columns."""
    lines, line = [], first
    for i, part in enumerate(parts):
        text = part + (glue if i + 1 < len(parts) else "")
        if len(line) + len(text) > 116 and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += text
    return lines + [line]


def function(b, functions):
    result, ending = RESULTS[tuple(r.type for r in b.op.results)]
    parameters = [parameter(b.op.arguments[0], False)] if b.home == "Tensor" else []
    parameters += [parameter(p, False) for p in b.parameters] + [parameter(o, True) for o in b.options]
    schema = textwrap.wrap(b.op.text, 112, break_long_words=False, break_on_hyphens=False)
    lines = ["// " + ("    " if i else "") + line for i, line in enumerate(schema)]
    head = wrapped(f"inline {result} {name(b, functions)}(", parameters, ", ", " " * 4)
    head[-1] += ") {"
    chain = ["." + c for c in calls(b)] + [f".{ending}();"]
    body = wrapped("  " + ("" if result == "void" else "return ") + "Call(op)", chain, "", " " * 6)
    overload = f', "{b.op.overload}"' if b.op.overload else ""
    return "\n".join(lines + head + [f'  static const Operator op = Operator::find("{b.op.space}::{b.op.name}"{overload});'] +
                     body + ["}", ""])


def files(bound):
    functions = by_name(bound)
    groups = {}
    for b in bound:
        groups.setdefault("" if b.home == "Tensor" else b.home, []).append(b)
    written = {}
    for home, group in groups.items():
        names = {}
        for b in group:
            names.setdefault(name(b, functions), []).append(b.op.key)
        twice = {n: keys for n, keys in names.items() if len(keys) > 1}
        if twice:
            raise SystemExit(f"names that several operators would get in {HEADERS[home]}: {twice}")
        space = "tandem::abi::ops" + ("::" + home if home else "")
        parts = [function(b, functions) for b in sorted(group, key=lambda b: name(b, functions))]
        written[HEADERS[home]] = (
            f"{NOTE}// {TITLES[home]}\n#pragma once\n\n#include \"tandem/abi/ops/call.hpp\"\n\nnamespace {space} {{\n\n" +
            "\n".join(parts) + f"\n}}  // namespace {space}\n")
    return written
