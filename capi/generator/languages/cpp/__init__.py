"""The header-only C++ facade over the C ABI. Its operators are made at build time."""
from languages.cpp import operators

TITLE = "C++"


def at_build(api):
    return operators.files(api.typed)


def operator_names(api):
    functions = operators.by_name(api.typed)
    return {b.op.key: operators.qualified(b, functions) for b in api.typed}
