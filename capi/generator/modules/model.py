"""Modules by name, as the registry describes them: modules.json, which list.cpp writes, with the words of sentences.txt."""
import dataclasses
import json
import pathlib
import re

from modules.networks import FAMILIES, NETWORKS

HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Option:
    """`type` is that of OptionDescription (tandem/option.h)."""
    name: str
    type: str
    required: bool
    default: object
    choices: tuple

    @property
    def may_be_none(self):
        return self.type.endswith("?")

    @property
    def base(self):
        return self.type.removesuffix("?")

    @property
    def dimensions(self):
        """Of one number for each, or one for all; None for other types."""
        found = re.search(r"\[(\d+)\]$", self.base)
        return int(found[1]) if found else None


@dataclasses.dataclass(frozen=True)
class Argument:
    name: str
    type: object  # "tensor", "bool", "int[]", or a list: a tuple
    required: bool


@dataclasses.dataclass(frozen=True)
class Module:
    type: str
    topic: str
    text: str  # what follows the name
    options: tuple
    arguments: tuple
    results: tuple
    tensors: tuple  # parameters and buffers of fixed names

    @property
    def required(self):
        return [o for o in self.options if o.required]

    @property
    def optional(self):
        return [o for o in self.options if not o.required]

    @property
    def is_layer(self):
        """One tensor is enough, and gives one."""
        return [a.type for a in self.arguments if a.required] == ["tensor"] and self.results == ("tensor",)


@dataclasses.dataclass(frozen=True)
class Net(Module):
    """A network: `type` is the registry's name, `name` that in words, `package` where languages have it."""
    name: str
    family: str
    kind: str
    package: str
    source: str


def sentences():
    told, topic = {}, None
    for line in (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            topic = line.strip("[]")
        elif line.startswith("+"):
            last = next(reversed(told))
            told[last] = (told[last][0], told[last][1] + line[1:])
        elif line and not line.startswith("#"):
            name, text = line.split(": ", 1)
            told[name] = (topic, text)
    return told


def left_out():
    """type → why"""
    lines = (HERE / "left_out.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


def python_options():
    """type → {option: [default], or [] where there is none}"""
    lines = (HERE / "python.txt").read_text(encoding="utf-8").splitlines()[1:]
    return {name: json.loads(options) for name, options in (line.split(" ", 1) for line in lines)}


def fixed(names):
    """Without those of parts, and those that are counted."""
    return tuple(n for n in names if "." not in n and not re.search(r"\d", n))


def described():
    return json.loads((HERE / "modules.json").read_text(encoding="utf-8"))


def parts(d):
    """Options, arguments, results and tensors."""
    return (tuple(Option(o["name"], o["type"], o["required"], o.get("default"), tuple(o.get("choices", ())))
                  for o in d["options"]),
            tuple(Argument(a["name"], a["type"], a["required"]) for a in d["arguments"]),
            tuple(tuple(r) if isinstance(r, list) else r for r in d["results"]), fixed(d["parameters"] + d["buffers"]))


def is_network(d):
    """torch.nn's modules are named as classes are, networks as functions."""
    return d["type"][0].islower()


def networks():
    found = [d for d in described() if is_network(d)]
    if {d["type"] for d in found} != set(NETWORKS):
        raise SystemExit(f"modules/networks.py: differs from the registry by {sorted({d['type'] for d in found} ^ set(NETWORKS))}")
    made = []
    for d in found:
        network = NETWORKS[d["type"]]
        family = FAMILIES[network.family]
        made.append(Net(d["type"], family.package, family.text, *parts(d), network.name, network.family, network.kind,
                        family.package, family.source.format(d["type"])))
    return made


def build():
    told = sentences()
    classes = [d for d in described() if not is_network(d)]
    types = {d["type"] for d in classes}
    untold, unknown = sorted(types - set(told)), sorted(set(told) - types)
    if untold or unknown:
        raise SystemExit(f"modules/sentences.txt: nothing of {untold}, and of unknown {unknown}")
    return [Module(d["type"], *told[d["type"]], *parts(d)) for d in classes]
