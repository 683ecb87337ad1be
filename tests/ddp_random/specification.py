"""Draws a model, DDP's options and a few steps from a seed, as JSON that Python's torch and Tandem's core both run.

A specification says which layers there are and when they are used, what each step does, and with which options. Values
of parameters and inputs are not in it: both sides compute them (`number` in python_ranks.py and ddp_random_ranks.cpp).

Not drawn, because Tandem differs from Python on purpose there, or Python fails (docs/ddp-parity.md says why):
- buffers that are broadcast with several forwards before one backward, with evaluation, or in a join;
- several forwards that use different parameters, with find_unused_parameters;
- evaluation in a join, several forwards in a join, skip_all_reduce_unused_params in a join;
- a parameter that is an output itself, with find_unused_parameters, or in a static graph when the loss leaves it out;
- gradients that stay from step to step in a join that searches unused parameters, where Python takes old answers;
- a static graph that accumulates before its first exchange; sparse gradients in a join; find_unused_parameters with a
  static graph in a join;
- a gradient that is missing in a join, where collectives no longer match and Gloo ends the process;
- sparse gradients that share memory with others', where Python's reducer divides both;
- mixed_precision, which Python has on accelerators only.
"""
import random
import sys

WIDTH = 4   # of what layers take and give
BATCH = 3
ROWS = 5    # of embeddings
COMPUTING = ("linear", "linear", "scale", "conv", "single", "complex", "linear")
TABLES = ("table", "bag")


