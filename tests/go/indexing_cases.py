"""x[...] and x[...] = value for many indices: results, whether they are views, gradients, errors.

An index is a list of what stands between the commas: an integer, true or false, null (None), "...",
{"slice": [start, stop, step]} with null where nothing stands, {"each": [2, 0]} (a list), {"tensor": …}.
The tensor indexed is arange() in its shape. Gradients are those of the sum of all elements, the i-th times i + 1.
"""
import random

import torch

HAND = [
    # (shape, index)
    ([2, 3], [0]), ([2, 3], [-1]), ([2, 3], [1, 2]), ([2, 3], [-2, -3]), ([2, 3], []), ([], []), ([], ["..."]),
    ([], [None]), ([], [True]), ([], [False]), ([4], [{"slice": [1, 3, None]}]), ([4], [{"slice": [None, None, 2]}]),
    ([4], [{"slice": [-3, -1, None]}]), ([4], [{"slice": [3, 1, None]}]), ([4], [{"slice": [-100, 100, 3]}]),
    ([4], [{"slice": [100, None, None]}]), ([2, 3, 4], ["...", 0]), ([2, 3, 4], [1, "..."]),
    ([2, 3, 4], [1, "...", {"slice": [1, None, 2]}]), ([2, 3, 4], [0, 1, "...", 2]), ([2, 3, 4], [None, "...", None]),
    ([2, 3], [{"slice": [None, None, None]}, None, 1]), ([2, 3], [None, None]), ([3, 2], [True]), ([3, 2], [False]),
    ([3, 2], [True, 0]), ([3, 2], [1, True]), ([3, 2], [{"each": [2, 0, 2]}]), ([3, 2], [{"each": [-1]}, 0]),
    ([3, 2], [{"each": []}]), ([3, 2], [{"slice": [None, None, None]}, {"each": [1, 0]}]),
    ([3, 4], [{"each": [0, 2]}, {"each": [1, 3]}]),
    ([3, 4], [{"tensor": {"shape": [2, 1], "ints": [0, 2]}}, {"tensor": {"shape": [1, 2], "ints": [1, 3]}}]),
    ([3, 4], [{"tensor": {"shape": [2, 2], "ints": [0, 1, 2, -1]}}]), ([3, 4], [{"tensor": {"shape": [], "ints": [1]}}]),
    ([3, 4], [{"tensor": {"shape": [], "bools": [1]}}]), ([3, 4], [{"tensor": {"shape": [], "bools": [0]}}]),
    ([3], [{"tensor": {"shape": [3], "bools": [1, 0, 1]}}]),
    ([2, 2], [{"tensor": {"shape": [2, 2], "bools": [1, 0, 0, 1]}}]),
    ([2, 3], [{"slice": [None, None, None]}, {"tensor": {"shape": [3], "bools": [0, 1, 1]}}]),
    ([2, 3], [1, {"tensor": {"shape": [3], "bools": [0, 1, 1]}}]),
    ([2, 3, 4], [{"each": [0, 1]}, {"slice": [None, None, None]}, {"each": [1, 2]}]),  # the dimension goes to the front
    ([2, 3, 4], [{"slice": [None, None, None]}, {"each": [0, 1]}, {"each": [1, 2]}]),
    ([2, 3, 4], [0, {"slice": [None, None, None]}, {"each": [1, 2]}]),
    ([2, 3, 4], [None, {"each": [1, 0]}, "...", {"slice": [None, 2, None]}]),
    ([2, 3, 4], [{"tensor": {"shape": [2, 3], "bools": [1, 0, 0, 1, 1, 0]}}, {"slice": [1, None, 2]}]),
    ([0, 3], [{"slice": [None, None, None]}, 1]), ([0, 3], [{"tensor": {"shape": [0], "bools": []}}]),
    # Errors.
    ([2, 3], [2]), ([2, 3], [-3]), ([2, 3], [0, 3]), ([2, 3], [{"slice": [None, None, None]}, -4]), ([2, 3], [0, 0, 0]),
    ([], [0]), ([], [{"slice": [None, None, None]}]), ([2, 3], [{"slice": [None, None, -1]}]),
    ([2, 3], [{"slice": [0, 2, 0]}]), ([2, 3], [{"each": [0, 2]}]), ([2, 3], [{"each": [0, 1]}, {"each": [0, 1, 2]}]),
    ([2, 3], [{"tensor": {"shape": [3], "bools": [1, 0, 1]}}]), ([2, 3], [{"tensor": {"shape": [1], "floats": [1]}}]),
    ([0], [0]),
]
ASSIGNED = [
    # (shape, index, value: a number or a shape)
    ([2, 3], [0], 7), ([2, 3], [0], [3]), ([2, 3], ["..."], [2, 3]), ([2, 3], [], 5), ([2, 3], [], [3]),
    ([2, 3], [{"slice": [None, None, None]}, 1], [2]), ([2, 3], [{"slice": [None, None, 2]}], [1, 1, 3]),
    ([2, 3], [{"tensor": {"shape": [2, 3], "bools": [1, 0, 0, 1, 1, 0]}}], -1),
    ([2, 3], [{"tensor": {"shape": [2, 3], "bools": [1, 0, 0, 1, 1, 0]}}], [3]),
    ([2, 3], [{"tensor": {"shape": [2, 3], "bools": [1, 0, 0, 1, 1, 0]}}], []),
    ([3, 2], [{"each": [2, 0]}], [2, 2]), ([3, 2], [{"each": [2, 0]}, 1], [2]), ([3, 2], [{"each": [2, 0]}, 1], 2.5),
    ([3, 2], [None, 0], [1, 2]), ([3, 2], [True], 3), ([3, 2], [False], 3), ([3, 2], [True, 1], [2]), ([], [], 4),
    ([], ["..."], []), ([2, 3, 4], [{"each": [0, 1]}, {"slice": [None, None, None]}, {"each": [1, 2]}], [2, 3]),
    ([2, 3, 4], [1, "...", {"slice": [1, 3, None]}], [2]), ([4], [{"slice": [3, 1, None]}], 9),
    # Errors.
    ([2, 3], [2], 7), ([2, 3], [0], [2]), ([2, 3], [{"each": [0, 5]}], 1), ([2, 3], [0, 0, 0], 1), ([], [0], 1),
]
# Values are converted to the element type of what they are assigned to.
CONVERTED = [("int64", 2.75), ("int64", True), ("bool", 3), ("uint8", 300), ("float32", 0.1), ("complex64", 2),
             ("float16", 70000)]


