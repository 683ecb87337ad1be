"""Reads schemas.txt, own.txt and python.txt."""
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).parent
ALIAS = re.compile(r"\((\w)(!?)(?: -> [\w*|]+)?\)")
LINE = re.compile(r"^([f-])([m-]) (aten|tandem)::(\w+?)(?:\.(\w+))?\((.*)\) -> (.*)$")


@dataclasses.dataclass(frozen=True)
class Value:
    """An argument or a result. `type` is without aliasing and sizes: "Tensor?[]", "int[]?", "Scalar"."""
    type: str
    name: str
    written: bool = False  # the operator writes to this tensor
    has_default: bool = False
    keyword: bool = False
    default: str = ""  # as the schema writes it


@dataclasses.dataclass(frozen=True)
class Operator:
    name: str
    overload: str
    arguments: tuple
    results: tuple
    function: bool
    method: bool
    text: str  # the schema, without "aten::"
    space: str = "aten"  # or "tandem": what Python composes, and the core registers

    @property
    def key(self):
        space = "" if self.space == "aten" else self.space + "::"
        return f"{space}{self.name}.{self.overload}" if self.overload else space + self.name

    @property
    def outputs(self):
        """The tensors to write to of an out= variant."""
        return tuple(a for a in self.arguments if a.written and a.keyword)

    @property
    def in_place(self):
        """Whether it is another operator in place; those of namespace tandem that overwrite have no other form."""
        return self.space == "aten" and self.name.endswith("_") and not self.name.endswith("__")

    @property
    def struct(self):
        """The name of its struct in at::_ops."""
        return self.name + ("_" + self.overload if self.overload else "")


def split(text):
    """Splits at the commas outside of brackets and quotes."""
    parts, depth, quoted, part = [], 0, False, ""
    for c in text:
        quoted ^= c == '"'
        if not quoted:
            depth += (c in "([") - (c in ")]")
        if c == "," and not depth and not quoted:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()] if part.strip() else parts


def plain(type_text):
    """Dimensions are SymInt where LibTorch's compiler may leave them open; callers give int."""
    type_text = re.sub(r"\[\d+\]", "[]", ALIAS.sub("", type_text))
    return type_text.replace("SymInt", "int")


def value(text, keyword):
    text, _, default = text.partition("=")
    type_text, _, name = text.rpartition(" ")
    if not type_text:
        type_text, name = name, ""
    return Value(plain(type_text), name, any(m.group(2) for m in ALIAS.finditer(type_text)), bool(default), keyword, default)


def operator(line):
    """From a line of schemas.txt."""
    function, method, space, name, overload, arguments, results = LINE.match(line).groups()
    keyword, values = False, []
    for text in split(arguments):
        if text == "*":
            keyword = True
        else:
            values.append(value(text, keyword))
    if results.startswith("(") and not ALIAS.fullmatch(results):
        results = results[1:-1]
    return Operator(name, overload or "", tuple(values), tuple(value(r, False) for r in split(results)), function == "f",
                    method == "m", line[3:].removeprefix("aten::"), space)


def operators():
    """All operators of the dispatcher, in the file's order."""
    return [operator(line) for line in (HERE / "schemas.txt").read_text(encoding="utf-8").splitlines()]


def own_operators():
    """Those of namespace tandem, in the file's order."""
    return [operator("f- " + line) for line in (HERE / "own.txt").read_text(encoding="utf-8").splitlines()]


def python_names():
    """Namespace → the names that Python's torch offers there."""
    sections = re.split(r"^\[(\w+)\]$", (HERE / "python.txt").read_text(encoding="utf-8"), flags=re.M)
    return {space: set(names.split()) for space, names in zip(sections[1::2], sections[2::2])}
