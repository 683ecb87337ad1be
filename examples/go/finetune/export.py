"""Exports a classifier of pictures for fine-tuning: FOLDER/train.pt2 and FOLDER/eval.pt2 (PyTorch 2.8 or later).

    python export.py FOLDER --classes 3             ResNet-18 with the weights of ImageNet (torchvision)
    python export.py FOLDER --classes 3 --small     a network of a few kB without trained weights, for tests
"""
import argparse
import pathlib

import torch
from torch import nn


class Small(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 5, stride=2, padding=2, bias=False), nn.BatchNorm2d(8),
                                      nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 32, 3, padding=1, bias=False),
                                      nn.BatchNorm2d(32), nn.ReLU())
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc(self.drop(self.features(x).mean((2, 3))))


def resnet18(classes):
    from torchvision.models import ResNet18_Weights
    from torchvision.models import resnet18 as build
    model = build(weights=ResNet18_Weights.DEFAULT)
    model.fc = nn.Linear(model.fc.in_features, classes)
    return model


parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--classes", type=int, required=True, help="folders of pictures there are")
parser.add_argument("--size", type=int, help="height and width of the pictures; default: 224, 32 with --small")
parser.add_argument("--small", action="store_true")
options = parser.parse_args()

torch.manual_seed(1)
model = (Small if options.small else resnet18)(options.classes)
size = options.size or (32 if options.small else 224)
batch = torch.export.Dim("batch", min=1, max=1024)
options.folder.mkdir(parents=True, exist_ok=True)
for training, name in ((True, "train.pt2"), (False, "eval.pt2")):
    program = torch.export.export(model.train(training), (torch.randn(2, 3, size, size),), dynamic_shapes=({0: batch},))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # which names files of this machine
    torch.export.save(program, options.folder / name)
