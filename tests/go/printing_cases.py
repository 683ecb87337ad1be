"""What print(x) prints, for tensors of all element types, sizes and ranges, and all options.

A case has the elements as bytes (base64), what is done to the tensor before it is printed, the options of
torch.set_printoptions, and the text.
"""
import base64

import torch

nan, inf = float("nan"), float("inf")

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
          torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e5m2,
          torch.float8_e4m3fn, torch.complex32, torch.complex64, torch.complex128]

# Before printing. The Go test does the same, by name.
HOW = {
    "": lambda x: x,
    "requires_grad": lambda x: x.requires_grad_(),
    "mul": lambda x: torch.ops.aten.mul.Scalar(x.requires_grad_(), 2),
    "sum": lambda x: x.requires_grad_().sum(),
    "select": lambda x: x.requires_grad_()[0],
    "set": lambda x: put(x.requires_grad_().clone()),
    "transpose": lambda x: x.transpose(0, 1),
    "step": lambda x: x[..., ::2],
    "expand": lambda x: x.expand(3, *x.shape),
    "conj": lambda x: x.conj(),
    "negative view": lambda x: x.conj().imag,
    "sparse": lambda x: x.to_sparse(),
    "sparse rows": lambda x: x.to_sparse(1),
    "csr": lambda x: x.to_sparse_csr(),
    "csc": lambda x: x.to_sparse_csc(),
    "bsr": lambda x: x.to_sparse_bsr((1, 2)),
    "bsc": lambda x: x.to_sparse_bsc((2, 1)),
    "sparse mul": lambda x: torch.ops.aten.mul.Scalar(x.requires_grad_().to_sparse(), 2),
    "meta": lambda x: x.to("meta"),
}


def put(x):
    x[0] = 1
    return x


def case(x, how="", **options):
    raw = base64.b64encode(bytes(x.contiguous().untyped_storage())[:x.numel() * x.element_size()]).decode()
    made = {"dtype": str(x.dtype).removeprefix("torch."), "shape": list(x.shape), "data": raw}
    if how:
        made["how"] = how
    if options:
        made["options"] = options
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**options)
    try:
        made["text"] = str(HOW[how](x.clone()))
    finally:
        torch.set_printoptions(profile="default")
    return made


def numbers(dtype, shape, seed):
    torch.manual_seed(seed)
    n = torch.Size(shape).numel()
    if dtype == torch.bool:
        return (torch.rand(n) < 0.5).reshape(shape)
    if dtype.is_complex:
        return torch.complex(torch.randn(n), torch.randn(n)).to(dtype).reshape(shape)
    if dtype.is_floating_point:
        return torch.randn(n).to(dtype).reshape(shape)
    low = 0 if dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64) else -100
    return torch.randint(low, 120, (n,)).to(dtype).reshape(shape)


def t(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype)


