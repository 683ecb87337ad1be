"""The operators that front ends have typed methods for, on a LibTorch that may be another: typed_operators.py PROGRAM LIBTORCH

PROGRAM is frozen_program, built against the first release, LIBTORCH the version that it is to find. Each operator takes
the same arguments in the same places as in the release that the methods were generated from; it may take more, with
defaults. Those that this LibTorch lacks are the ones listed in absent-MINOR.txt, no others.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GENERATOR = HERE.parents[1] / "capi/generator"
BOUND = GENERATOR / "operators/bound.txt"
sys.path.insert(0, str(GENERATOR))
from operators import schema  # noqa: E402


def types(values):
    return [value.type for value in values]


def difference(typed, found):
    """What a call of the method `typed` would stumble over; "" for nothing."""
    count = len(typed.arguments)
    if types(found.arguments[:count]) != types(typed.arguments) or types(found.results) != types(typed.results):
        return "other types"
    if not all(argument.has_default for argument in found.arguments[count:]):
        return "a new argument without a default"
    return ""


def compare(printed, expected_absent, names, operators):
    absent = {line.split()[1] for line in printed if line.startswith("absent ")}
    found = {operator.key: operator for operator in (schema.operator("fm " + line) for line in printed
                                                     if not line.startswith("absent "))}
    for name in names:
        if name not in absent and name not in found:
            yield f"{name}: the program did not look it up"
        elif name in found and (why := difference(operators[name], found[name])):
            yield f"{name}: {why}: {operators[name].text} is {found[name].text}"
    for name in sorted(absent ^ expected_absent):
        yield f"{name}: {'absent' if name in absent else 'there'}, other than listed"


def main(program, libtorch):
    names = BOUND.read_text(encoding="utf-8").split()
    operators = {operator.key: operator for operator in schema.operators()}
    listed = HERE / f"absent-{libtorch.rsplit('.', 1)[0]}.txt"
    expected = set(listed.read_text(encoding="utf-8").split()) if listed.exists() else set()
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run([program, folder, libtorch, str(BOUND)], capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"{program} ended with {ended.returncode}:\n{ended.stderr}")
    problems = list(compare(ended.stdout.splitlines(), expected, names, operators))
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(names) - len(expected)} of {len(names)} typed operators are in LibTorch {libtorch}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
