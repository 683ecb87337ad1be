"""Reads and writes safetensors files, so that both sides of a benchmark start from the same numbers."""
import json
import struct

import torch

DTYPES = {"F32": torch.float32, "I64": torch.int64}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def save(path, tensors):
    header, offset = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.detach().contiguous().numpy().tobytes())


def load(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(data, dtype=DTYPES[entry["dtype"]], offset=begin,
                                  count=(end - begin) // DTYPES[entry["dtype"]].itemsize)
        tensors[name] = values.reshape(entry["shape"])
    return tensors