def cases():
    made = []
    for i, dtype in enumerate(DTYPES):
        for shape in ([], [1], [7], [3, 4], [2, 3, 2], [0], [2, 0, 3], [30], [1001], [40, 30]):
            made.append(case(numbers(dtype, shape, i)))
    extremes = [
        t(0.), t(0., 0.), t(-0.), t(0., -0., 1.), t(1., -0.5, 0.), t(nan), t(inf), t(-inf), t(nan, inf, -inf),
        t(1., nan, -inf), t(1.5, nan, -inf, 0.), t(1., 2., 3.), t(1e8), t(1.0001e8, 1.), t(100000001., 1.), t(1., 1000.),
        t(1., 1001.), t(0.5, 500.), t(0.5, 501.), t(1e-4), t(9.9e-5), t(1e-5, 1.), t(1e20, 1e-20), t(1e20, nan, inf, 0.),
        t(1e38, -1e38), t(123456., 0.1), t(12345.678), t(-12345.678, 99.), t(0.00012, 0.0999), t(2.5, 3.5, 0.00005),
        t(1e10, 2e10), t(-1., 10000000.), t(1 / 3, 2 / 3), t(1e-45), t(0.99999, 1.), t(0.12345, 0.12355), t(16777216.),
        torch.tensor(3.0), torch.tensor(0.1), torch.tensor(-0.0), torch.tensor(nan), torch.tensor(-inf),
        torch.tensor(1e-7), torch.tensor(123456789.0), torch.tensor(True), torch.tensor(-5), torch.tensor(1 - 2j),
        torch.tensor(1 / 3, dtype=torch.float64), torch.tensor(1e300, dtype=torch.float64),
        t(1e300, 1e-300, 5e-324, dtype=torch.float64), t(1.0000000001, 1., dtype=torch.float64),
        t(65504., 1., 6e-8, dtype=torch.float16), t(1e30, 1., dtype=torch.bfloat16), t(0.1, 0.2, dtype=torch.bfloat16),
        t(2 ** 62, -2 ** 63, 0, dtype=torch.int64), t(2 ** 64 - 1, 0, dtype=torch.uint64), t(-128, 127, dtype=torch.int8),
        t(1 + 2j, -1 - 2j, 0j, dtype=torch.complex64), t(1.5 + 2j, 1e10 - 0j, dtype=torch.complex128),
        t(complex(nan, 1), complex(1, inf), complex(-0., -0.), dtype=torch.complex64),
        t(complex(1, 1e-10), complex(1e10, 3), dtype=torch.complex64), t(complex(0, nan), dtype=torch.complex128),
        torch.full((5,), nan), torch.full((3, 3), inf), torch.zeros(2, 2, 2, 2), torch.ones(1, 1, 1, 1, 1, 1),
        torch.eye(4), torch.linspace(0, 1, 11), torch.logspace(-5, 5, 11), torch.arange(100.), torch.arange(100.) / 7,
        torch.arange(1000), torch.arange(1001), torch.arange(1001.), torch.arange(1001.) * 1e-6, torch.arange(1500) % 2 == 0,
        torch.zeros(40, 50), torch.arange(1200).reshape(400, 3), torch.arange(1200.).reshape(3, 400),
        torch.arange(1040).reshape(2, 10, 52), torch.arange(1100.).reshape(10, 11, 10), torch.arange(1296.).reshape(6, 6, 6, 6),
        torch.arange(1470).reshape(7, 7, 6, 5), torch.arange(1100).reshape(1, 1100, 1), torch.arange(1001).reshape(1001, 1),
    ]
    # What matters lies in the middle, which a summary leaves out.
    hidden = torch.ones(1100)
    hidden[550] = 1e-9
    extremes += [hidden, hidden.reshape(11, 100)]
    made += [case(x) for x in extremes]

    x, small = numbers(torch.float32, [12, 15], 90), t(1., 0., 2.5, 0., 0., 3.).reshape(2, 3)
    many = numbers(torch.float64, [12, 90], 91)
    for options in ({"precision": 2}, {"precision": 0}, {"precision": 10}, {"threshold": 5}, {"threshold": 5, "edgeitems": 1},
                    {"threshold": 5, "edgeitems": 0}, {"edgeitems": 0}, {"linewidth": 40}, {"linewidth": 200}, {"linewidth": 3},
                    {"sci_mode": True}, {"sci_mode": False}, {"profile": "short"}, {"profile": "full"},
                    {"profile": "short", "precision": 6, "sci_mode": True, "linewidth": 120}, {"threshold": 10000}):
        for y in (x, many, torch.arange(30), torch.arange(12.) * 1e5, t(nan, 0., inf), t(1 + 2j, 3e9 - 1e-9j, dtype=torch.complex64),
                  torch.zeros(0, 3), torch.tensor(1.0)):
            made.append(case(y, **options))

    grown = numbers(torch.float32, [3, 4], 92)
    for how in ("requires_grad", "mul", "sum", "select", "set", "transpose", "step", "expand", "meta"):
        for y in (grown, grown.double(), many, numbers(torch.complex64, [2, 2], 93), torch.zeros(2, 0), t(1e-9, 1.).reshape(1, 2)):
            if how in ("select", "set") and y.numel() == 0:
                continue
            made.append(case(y, how))
    for how in ("transpose", "step", "expand", "meta"):
        made += [case(y, how) for y in (torch.arange(6).reshape(2, 3), torch.ones(2, 3, dtype=torch.bool),
                                        numbers(torch.int16, [40, 60], 94))]
    made += [case(y, "meta") for y in (torch.tensor(1.0), torch.tensor(1), torch.zeros(0))]
    for how in ("conj", "negative view"):
        made += [case(y, how) for y in (numbers(torch.complex64, [2, 3], 95), numbers(torch.complex128, [1200], 96),
                                        torch.tensor(1 - 2j))]
    for how in ("sparse", "csr", "csc", "bsr", "bsc"):
        made += [case(y, how) for y in (small.repeat(1, 2), small.repeat(1, 2).double(), torch.zeros(2, 4), torch.eye(40),
                                        torch.eye(4, dtype=torch.int32))]
    made += [case(small, "sparse rows"), case(torch.zeros(2, 3, dtype=torch.int64), "sparse rows"), case(small, "sparse mul"),
             case(torch.tensor(2.0), "sparse")]
    return made