def made(given):
    for key, dtype in (("ints", torch.int64), ("bools", torch.bool), ("floats", torch.float32)):
        if key in given:
            return torch.tensor(given[key], dtype=dtype).reshape(given["shape"])
    raise KeyError(given)


def python(index):
    def one(given):
        if isinstance(given, dict):
            if "slice" in given:
                return slice(*given["slice"])
            return given["each"] if "each" in given else made(given["tensor"])
        return ... if given == "..." else given

    parts = tuple(map(one, index))
    return parts[0] if len(parts) == 1 else parts


def filled(shape, dtype=torch.float64, first=0):
    n = torch.Size(shape).numel()
    return torch.arange(first, first + n, dtype=dtype).reshape(shape)


def weighted(x):
    return (x * filled(x.shape, first=1)).sum()


def refused(error):
    return {"class": type(error).__name__, "message": str(error).split("\n")[0]}


def got(shape, index):
    case = {"shape": shape, "index": index}
    x = filled(shape).requires_grad_()
    try:
        y = x[python(index)]
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return case | {"error": refused(error)}
    weighted(y).backward()
    return case | {"result": list(y.shape), "elements": y.flatten().tolist(), "view": y._is_view(),
                   "gradient": x.grad.flatten().tolist()}


def assigned(shape, index, value):
    case = {"shape": shape, "index": index, "value": value}
    x = filled(shape).requires_grad_()
    y = x.clone()
    v = filled(value, first=100).requires_grad_() if isinstance(value, list) else value
    try:
        y[python(index)] = v
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return case | {"error": refused(error)}
    weighted(y).backward()
    case |= {"elements": y.flatten().tolist(), "gradient": x.grad.flatten().tolist()}
    if isinstance(value, list):
        case["value_gradient"] = v.grad.flatten().tolist()
    return case


def converted(dtype, value):
    x = torch.zeros(2, dtype=getattr(torch, dtype))
    try:
        x[1] = value
    except RuntimeError as error:
        return {"dtype": dtype, "number": value, "error": refused(error)}
    return {"dtype": dtype, "number": value, "after": torch.view_as_real(x).tolist() if x.is_complex() else
            [str(e) for e in x.tolist()]}


class Chance:
    """Indices at random, most of which fit."""

    def __init__(self):
        self.random = random.Random(4)

    def shape(self):
        return [self.random.choice([1, 2, 3, 4]) for _ in range(self.random.randint(1, 4))]

    def place(self, size):
        return self.random.randint(-size - (self.random.random() < 0.02), size - 1)

    def slice(self, size):
        end = lambda: self.random.choice([None, self.random.randint(-size - 1, size + 1)])
        return {"slice": [end(), end(), self.random.choice([None, None, 1, 2, 3])]}

    def index(self, shape, distinct=False):
        index, dims, tensors = [], list(shape), self.random.random() < 0.5
        length = self.random.randint(1, 3)
        if self.random.random() < 0.3:
            # The ellipsis takes some dimensions from the middle.
            keep = self.random.randint(0, len(dims))
            front = self.random.randint(0, keep)
            dims = dims[:front] + ["..."] + dims[len(dims) - (keep - front):]
        elif self.random.random() < 0.5:
            dims = dims[:self.random.randint(1, len(dims))]
        while dims:
            if self.random.random() < 0.15:
                index.append(None)
            size = dims.pop(0)
            if size == "...":
                index.append(size)
                continue
            kind = self.random.random()
            if tensors and kind < 0.35:
                if distinct:
                    index.append({"each": self.random.sample(range(size), 1)})
                elif kind < 0.15:
                    index.append({"each": [self.place(size) for _ in range(length)]})
                else:
                    rows = self.random.choice([1, 2])
                    index.append({"tensor": {"shape": [rows, length],
                                             "ints": [self.place(size) for _ in range(rows * length)]}})
            elif tensors and kind < 0.5:
                masked = [size]
                if dims and dims[0] != "..." and self.random.random() < 0.5:
                    masked.append(dims.pop(0))
                n = torch.Size(masked).numel()
                index.append({"tensor": {"shape": masked, "bools": [self.random.randint(0, 1) for _ in range(n)]}})
            elif kind < 0.7:
                index.append(self.place(size))
            else:
                index.append(self.slice(size))
        return index or ["..."]


def cases():
    chance = Chance()
    all_cases = [got(*case) for case in HAND] + [assigned(*case) for case in ASSIGNED]
    all_cases += [converted(*case) for case in CONVERTED]
    for _ in range(300):
        shape = chance.shape()
        all_cases.append(got(shape, chance.index(shape)))
    for _ in range(150):
        shape = chance.shape()
        index = chance.index(shape, distinct=True)
        try:
            value = list(filled(shape)[python(index)].shape)
        except (IndexError, RuntimeError):
            value = 1
        all_cases.append(assigned(shape, index, chance.random.choice([value, 0.5, value[1:] if value != 1 else 2])))
    return all_cases