class Draw:
    """Choices that stay the same with every version of Python: random() alone is promised to."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, n):
        return int(self.random() * n)

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def of(self, choices):
        return choices[self.below(len(choices))]

    def chance(self, p):
        return self.random() < p


def condition(draw, ranks, steps, forwards, by_rank):
    """When a layer is used: at these ranks, steps and forwards of a step, null being all."""
    when = {"ranks": None, "steps": None, "forwards": None, "parity": None}
    kinds = ["never", "steps", "from", "until", "once"]
    kinds += ["rank", "rank", "parity", "rank from"] if by_rank else []
    kinds += ["forward"] * 2 if forwards > 1 else []
    kind = draw.of(kinds)
    if kind == "never":
        when["steps"] = []
    elif kind == "steps":
        when["steps"] = [s for s in range(steps) if s % 2 == 0]
    elif kind in ("from", "rank from"):
        when["steps"] = list(range(draw.between(1, steps - 1), steps))
    elif kind == "until":
        when["steps"] = list(range(draw.between(1, steps - 1)))
    elif kind == "once":
        when["steps"] = [draw.below(steps)]
    elif kind == "forward":
        when["forwards"] = [draw.below(forwards)]
    elif kind == "parity":
        when["parity"] = draw.below(2)
    if kind in ("rank", "rank from"):
        when["ranks"] = [draw.below(ranks)]
    return when


def layers_of(draw, spec, forwards, control, buffers, by_rank):
    layers = [{"kind": "linear"}]
    for _ in range(draw.between(2, 5)):
        layers.append({"kind": draw.of(TABLES if draw.chance(0.2) else COMPUTING)})
    for layer in layers:
        if layer["kind"] == "linear":
            layer["bias"] = draw.chance(0.6)
        elif layer["kind"] == "conv":
            layer["channels_last"] = draw.chance(0.5)
        elif layer["kind"] in TABLES:
            layer["sparse"] = draw.chance(0.6) and not spec["join"]
    if buffers:
        for _ in range(draw.between(1, 2)):
            layers.insert(draw.between(1, len(layers)), {"kind": draw.of(("mean", "count"))})
    if draw.chance(0.25):  # a second layer with the parameters of one before
        like = draw.of([i for i, layer in enumerate(layers) if layer["kind"] == "linear"])
        layers.append({"kind": "linear", "bias": layers[like]["bias"], "shares": like})
    if draw.chance(0.15) and (spec["options"]["static_graph"] or not spec["options"]["find_unused_parameters"]):
        layers.append({"kind": "gives"})  # a parameter itself is an output
    if control:
        for _ in range(draw.between(1, 2)):
            place = draw.between(1, len(layers) - 1)
            layers[place]["when"] = condition(draw, spec["ranks"], spec["steps"], forwards, by_rank)
    if draw.chance(0.2):
        draw.of([layer for layer in layers[1:] if layer["kind"] not in ("mean", "count")])["frozen"] = True
    if draw.chance(0.01):
        for layer in layers:
            layer["frozen"] = True
    return layers


def options_of(draw, control, by_rank, joins):
    options = {"bucket_cap_mb": draw.of((None, 25, 1, 0.0002, 0.0001, 0.00002))}
    # Mostly what the model needs; else it is an error on both, or nothing comes of it.
    options["find_unused_parameters"] = draw.chance(0.9 if control else 0.3) or (control and joins)
    options["gradient_as_bucket_view"] = draw.chance(0.5)
    options["static_graph"] = draw.chance(0.2)
    if joins and options["static_graph"]:
        options["find_unused_parameters"] = False
    options["broadcast_buffers"] = draw.chance(0.7)
    options["init_sync"] = draw.chance(0.8)
    options["skip_all_reduce_unused_params"] = (options["find_unused_parameters"] and not by_rank and not joins and
                                                draw.chance(0.3))
    return options


def steps_of(draw, spec, several, syncs_buffers):
    accumulates, idles, evaluates = draw.chance(0.3), draw.chance(0.12), draw.chance(0.25)
    joins = spec["join"] is not None
    steps = []
    for i in range(spec["steps"]):
        may = accumulates and (i > 0 or not spec["options"]["static_graph"])
        step = {"accumulate": draw.between(1, 2) if may and draw.chance(0.5) else 0,
                "forwards": draw.between(1, 3) if several else 1, "before": "nothing"}
        if not joins and not syncs_buffers:
            if evaluates and draw.chance(0.4):
                step["before"] = "evaluate"
            elif idles and draw.chance(0.4):
                step["before"] = "idle"  # a forward that no backward follows
        steps.append(step)
    return steps


def draw_join(draw, spec):
    batches = [draw.between(1, spec["steps"]) for _ in range(spec["ranks"])]
    batches[draw.below(spec["ranks"])] = spec["steps"]
    return {"batches": batches, "divide_by_initial_world_size": draw.chance(0.5),
            "throw_on_early_termination": draw.chance(0.15)}


def wrongs_of(draw, spec):
    """What makes ranks different: an error on all."""
    wrong = draw.of(("shape", "count", "strides"))
    if wrong == "strides":
        spec["layers"].append({"kind": "conv", "channels_last": False})
    elif wrong == "shape":
        spec["layers"].append({"kind": "gives"})
    spec["differs"] = {"rank": spec["ranks"] - 1, "what": wrong}
    spec["options"]["init_sync"] = True


def specification(seed):
    draw = Draw(seed)
    spec = {"seed": seed, "ranks": draw.between(2, 3), "steps": draw.between(3, 6), "rate": 0.05}
    control, by_rank, several = draw.chance(0.6), draw.chance(0.5), draw.chance(0.25)
    spec["join"] = draw_join(draw, spec) if not several and draw.chance(0.15) else None
    spec["options"] = options_of(draw, control, by_rank and control, spec["join"] is not None)
    several = several and not (control and spec["options"]["find_unused_parameters"])
    buffers = draw.chance(0.4)
    syncs_buffers = buffers and spec["options"]["broadcast_buffers"]
    if syncs_buffers and (several or spec["join"]):
        buffers = syncs_buffers = False
    spec["layers"] = layers_of(draw, spec, 3 if several else 1, control, buffers, by_rank)
    layers = spec["layers"]
    spec["program"] = steps_of(draw, spec, several, syncs_buffers)
    spec["outputs"] = sorted({draw.below(len(layers)) for _ in range(draw.between(0, 2))})  # beside the last
    spec["loss_uses"] = draw.of(("all",) * 6 + ("last",))
    if spec["options"]["static_graph"] and any(layer["kind"] == "gives" for layer in layers):
        spec["loss_uses"] = "all"
    spec["penalty"] = 0 if draw.chance(0.06) else None  # a layer whose weight the loss uses, past DDP
    spec["initial_by_rank"] = draw.chance(0.4)
    spec["zero_grad"] = draw.of(("none", "none", "zeros", "never"))
    if spec["join"] and spec["options"]["find_unused_parameters"] and spec["zero_grad"] == "never":
        spec["zero_grad"] = "zeros"
    spec["events"] = []
    for i, layer in enumerate(layers):
        if layer.get("frozen") and draw.chance(0.2):
            spec["events"].append({"step": draw.between(1, spec["steps"] - 1), "layer": i, "requires_grad": True})
    if draw.chance(0.08) and not spec["join"]:
        spec["events"].append({"step": draw.between(1, spec["steps"] - 1), "layer": 0, "requires_grad": False})
    spec["ignores"] = []
    plain = [i for i, layer in enumerate(layers) if i and layer["kind"] in ("linear", "scale", "mean") and
             "shares" not in layer and all(other.get("shares") != i for other in layers)]
    if plain and draw.chance(0.12):
        i = draw.of(plain)
        spec["ignores"] = [f"layer{i}." + ("mean" if layers[i]["kind"] == "mean" else "weight")]
    dense = all(layer["kind"] not in ("complex",) and not layer.get("sparse") for layer in layers)
    accumulates = any(step["accumulate"] for step in spec["program"])
    spec["optimizer_in_backward"] = (draw.chance(0.15) and dense and not accumulates and not several and
                                     not spec["events"] and not spec["join"] and not spec["ignores"] and
                                     spec["zero_grad"] == "none" and
                                     all(step["before"] == "nothing" for step in spec["program"]))
    # Python's optimizer in backward is a hook.
    spec["hook"] = draw.of(("none",) * 5 + ("allreduce", "allreduce") + (("fp16",) if dense else ()))
    if spec["optimizer_in_backward"]:
        spec["hook"] = "none"
    spec["differs"] = None
    if draw.chance(0.05):
        wrongs_of(draw, spec)
    return spec


def features(spec):
    """What a specification exercises, by name, for counting."""
    layers, options = spec["layers"], spec["options"]
    found = {f"layer {layer['kind']}" for layer in layers} | {f"ranks {spec['ranks']}", f"zero {spec['zero_grad']}"}
    found |= {f"option {name}" for name, value in options.items() if value is True}
    found |= {f"no {name}" for name in ("broadcast_buffers", "init_sync") if not options[name]}
    found.add("small buckets" if (options["bucket_cap_mb"] or 25) < 0.1 else "one bucket")
    whens = [layer["when"] for layer in layers if "when" in layer]
    found |= {f"used by {key}" for when in whens for key in when if when[key] is not None and when[key] != []}
    found |= {"unused" for when in whens if when["steps"] == []}
    found |= {name for name in ("shares", "frozen", "sparse", "channels_last") for layer in layers if layer.get(name)}
    found |= {"accumulates" for step in spec["program"] if step["accumulate"]}
    found |= {"several forwards" for step in spec["program"] if step["forwards"] > 1}
    found |= {step["before"] for step in spec["program"]} - {"nothing"}
    found |= {"thaws" if event["requires_grad"] else "freezes" for event in spec["events"]}
    if spec["join"]:
        found |= {"join"} | {"join " + name for name, value in spec["join"].items() if value is True}
    found |= {f"hook {spec['hook']}"} if spec["hook"] != "none" else set()
    found |= {name for name in ("optimizer_in_backward", "initial_by_rank", "ignores") if spec[name]}
    found |= {"penalty"} if spec["penalty"] is not None else set()
    found |= {"differs " + spec["differs"]["what"]} if spec["differs"] else set()
    found |= {"loss of the last output"} if spec["loss_uses"] == "last" and spec["outputs"] else set()
    return found


if __name__ == "__main__":
    from collections import Counter
    low, high = int(sys.argv[1]), int(sys.argv[2])
    for name, count in sorted(Counter(f for s in range(low, high) for f in features(specification(s))).items()):
        print(f"{count:5} {name}")
