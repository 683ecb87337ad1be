"""What LibTorch prints of a tensor in C++, which is what compat's Tensor.String gives.

TorchScript's print goes through the same code. Three things are put back to what they were in 2020, when programs for
wangkuiyi/gotorch were written: numbers without dimensions had six digits, the first row of a matrix within a larger tensor was
indented like the others, and factors of 100000 and more were written with an exponent. Two more are left to the Go test: of
negative numbers only the first one made columns wider, and four digits stayed for the whole numbers of later matrices.
"""
import base64
import os
import re
import sys
import tempfile
import warnings

import torch

nan, inf = float("nan"), float("inf")


@torch.jit.script
def show(x: torch.Tensor):
    print(x)


def printed(x):
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        standard_output = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            show(x)
        finally:
            os.dup2(standard_output, 1)
            os.close(standard_output)
        file.seek(0)
        return file.read().decode().removesuffix("\n")


def text(x):
    lines = printed(x)
    if x.dim() == 0:
        return f"{float(x.real):.6g}\n" + lines[lines.index("["):]
    lines = re.sub(r"(\.,\.\) = \n)", r"\1 ", lines)
    return re.sub(r"(?m)(^|\d )(100000+) \*$", lambda found: f"{found[1]}{float(found[2]):.4g} *", lines)


def case(x):
    raw = base64.b64encode(bytes(x.contiguous().untyped_storage())[:x.numel() * x.element_size()]).decode()
    return {"dtype": int(DTYPES.index(x.dtype)), "shape": list(x.shape), "data": raw, "text": text(x)}


# By LibTorch's numbers.
DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
          torch.complex32, torch.complex64, torch.complex128, torch.bool, None, None, None, torch.bfloat16]


def t(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype)


def numbers(dtype, shape, seed):
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 120, shape, generator=generator).to(dtype)


def cases():
    warnings.simplefilter("ignore")  # of complex numbers the imaginary parts are not printed
    made = [numbers(dtype, shape, i) for i, dtype in enumerate(DTYPES) if dtype and not dtype.is_complex
            for shape in ([], [1], [7], [3, 4], [2, 3, 2], [0], [2, 0, 3], [3, 30], [2, 2, 40], [2, 1, 3, 2])]
    made += [t(0.), t(0., 0.), t(1., -0.5, 0.), t(nan), t(inf), t(nan, inf, -inf), t(1., nan, -inf), t(1.5, nan, -inf, 0.),
             t(1e8), t(1e9), t(1e10), t(1e8, 1.5), t(-1e8, 1.5), t(0.5, 500.), t(0.5, 5000.), t(0.5, 50000.), t(1e-4), t(9.9e-5),
             t(1e-5, 1.), t(1e20, 1e-20), t(123456.5, 0.1), t(123456.5, 99.25), t(123456.5, 12345.25), t(0.1, 0.02),
             t(0.01, 0.02), t(0.001, 0.0002), t(-10., -5.), t(-1., 1e6), t(-1e6, 1.5), t(1e6), t(1234567.),
             t(99999.), t(999999.), t(1000.), t(999.5), t(1e38, -1e38), t(1e-45, 1.5), t(0.99999, 1.), t(16777216.5),
             t(1e300, 1e-300, dtype=torch.float64), t(1e120, 1.5, dtype=torch.float64), t(2 ** 62, -2 ** 63, dtype=torch.int64),
             torch.tensor(3.14159265), torch.tensor(1e-10), torch.tensor(123456789.0), torch.tensor(True), torch.tensor(-7),
             torch.tensor(2 ** 62), torch.tensor(nan), torch.tensor(-inf), t(1 + 2j, 3.5 - 1j, dtype=torch.complex64),
             torch.eye(4), torch.arange(100.).reshape(10, 10), torch.arange(100.).reshape(10, 10) / 7,
             torch.arange(120.).reshape(2, 3, 20) * 1e6 + 0.5, torch.arange(24.).reshape(2, 3, 4) * 1e-5,
             torch.arange(60.).reshape(3, 20) * 1e-7, torch.arange(40.).reshape(2, 20) * 1e7 + 0.5, torch.ones(100).reshape(1, 100),
             torch.stack([torch.full((2, 2), 12345.), torch.full((2, 2), 0.5)]),
             torch.stack([torch.full((2, 2), 0.25), torch.full((2, 2), 1e9)])]
    return [case(x) for x in made]
