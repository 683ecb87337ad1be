"""Writes the test of values: cases, the C++ program's tables and the Go test's calls.

    cases.py CHECKOUT FOLDER

Into FOLDER: cases.txt (a case for each typed binding: "case KEY", then a line an argument), table_N.cpp (which unboxed
call is whose), facade_N.cpp (a call of every function of the C++ facade), and go/, a module with a call of every
binding.
"""
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent.parent / "capi/generator"))

from arguments import line
from languages.cpp import operators as cpp_layer
from languages.go import operators as go_layer
from operators import model
from operators.naming import field
from recipes import NO_CASE, SHAPES_ONLY, argument_of

TABLES = 4


def cases(bound):
    lines = []
    for b in bound:
        lines.append(f"case {b.op.key}")
        lines += [line(a.type, argument_of(b.op, i), f"{b.op.name.rstrip('_')} {a.name}")
                  for i, a in enumerate(b.op.arguments)]
    return "\n".join(lines) + "\n"


def table(bound):
    """A part of the C++ program's table; the headers of at::_ops are many and small."""
    headers = sorted({b.op.name for b in bound})
    includes = "\n".join(f"#include <ATen/ops/{re.sub('_$', '', h)}_ops.h>" for h in headers)
    rows = "\n".join(f'    {{"{b.op.key}", unboxed<at::_ops::{b.op.struct}>}},' for b in bound)
    return f"""#include "values/value.h"

{includes}

namespace values {{
namespace {{

const Entry entries[] = {{
{rows}
}};
const bool added = (add(entries, std::size(entries)), true);

}}  // namespace
}}  // namespace values
"""


CPP_GETTERS = {
    "generator": "generator", "tensor": "tensor", "tensors": "tensors", "scalar": "scalar", "scalars": "scalars", "integer": "integer",
    "integers": "integers", "real": "real", "reals": "reals", "flag": "flag", "string": "string", "dtype": "enumeration",
    "layout": "enumeration", "memory_format": "enumeration", "device": "device",
}


def cpp_argument(b, argument, is_option):
    i = [a.name for a in b.op.arguments].index(argument.name)
    base, may_be_none = cpp_layer.kind(argument)
    _, method, optional = cpp_layer.TYPES[base]
    getter = CPP_GETTERS[method]
    if optional and (is_option or may_be_none):
        return f"a.option({i}, &Given::{getter})"
    return f"a.{getter}({i})"


def facade(bound, functions):
    """A part of the facade program's table."""
    rows = []
    for b in bound:
        given = [cpp_argument(b, b.op.arguments[0], False)] if b.home == "Tensor" else []
        given += [cpp_argument(b, p, False) for p in b.parameters] + [cpp_argument(b, o, True) for o in b.options]
        call = f"{cpp_layer.qualified(b, functions)}({', '.join(given)})"
        body = f"return describe({call});" if b.op.results else f"{call}; return std::string();"
        rows.append(f'    {{"{b.op.key}", [](Given& a) {{ (void)a; {body} }}}},')
    return """#include "values/facade.h"

namespace values {
namespace {

const Binding bindings[] = {
""" + "\n".join(rows) + """
};
const bool added = (add(bindings, std::size(bindings)), true);

}  // namespace
}  // namespace values
"""


OUTSIDE = "values"  # a package that is none of those with bindings
GETTERS = {
    "Generator?": "generator", "Tensor": "tensor", "Tensor?": "tensor", "Tensor[]": "tensors", "Tensor?[]": "tensors", "Scalar": "scalar",
    "Scalar?": "scalar", "Scalar[]": "scalars", "int": "int", "int[]": "ints", "int[]?": "ints", "float": "float",
    "float[]": "floats", "float[]?": "floats", "bool": "bool", "str": "text", "str?": "text", "ScalarType": "dtype",
    "Device": "device", "MemoryFormat": "memoryFormat", "Layout": "layout",
}


