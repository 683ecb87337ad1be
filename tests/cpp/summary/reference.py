"""Writes events.tfevents as Python's SummaryWriter does, for the test beside this file.

    reference.py make FOLDER     needs torch, tensorboard and pillow; FOLDER is this file's own
    reference.py show FILE       what TensorBoard's own reader finds in an event file, a line an event
"""
import glob
import os
import sys
import tempfile


def make(folder):
    import torch
    from torch.utils.tensorboard import SummaryWriter
    with tempfile.TemporaryDirectory() as scratch:
        writer = SummaryWriter(scratch)
        writer.add_scalar("loss/train", 0.25, 1, walltime=1700000000.5)
        writer.add_scalar("loss/train", 1 / 3, 2, walltime=1700000001.5)
        writer.add_scalar("Ünïcode", -1e30, 0, walltime=1700000002.5)
        writer.add_scalar("zero", 0.0, 3, walltime=1700000002.75)
        writer.add_scalar("late", 7.0, 10_000_000_000, walltime=1700000003.5)
        # Whole numbers: their sums are exact in any order.
        writer.add_histogram("weights", torch.arange(-20, 60).reshape(4, 20), 3, walltime=1700000004.5)
        writer.add_histogram("positive", torch.tensor([5.0, 5.0, 6.0]), 4, walltime=1700000005.5)
        writer.add_histogram("zeros", torch.zeros(7), 5, walltime=1700000006.5)
        writer.add_text("note", "two\n*lines* – é", 6, walltime=1700000007.5)
        pixels = torch.arange(3 * 5 * 4, dtype=torch.uint8).reshape(3, 5, 4) * 4
        writer.add_image("bytes", pixels, 7, walltime=1700000008.5)
        writer.add_image("floats", (torch.arange(12.0) / 11).reshape(1, 3, 4), 8, walltime=1700000009.5)
        writer.add_image("grey", (torch.arange(12.0) / 11).reshape(3, 4), 9, walltime=1700000010.5, dataformats="HW")
        batch = torch.arange(10 * 3 * 2 * 2, dtype=torch.uint8).reshape(10, 3, 2, 2)
        writer.add_images("batch", batch, 10, walltime=1700000011.5)
        writer.close()
        (path,) = glob.glob(scratch + "/events*")
        with open(path, "rb") as source, open(os.path.join(folder, "events.tfevents"), "wb") as target:
            target.write(source.read())


def show(path):
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    for event in EventFileLoader(path).Load():
        print(event.step, event.file_version or [(value.tag, value.metadata.plugin_data.plugin_name) for value in event.summary.value])


if __name__ == "__main__":
    {"make": make, "show": show}[sys.argv[1]](sys.argv[2])
