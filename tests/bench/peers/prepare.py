"""Writes what both sides of a model's training start from: FOLDER/init.safetensors and FOLDER/rank-N.safetensors.

    python prepare.py MODEL RANKS FOLDER
"""
import os
import sys

import torch

import models
import tensor_file

model, ranks, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
torch.manual_seed(1)
weights = models.MODELS[model]().state_dict()
tensor_file.save(os.path.join(folder, "init.safetensors"), weights)
for rank in range(ranks):
    inputs, targets = models.batch(model, torch.Generator().manual_seed(100 + rank))
    tensor_file.save(os.path.join(folder, f"rank-{rank}.safetensors"), {"inputs": inputs, "targets": targets})