def go_option(argument, i, go_type):
    if argument.type == "Tensor?":
        return f"a.optional({i})"
    if argument.type == "Generator?":
        return f"a.optGenerator({i})"
    getter = GETTERS[argument.type if argument.type in GETTERS else argument.type.rstrip("?")]
    if "Reduction" in go_type:
        return f"opt(a, {i}, reduction)"
    return f"{'opt' if 'Opt[' in go_type else 'plain'}(a, {i}, (*arguments).{getter})"


def go_call(b, bound):
    writer = go_layer.Writer(OUTSIDE, bound)
    index = {a.name: i for i, a in enumerate(b.op.arguments)}
    given = []
    signature = writer.parameters(b)
    for p in b.go_parameters:
        i = index[p.name]
        if go_layer.TYPES[p.type][0].startswith("@Opt"):
            given.append(go_option(p, i, go_layer.TYPES[p.type][0]))
        else:
            given.append(f"a.{GETTERS[p.type]}({i})")
    if "..." in signature and not b.options:
        given[-1] += "..."
    if b.options:
        fields = ", ".join(f"{field(o.name)}: {go_option(o, index[o.name], writer.option(b, o)[0])}" for o in b.options)
        given.append(f"{writer.options_type(b)}{{{fields}}}")
    target = "a.tensor(0)" if go_layer.is_method(b) else go_layer.package(b) or "gotorch"
    call = f"{target}.{b.go_name}({', '.join(given)})"
    results, _, _ = writer.results(b)
    if not results:
        return f"{call}\n\t\treturn nil"
    count = results.count(",") + 1
    if count == 1:
        return f"return []any{{{call}}}"
    names = ", ".join(f"r{i}" for i in range(count))
    return f"{names} := {call}\n\t\treturn []any{{{names}}}"


def go_bindings(bound):
    rows = [f'\t"{b.op.key}": func(a *arguments) []any {{\n\t\t{go_call(b, bound)}\n\t}},' for b in bound]
    reasons = [f'\t"{key}": {go_text(why)},' for key, why in sorted(NO_CASE.items())]
    shapes = [f'\t"{b.op.key}": true,' for b in bound if b.op.key in SHAPES_ONLY]
    return "\n".join(["package values", "", "import (", '\t"tandem.example/gotorch"', '\t"tandem.example/gotorch/fft"',
                      '\t"tandem.example/gotorch/linalg"', '\t"tandem.example/gotorch/nn/functional"',
                      '\t"tandem.example/gotorch/special"', '\t"tandem.example/gotorch/variants"', ")", "",
                      "func reduction(a *arguments, i int) functional.Reduction { return functional.Reduction(a.int(i)) }",
                      "", "var bindings = map[string]func(*arguments) []any{", *rows, "}", "",
                      "var reasons = map[string]string{", *reasons, "}", "",
                      "var shapesOnly = map[string]bool{", *shapes, "}", ""])


def go_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(checkout, folder):
    root, folder = pathlib.Path(checkout).resolve(), pathlib.Path(folder)
    bound, _ = model.build()
    unknown = NO_CASE.keys() - {b.op.key for b in bound}
    if unknown:
        sys.exit(f"reasons for operators that are not bound: {sorted(unknown)}")
    write(folder / "cases.txt", cases(bound))
    for part in range(TABLES):
        write(folder / f"table_{part}.cpp", table(bound[part::TABLES]))
        write(folder / f"facade_{part}.cpp", facade(bound[part::TABLES], cpp_layer.by_name(bound)))
    write(folder / "go/go.mod", "module tandem.example/gotorch/values\n\ngo 1.26\n\n"
          f"require tandem.example/gotorch v0.0.0\n\nreplace tandem.example/gotorch => {root / 'go'}\n")
    write(folder / "go/bindings.go", go_bindings(bound))
    for source in (HERE / "go").glob("*.go"):
        shutil.copyfile(source, folder / "go" / source.name)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
