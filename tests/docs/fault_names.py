"""Checks that each test that docs/faults.md names is there, and that each fault has one: fault_names.py CHECKOUT"""
import pathlib
import re
import sys

NAMED = re.compile(r"`([\w/]+\.(?:cpp|py)):(\w+)\.(\w+)`")
ROW = re.compile(r"^\| (?!\*\*|what befalls|---)(.*?) \| (.*?) \| (.*) \|$", re.M)


def is_there(text, suite, test, language):
    if language == "cpp":
        return re.search(rf"\bTEST(_F|_P)?\({suite}, {test}\)", text)
    class_text = re.search(rf"^class {suite}\b.*?(?=^class |\Z)", text, re.M | re.S)
    return class_text and re.search(rf"^    def {test}\(self", class_text[0], re.M)


def main(root):
    root = pathlib.Path(root)
    page = (root / "docs/faults.md").read_text(encoding="utf-8")
    wrong = [f"no test is named for '{row[1]}'" for row in ROW.finditer(page) if not NAMED.search(row[3])]
    named = set(NAMED.findall(page))
    for file, suite, test in sorted(named):
        path = root / "tests" / file
        if not path.is_file():
            wrong.append(f"there is no tests/{file}")
        elif not is_there(path.read_text(encoding="utf-8"), suite, test, path.suffix[1:]):
            wrong.append(f"tests/{file} has no {suite}.{test}")
    # What is added to tests/fault is in the table.
    for path in sorted((root / "tests/fault").glob("*_test.py")):
        suite = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            suite = found[1] if (found := re.match(r"class (\w+)", line)) else suite
            if (found := re.match(r"    def (test_\w+)\(self", line)) and (f"fault/{path.name}", suite, found[1]) not in named:
                wrong.append(f"docs/faults.md does not name fault/{path.name}:{suite}.{found[1]}")
    print("\n".join(wrong) or f"{len(named)} tests are there")
    return 1 if wrong or len(named) < 40 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
