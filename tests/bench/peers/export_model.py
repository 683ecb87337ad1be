"""Exports a model with the weights that prepare.py wrote: FOLDER/train.pt2 and FOLDER/eval.pt2, for batches of any size.

    python export_model.py MODEL FOLDER
"""
import os
import sys

import torch

import models
import tensor_file

name, folder = sys.argv[1:3]
model = models.MODELS[name]()
model.load_state_dict(tensor_file.load(os.path.join(folder, "init.safetensors")))
inputs = tensor_file.load(os.path.join(folder, "rank-0.safetensors"))["inputs"]
batch = torch.export.Dim("batch", min=1, max=1024)
for training, file in ((True, "train.pt2"), (False, "eval.pt2")):
    program = torch.export.export(model.train(training), (inputs,), dynamic_shapes=({0: batch},))
    torch.export.save(program, os.path.join(folder, file))
