"""Reads sentences.txt: what operators compute, how their results are called, and the topics that files are named after."""
import dataclasses
import pathlib
import re

LINE = re.compile(r"^((?:tandem::)?[\w.]+)(?: -> ([\w, ]+))?(?:: (.+)| ([=~]) (\w+))$")


@dataclasses.dataclass(frozen=True)
class Sentence:
    topic: str
    text: str = ""      # what follows the name
    results: tuple = ()
    like: str = ""      # the operator whose text it is, of which this one is …
    relation: str = ""  # "=" another name, "~" a copy


def read():
    known, topic = {}, None
    for line in (pathlib.Path(__file__).parent / "sentences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            topic = line.strip("[]")
        elif line and not line.startswith("#"):
            key, results, text, relation, like = LINE.match(line).groups()
            if key in known:
                raise SystemExit(f"sentences.txt: {key} stands there twice")
            known[key] = Sentence(topic, text or "", tuple(results.split(", ")) if results else (), like or "", relation or "")
    return known


SENTENCES = read()


def find(op):
    """Of this overload, or of the operator. In place is the operator, unless it has a sentence of its own."""
    name = op.name.removesuffix("_") if op.in_place else op.name
    if op.space != "aten":
        if op.key not in SENTENCES:
            raise SystemExit(f"sentences.txt says nothing of {op.key}")
        return SENTENCES[op.key]
    for key in (op.key, op.name, f"{name}.{op.overload}", name):
        if key in SENTENCES:
            return SENTENCES[key]
    for key, sentence in SENTENCES.items():
        if key.split(".")[0].removesuffix("_") == name:
            return sentence
    raise SystemExit(f"sentences.txt says nothing of {op.key}")
