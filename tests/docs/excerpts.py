"""Checks that the code in the documentation is code that runs: a block after `<!-- from FILE -->` stands in FILE.

    excerpts.py CHECKOUT PAGE...
"""
import pathlib
import re
import sys
import textwrap

EXCERPT = re.compile(r"<!-- from (\S+) -->\n```\w+\n(.*?)```", re.S)


def squeezed(text):
    return re.sub(r"\s+", " ", textwrap.dedent(text)).strip()


root = pathlib.Path(sys.argv[1])
found = 0
for page in sys.argv[2:]:
    for name, block in EXCERPT.findall((root / page).read_text(encoding="utf-8")):
        found += 1
        if squeezed(block) not in squeezed((root / name).read_text(encoding="utf-8")):
            sys.exit(f"{page} shows code that is not in {name}:\n{block}")
if not found:
    sys.exit("no page has an excerpt: are the `<!-- from FILE -->` lines gone?")
print(f"{found} excerpts are what the files say")
