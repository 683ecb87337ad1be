"""The peer of the case `jpeg` of `loader`: torchvision's decoder and transforms in torch's DataLoader.

    python loader_jpeg.py FOLDER EPOCHS WORKERS KIND     KIND is plain, or train: a random window, resized, mirrored

Writes rank-0.json into the folder BENCH_OUT: pictures a second, and sums of what one epoch gives.
"""
import json
import os
import sys
import time

import torch
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

PICTURES, BATCH, TRAINED = 2000, 64, 224

folder, epochs, workers, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
torch.set_num_threads(1)
transform = v2.Compose([v2.RandomResizedCrop(TRAINED, antialias=True), v2.RandomHorizontalFlip()])


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return PICTURES

    def __getitem__(self, index):
        picture = decode_jpeg(read_file(os.path.join(folder, f"{index}.jpg")), mode=ImageReadMode.RGB)
        return transform(picture) if kind == "train" else picture, index % 1000


batches = torch.utils.data.DataLoader(Pictures(), batch_size=BATCH, shuffle=True, num_workers=workers,
                                      persistent_workers=workers > 0)
labels = pixels = 0
for picture, label in batches:
    labels += label.sum().item()
    pixels += picture.sum(dtype=torch.int64).item()

samples = 0
start = time.perf_counter()
for _ in range(epochs):
    for picture, label in batches:
        samples += len(label)
rate = samples / (time.perf_counter() - start)
with open(os.path.join(os.environ["BENCH_OUT"], "rank-0.json"), "w") as file:
    json.dump({"rate": rate, "labels": labels, "pixels": pixels}, file)
