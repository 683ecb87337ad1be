"""Arguments of cases: small tensors of made-up numbers, the same on every machine, and how cases.txt writes them."""
import zlib

DTYPES = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5, "float32": 6, "float64": 7,
          "complex64": 9, "complex128": 10, "bool": 11, "bfloat16": 15, "uint64": 29}


class Numbers:
    """A sequence that depends on its name alone."""

    def __init__(self, name):
        self.state = zlib.crc32(name.encode()) | 1

    def uniform(self, low, high):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return low + (high - low) * ((self.state >> 33) / 2**31)


class Argument:
    pass


class T(Argument):
    """A tensor: numbers in [low, high), integers for dtypes of integers; or the given values."""

    def __init__(self, *shape, dtype="float32", low=None, high=None, values=None, form="dense", spd=False):
        self.shape, self.dtype, self.values, self.form, self.spd = list(shape), dtype, values, form, spd
        is_float = dtype.startswith(("float", "bfloat", "complex"))
        self.low = low if low is not None else 0.05 if is_float else 1
        self.high = high if high is not None else 0.95 if is_float else 8

    def elements(self, name):
        count = 1
        for n in self.shape:
            count *= n
        if self.values is not None:
            return self.values
        numbers = Numbers(name)
        if self.spd:
            return self.positive_definite(numbers)
        made = [numbers.uniform(self.low, self.high) for _ in range(count * (2 if "complex" in self.dtype else 1))]
        if self.dtype == "bool":
            return [int(x) % 2 for x in made]
        return made if self.dtype.startswith(("float", "bfloat", "complex")) else [int(x) for x in made]

    def positive_definite(self, numbers):
        """Matrices A Aᵀ + n: symmetric, far from singular."""
        n, batches, all_elements = self.shape[-1], 1, []
        for size in self.shape[:-2]:
            batches *= size
        for _ in range(batches):
            a = [[numbers.uniform(0.1, 1) for _ in range(n)] for _ in range(n)]
            for i in range(n):
                for j in range(n):
                    all_elements.append(sum(a[i][k] * a[j][k] for k in range(n)) + n * (i == j))
        return all_elements

    def text(self, name):
        elements = self.elements(name)
        return " ".join(map(str, [DTYPES[self.dtype], self.form, len(self.shape), *self.shape, len(elements), *elements]))

    def line(self, name):
        return "tensor " + self.text(name)


class List(Argument):
    def __init__(self, *tensors):
        self.tensors = tensors

    def line(self, name):
        parts = ["tensors", str(len(self.tensors))]
        for i, t in enumerate(self.tensors):
            parts.append("none" if t is None else "tensor " + t.text(f"{name} {i}"))
        return " ".join(parts)


def scalar(x):
    if isinstance(x, bool):
        return f"bool {int(x)}"
    return f"int {x}" if isinstance(x, int) else f"float {x!r}"


def line(type_name, value, name):
    """The line of an argument whose schema type that is."""
    if value is None:
        return "none"
    if isinstance(value, Argument):
        return value.line(name)
    kind = type_name.rstrip("?")
    if kind == "Scalar":
        return "scalar " + scalar(value)
    if kind == "Scalar[]":
        return f"scalars {len(value)} " + " ".join(map(scalar, value))
    if kind == "Generator":
        return f"generator {value}"  # its seed
    if kind in ("int", "bool", "Layout", "MemoryFormat"):
        return f"int {int(value)}"
    if kind == "ScalarType":
        return f"int {DTYPES[value]}"
    if kind == "int[]":
        return " ".join(["ints", *map(str, [value] if isinstance(value, int) else value)])
    if kind == "float":
        return f"float {float(value)!r}"
    if kind == "float[]":
        return " ".join(["floats", *(repr(float(x)) for x in value)])
    if kind in ("str", "Device"):
        return f"text {value}"
    raise ValueError(f"{name}: no line for a {type_name}")
