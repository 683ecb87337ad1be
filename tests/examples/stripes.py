"""Small pictures of stripes, a class a direction and a pair of colours, as files of records."""
import pathlib
import random
import struct
import zlib

from launch import run

SIDE = 40
CLASSES = {"across": (0, 1, 200, 40, 40), "down": (1, 0, 40, 200, 40), "slanting": (1, 1, 40, 40, 200)}


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


def record(tandem, folder, train, test):
    """FOLDER/train.recordio and FOLDER/test.recordio of so many pictures a class."""
    folder, seeded = pathlib.Path(folder), random.Random(1)
    for part, count in (("train", train), ("test", test)):
        draw(folder / part, count, seeded)
        run([tandem, "record", "import", folder / part, "-o", folder / f"{part}.recordio", "--version", "2"])
