"""Trains ResNet-18 on small pictures that are drawn here, on one rank and on two, as its user would.

    resnet.py --tandem TOOL --program PROGRAM

Asserts that the classes are told apart, that ranks end with equal parameters, and that a run that goes on from a checkpoint ends
with the bits of one that never stopped.
"""
import argparse
import pathlib
import random
import shutil
import struct
import sys
import tempfile
import zlib

from launch import only, run

SIDE, TRAIN, TEST, EPOCHS, LEAST = 40, 48, 12, 5, 85.0
# Stripes of a direction and of two colours each.
CLASSES = {"across": (0, 1, 200, 40, 40), "down": (1, 0, 40, 200, 40), "slanting": (1, 1, 40, 40, 200)}

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
options = parser.parse_args()


def png(pixels):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    rows = b"".join(b"\0" + bytes(pixels[y * SIDE * 3:(y + 1) * SIDE * 3]) for y in range(SIDE))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def draw(folder, count, draw):
    for name, (dx, dy, *color) in CLASSES.items():
        (folder / name).mkdir(parents=True)
        for i in range(count):
            width, begin = draw.randint(3, 6), draw.randint(0, 20)
            pixels = [min(255, max(0, (c if (dx * x + dy * y + begin) // width % 2 else 128) + draw.randint(-40, 40)))
                      for y in range(SIDE) for x in range(SIDE) for c in color]
            (folder / name / f"{i}.png").write_bytes(png(pixels))


def train(ranks, *flags):
    """Accuracies of the epochs, and the hash of the parameters."""
    text = run([options.tandem, "run", "-n", str(ranks), "--", options.program, "--data", folder, "--size", "32", "--batch-size", "8",
                "--lr", "0.02", "--epochs", str(EPOCHS), *flags])
    found = only(r"epoch \d+/\d+: loss [\d.]+, test accuracy ([\d.]+) %, [\d.]+ pictures/s", text)
    return [float(one) for one in found], only(rf"parameters: (\S+), equal on all {ranks} ranks", text)[0]


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    seeded = random.Random(1)
    for part, count in (("train", TRAIN), ("test", TEST)):
        draw(folder / part, count, seeded)
        run([options.tandem, "record", "import", folder / part, "-o", folder / f"{part}.recordio", "--version", "2"])
    saves = folder / "run"
    accuracies, parameters = train(2, "--checkpoints", saves)
    if len(accuracies) != EPOCHS or accuracies[-1] < LEAST:
        sys.exit(f"accuracies {accuracies}: {LEAST} % was not reached")
    shutil.rmtree(sorted(saves.glob("step-*"))[-1])  # the newest checkpoint is lost: the one before counts
    resumed = train(2, "--checkpoints", saves)
    if resumed != (accuracies[-1:], parameters):
        sys.exit(f"going on gave {resumed}, not {accuracies[-1:]}, {parameters}")
    alone, _ = train(1, "--sync-bn", "--epochs", "2")
    if len(alone) != 2:
        sys.exit(f"accuracies {alone} of two epochs")
    only(r"--data FOLDER", run([options.program], code=1))
    run([options.tandem, "record", "write", __file__, "-o", folder / "train.recordio"])
    only(r"train.recordio does not say which classes it has; make it with tandem record import",
         run([options.tandem, "run", "-n", "1", "--", options.program, "--data", folder], code=1))
