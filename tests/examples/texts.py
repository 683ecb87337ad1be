"""Texts for the language models' tests."""
import pathlib
import random


def write(path, size, shared):
    """The first bytes of the shared text where it is there; else sentences of a few words, drawn by a seed."""
    shared = pathlib.Path(shared)
    if shared.exists():
        with shared.open("rb") as file:
            text = file.read(size)
    else:
        draw = random.Random(1)
        words = "the a my thy king queen lord night day sees hears loves fears goes comes and or but not with".split()
        text = "".join(" ".join(draw.choices(words, k=draw.randint(4, 9))) + ".\n" for _ in range(size // 20)).encode()[:size]
    if len(text) != size:
        raise SystemExit(f"{shared} has {len(text)} bytes; the test needs {size}")
    path.write_bytes(text)
