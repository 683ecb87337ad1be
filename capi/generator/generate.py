"""Writes what follows from tandem.h and from the operators' schemas, for every language (languages/, a folder each) and for
docs/ (pages/).

    generate.py write CHECKOUT           what stands in the checkout
    generate.py check CHECKOUT           fails when what stands there is not what `write` would write
    generate.py build LANGUAGE FOLDER    what LANGUAGE's build makes, into FOLDER
    generate.py abi FOLDER               abi.json

Another header than the checkout's: --header HEADER, before all else.
"""
import pathlib
import sys

import pages
from abi import document
from api import HEADER, HERE, Api, all_languages, language


def frozen_names(where, names):
    """An operator's name in a language stays."""
    path = HERE / "languages" / where / "operators.txt"
    frozen = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    changed = [f"{line}, would be {names.get(line.split()[0], 'left out')}" for line in frozen
               if names.get(line.split()[0]) != line.split()[1]]
    if changed:
        sys.exit(f"names of operators are frozen in {path.relative_to(HERE.parents[1])}:\n" + "\n".join(changed))
    keys = {}
    for key, name in names.items():
        keys.setdefault(name, []).append(key)
    twice = [f"{name}: {', '.join(of)}" for name, of in keys.items() if len(of) > 1]
    if twice:
        sys.exit(f"names that several operators would get in {where}; give them others:\n" + "\n".join(twice))
    return {path: "".join(f"{key} {name}\n" for key, name in names.items())}


def written(root, api):
    here = pathlib.Path(root) / HERE.relative_to(HERE.parents[1])
    files = {here / "operators/bound.txt": "".join(f"{b.op.key}\n" for b in api.bound)}
    for name, module in all_languages().items():
        if hasattr(module, "operator_names"):
            for path, text in frozen_names(name, module.operator_names(api)).items():
                files[here / path.relative_to(HERE)] = text
        if hasattr(module, "in_checkout"):
            files |= {root / path: text for path, text in module.in_checkout(api).items()}
    return files | {root / path: text for path, text in pages.in_checkout(api).items()}


def left_over(root, files):
    """Generated files that nothing generates any more."""
    for module in all_languages().values():
        for folder, note in getattr(module, "NOTES", []):
            for path in sorted((root / folder).rglob("*")):
                if path.is_file() and path not in files and path.read_bytes().startswith(note.encode()):
                    yield path


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(arguments):
    api = Api(arguments[1] if arguments[:1] == ["--header"] else HEADER)
    arguments = arguments[2:] if arguments[:1] == ["--header"] else arguments
    if len(arguments) == 3 and arguments[0] == "build":
        for name, text in language(arguments[1]).at_build(api).items():
            put(pathlib.Path(arguments[2]) / name, text)
    elif len(arguments) == 2 and arguments[0] == "abi":
        put(pathlib.Path(arguments[1]) / "abi.json", document.text(api.header))
    elif len(arguments) == 2 and arguments[0] in ("write", "check"):
        root = pathlib.Path(arguments[1]).resolve()
        files = written(root, api)
        gone = list(left_over(root, files))
        if arguments[0] == "write":
            for path in gone:
                path.unlink()
            for path, text in files.items():
                if not path.exists() or path.read_text(encoding="utf-8") != text:  # others need not be built again
                    put(path, text)
            return
        stale = gone + [p for p, text in files.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
        if stale:
            sys.exit(f"stale: {' '.join(str(p.relative_to(root)) for p in stale)}; run capi/generator/generate.py write .")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
