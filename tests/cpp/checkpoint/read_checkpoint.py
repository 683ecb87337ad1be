"""Reads the newest checkpoint in a folder by Python's standard library alone, comparing all checksums (docs/checkpoints.md).

    read_checkpoint.py FOLDER
"""
import json
import math
import pathlib
import struct
import sys
import zlib

LETTERS = {"F32": "f", "F64": "d", "I64": "q"}


def tensors(path, record):
    data = path.read_bytes()
    assert len(data) == record["bytes"], f"{path} has {len(data)} bytes"
    length = struct.unpack("<Q", data[:8])[0]
    assert zlib.crc32(data[:8 + length]) == record["header_crc32"], f"{path}: its header"
    header = json.loads(data[8:8 + length])
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        begin, end = tensor["data_offsets"]
        elements = data[8 + length + begin:8 + length + end]
        assert zlib.crc32(elements) == record["tensors"][name]["crc32"], f"{path}: tensor {name}"
        letter = LETTERS[tensor["dtype"]]
        values = struct.unpack(f"<{math.prod(tensor['shape'])}{letter}", elements)
        yield name, tensor["dtype"], tensor["shape"], values


def main(folder):
    folder = pathlib.Path(folder)
    step = folder / (folder / "latest").read_text().strip()
    text = (step / "checkpoint.json").read_bytes()
    manifest = json.loads(text)
    rest = text[text.index(b",") + 1:]
    assert zlib.crc32(rest) == int(manifest["crc32"], 16), "checkpoint.json"
    values = (step / manifest["values"]["name"]).read_bytes()
    assert zlib.crc32(values) == manifest["values"]["crc32"], "the values"
    print("step", manifest["step"])
    print("values", json.loads(values))
    for record in manifest["files"]:
        for name, dtype, shape, values in tensors(step / record["name"], record):
            print(record["section"], name, dtype, shape, sum(values))


if __name__ == "__main__":
    main(sys.argv[1])
