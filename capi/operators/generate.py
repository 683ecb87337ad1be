"""Writes what follows from schemas.txt: the typed layers of Go and of the C++ facade, the table in docs/, frozen names.

    generate.py write CHECKOUT
    generate.py check CHECKOUT    fails when what stands there is not what `write` would write

A name that stands in names.txt stays: a change that would give an operator another one is an error.
"""
import pathlib
import sys

import cpp_layer
import docs
import go_layer
import model

FROZEN = "capi/operators/names.txt"


def names(bound):
    functions = cpp_layer.by_name(bound)
    return "".join(f"{b.op.key} {b.go} {cpp_layer.qualified(b, functions)}\n" for b in bound)


def check_frozen(root, bound):
    path = root / FROZEN
    frozen = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    now = {line.split()[0]: line for line in names(bound).splitlines()}
    changed = [f"{line}, would be {now.get(line.split()[0], 'left out')}" for line in frozen
               if now.get(line.split()[0]) != line]
    if changed:
        sys.exit(f"names of operators are frozen in {FROZEN}:\n" + "\n".join(changed))
    twice = {}
    for b in bound:
        twice.setdefault(b.go, []).append(b.op.key)
    twice = [f"{name}: {', '.join(keys)}" for name, keys in twice.items() if len(keys) > 1]
    if twice:
        sys.exit("names that several operators would get; give them others in naming.py:\n" + "\n".join(twice))


def written(root):
    bound, left_out = model.build()
    check_frozen(root, bound)
    files = {f"go/{path}": text for path, text in go_layer.files(bound).items()}
    files.update(cpp_layer.files(bound))
    files["docs/operators.md"] = docs.page(bound, left_out)
    files[FROZEN] = names(bound)
    return files


def left_over(root, files):
    """Generated files that nothing generates any more."""
    for path in sorted((root / "go").rglob("*.go")):
        name = path.relative_to(root).as_posix()
        if name not in files and path.read_text(encoding="utf-8").startswith(go_layer.NOTE):
            yield name


def main(command, checkout):
    root = pathlib.Path(checkout)
    files = written(root)
    if command == "write":
        for name in left_over(root, files):
            (root / name).unlink()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return
    stale = list(left_over(root, files))
    for name, text in files.items():
        path = root / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.exit(f"stale: {' '.join(stale)}; run capi/operators/generate.py write {checkout}")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
