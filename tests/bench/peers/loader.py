"""The Python peers of `loader`: batches of digits.

    python loader.py dataloader FOLDER EPOCHS WORKERS    torch.utils.data.DataLoader over a data set in memory
    python loader.py indexed FOLDER EPOCHS               a uint8 tensor indexed by batch, normalized as a whole

Writes rank-0.json into the folder BENCH_OUT: samples a second, and sums of what one epoch gives.
"""
import json
import os
import sys
import time

import torch

BATCH = 64
MEAN, STD = 0.1307, 0.3081

torch.set_num_threads(1)
mode, folder, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3])


def load(name):
    with open(os.path.join(folder, name), "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)


labels = load("labels")
images = load("images").view(-1, 1, 28, 28)
labels = labels.long()


class Digits(torch.utils.data.Dataset):
    def __len__(self):
        return len(labels)

    def __getitem__(self, index):
        return images[index].float().div_(255).sub_(MEAN).div_(STD), labels[index]


def indexed():
    for batch in torch.randperm(len(labels)).split(BATCH):
        yield images[batch].float().div_(255).sub_(MEAN).div_(STD), labels[batch]


if mode == "dataloader":
    batches = torch.utils.data.DataLoader(Digits(), batch_size=BATCH, shuffle=True, num_workers=int(sys.argv[4]))
else:
    batches = None


def epoch():
    return batches if batches is not None else indexed()


sums = [0.0, 0.0]
for image, label in epoch():
    sums[0] += label.sum().item()
    sums[1] += image.double().sum().item()

samples = 0
start = time.perf_counter()
for _ in range(epochs):
    for image, label in epoch():
        samples += len(label)
rate = samples / (time.perf_counter() - start)
with open(os.path.join(os.environ["BENCH_OUT"], "rank-0.json"), "w") as file:
    json.dump({"rate": rate, "values": sums}, file)
