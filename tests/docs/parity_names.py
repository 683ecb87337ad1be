"""Checks that docs/ddp-parity.md names tests that exist: parity_names.py CHECKOUT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/ddp-parity.md").read_text(encoding="utf-8")
sources = "\n".join(path.read_text(encoding="utf-8") for path in (root / "tests/cpp/ddp").glob("*_test.cpp"))
defined = {f"{suite}.{test}" for suite, test in re.findall(r"^TEST(?:_P|_F)?\((\w+),\s*(\w+)\)", sources, re.M)}
go = "\n".join(path.read_text(encoding="utf-8") for path in (root / "go/dist").glob("*_test.go"))
defined_in_go = set(re.findall(r"^func (Test\w+)\(", go, re.M))

missing = set()
named = 0
for row in page.splitlines():
    # The first column of a table has Python's names.
    for name in re.findall(r"`([^`\s]+)`", row.split("|", 2)[-1] if row.startswith("|") else row):
        if re.fullmatch(r"Test[A-Z]\w+", name):
            found = name in defined_in_go
        elif re.fullmatch(r"[A-Z]\w+\.[A-Z*][\w*]*(/[\w*]+)?", name):
            pattern = re.escape(name.split("/")[0]).replace(r"\*", ".*")
            found = any(re.fullmatch(pattern, test) for test in defined)
        elif re.fullmatch(r"(?:[A-Z][a-z0-9]+){4,}", name):  # a test of the suite named before it
            found = any(test.endswith("." + name) for test in defined)
        else:
            continue
        named += 1
        if not found:
            missing.add(name)
if missing or not named:
    sys.exit(f"docs/ddp-parity.md names tests that are not there: {', '.join(sorted(missing)) or 'it names none'}")
print(f"{named} names of tests are right")
