"""What each language's typed layer is written from: operators with their home, name, parameters and options."""
import dataclasses
import re

from operators import naming
from operators import schema
from operators import selection
from operators import sentences

# Arguments that have a default but read better as parameters.
POSITIONAL = {
    "arange.start_step": {"step"}, "cat": {"dim"}, "stack": {"dim"}, "concat": {"dim"}, "concatenate": {"dim"},
    "flatten.using_ints": {"start_dim", "end_dim"}, "slice.Tensor": {"dim", "start", "end"},
    "argmax": {"dim"}, "argmin": {"dim"}, "split.Tensor": {"dim"}, "split.sizes": {"dim"}, "chunk": {"dim"},
    "split_with_sizes": {"dim"}, "unbind.int": {"dim"}, "dropout": {"p", "train"}, "round.decimals": {"decimals"},
    "range.step": {"step"}, "tandem::init_uniform_": {"a", "b"}, "tandem::init_normal_": {"mean", "std"},
    "tandem::init_trunc_normal_": {"mean", "std"}, "tandem::init_dirac_": {"groups"},
    "tandem::dropout1d": {"p", "training"}, "tandem::dropout2d": {"p", "training"}, "tandem::dropout3d": {"p", "training"},
}
# Parameters in the order of the Python function, which is not the operator's.
ORDER = {"embedding": ("indices", "weight"), "embedding_bag": ("indices", "weight", "offsets"),
         "embedding_bag.padding_idx": ("indices", "weight", "offsets")}
# Arguments that no caller needs.
HIDDEN = {"expand": {"implicit"}, "expand_copy": {"implicit"}}
TENSOR_OPTIONS = ["dtype", "layout", "device", "pin_memory"]
NAMESPACES = ("linalg", "fft", "special")
# Of the operators of namespace tandem; the others are torch.nn.functional's.
OWN_NAMESPACES = ("init", "utils")
# Functions of torch.nn.functional over operators of other names.
FUNCTIONAL = set(selection.BEHIND) - {"slice", "mT", "mH"}


@dataclasses.dataclass(frozen=True)
class Bound:
    op: schema.Operator
    home: str         # "Tensor" for a method, else a namespace: "", "linalg", "fft", "special", "functional", "init", "utils"
    name: str
    parameters: tuple  # of Value: what every call gives, without the method's tensor
    options: tuple     # of Value: what has a default
    options_name: str
    hidden: frozenset  # names of arguments that get their default

    @property
    def variant(self):
        """Whether it writes its results into given tensors, or copies where its operator gives a view."""
        return bool(self.op.outputs) or sentences.find(self.op).topic == "copies"

    @property
    def go_name(self):
        """Go's variants of all homes are one package, where the namespace is a part of the name."""
        return naming.words(self.home) + self.name if self.variant and self.home in NAMESPACES else self.name

    @property
    def go(self):
        """As the documentation names it: Tensor.Add, linalg.Norm, Zeros, variants.AddOut."""
        home = "variants" if self.variant else self.home
        return f"{home}.{self.go_name}" if home else self.go_name

    @property
    def go_parameters(self):
        """A method's tensor is a parameter of its variants."""
        return self.op.arguments[:self.variant and self.home == "Tensor"] + self.parameters


def home(op, functional):
    for namespace in NAMESPACES:
        if op.name.startswith(namespace + "_"):
            return namespace
    if op.method and op.arguments[0].type == "Tensor" and op.arguments[0].name == "self":
        return "Tensor"
    base = op.name.removesuffix("_")
    return "functional" if base in functional or op.name in FUNCTIONAL or base in FUNCTIONAL else ""


def is_forced(op, argument):
    key = op.key.replace("_.", ".").removesuffix("_") if op.in_place else op.key
    return argument.has_default and argument.name in POSITIONAL.get(key, ())


def as_parameter(op, argument):
    """None is what leaving an option out means: a parameter in its place has a value."""
    return dataclasses.replace(argument, type=argument.type.rstrip("?")) if is_forced(op, argument) else argument


def is_parameter(op, argument):
    if not argument.has_default or is_forced(op, argument):
        return True
    # Layers: F.Linear(x, weight, bias).
    layer = any(a.name == "bias" and a.type == "Tensor?" for a in op.arguments)
    return layer and argument.type == "Tensor?" and argument.name in ("weight", "bias")


def signature(arguments):
    return tuple((a.name, a.type) for a in arguments if not a.keyword or not a.written)


def without_factory(arguments):
    return tuple(a for a in arguments if a[0] not in TENSOR_OPTIONS and a[0] != "memory_format")


def functional_of(out, candidates):
    """The overload that computes what this out= variant does."""
    for exact in (True, False):
        for op in candidates:
            have, want = signature(op.arguments), signature(out.arguments)
            if not exact:
                have, want = without_factory(have), without_factory(want)
            if have == want:
                return op
    return None


def build():
    """([Bound], [(operator, why not)]), sorted by schema."""
    chosen, left_out = selection.select()
    functional = schema.python_names()["functional"]
    plain, by_name = {}, {}
    for op in chosen:
        if not op.outputs:
            plain[op.key] = op
            by_name.setdefault(op.name, []).append(op)
    bound = []
    for op in chosen:
        of = op
        if op.outputs:
            of = functional_of(op, by_name.get(op.name, ()))
            if of is None:
                left_out.append((op, "writes into a given tensor, and has no overload that gives a new one"))
                continue
        where = home(of, functional)
        name = naming.name(of, where) + ("Out" if op.outputs else "")
        hidden = HIDDEN.get(op.name, set())
        given = [a for a in op.arguments[where == "Tensor":] if a.name not in hidden]
        parameters = tuple(as_parameter(op, a) for a in given if is_parameter(op, a) and a not in op.outputs)
        order = ORDER.get(op.key, ())
        parameters = tuple(sorted(parameters, key=lambda p: order.index(p.name) if p.name in order else len(order)))
        options = tuple(a for a in given if not is_parameter(op, a) and a not in op.outputs)
        bound.append(Bound(op, where, name, parameters + op.outputs, options, name + "Options", frozenset(hidden)))
    return share_options(bound), sorted(left_out, key=lambda pair: pair[0].text)


def own():
    """[Bound] of the operators of namespace tandem, sorted by schema."""
    bound = []
    for op in schema.own_operators():
        where = next((space for space in OWN_NAMESPACES if op.name.startswith(space + "_")), "functional")
        name = naming.name(op, where)
        parameters = tuple(as_parameter(op, a) for a in op.arguments if is_parameter(op, a))
        options = tuple(a for a in op.arguments if not is_parameter(op, a))
        bound.append(Bound(op, where, name, parameters, options, name + "Options", frozenset()))
    return bound


def share_options(bound):
    """Variants in place and with out= take the options of their operator, where these are the same."""
    fields = lambda b: tuple((o.name, o.type, o.default) for o in b.options)
    first = {(b.home, b.name): b for b in bound}
    shared = []
    for b in bound:
        name = b.options_name
        if [o.name for o in b.options] == TENSOR_OPTIONS:
            name = "TensorOptions"
        else:
            base = first.get((b.home, re.sub(r"(Out|I)$", "", b.name)))
            if base and base is not b and fields(base) == fields(b):
                name = base.options_name
        shared.append(dataclasses.replace(b, options_name=name))
    return shared
