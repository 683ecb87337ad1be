"""Fails unless two safetensors files hold the same numbers within float32's tolerance.

    python compare.py OURS PEER
"""
import sys

import torch

import tensor_file

ours, peer = ({name: tensor.double() for name, tensor in tensor_file.load(path).items()} for path in sys.argv[1:3])
if ours.keys() != peer.keys():
    sys.exit(f"different tensors: only ours {sorted(ours.keys() - peer.keys())}, "
             f"only the peer {sorted(peer.keys() - ours.keys())}")
worst = 0.0
for name, tensor in peer.items():
    if ours[name].shape != tensor.shape:
        sys.exit(f"{name}: shape {list(ours[name].shape)}, the peer's is {list(tensor.shape)}")
    difference = (ours[name] - tensor).abs().max().item()
    worst = max(worst, difference)
    if not torch.allclose(ours[name], tensor, rtol=1e-3, atol=1e-5):
        sys.exit(f"{name}: differs by up to {difference:g}")
print(f"{len(peer)} tensors agree, largest difference {worst:g}")
