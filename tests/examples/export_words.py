"""Makes files/words.pt2, the test's program that refuses some values, and takes 2 to 8 rows (by hand, with PyTorch 2.11)."""
import pathlib

import torch
from torch import nn


class Words(nn.Module):
    """Numbers of three words [batch, 3] to scores [batch, 2]."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(10, 4), nn.Linear(4, 2)

    def forward(self, words):
        return self.head(self.embed(words).mean(1))


torch.manual_seed(1)
program = torch.export.export(Words().eval(), (torch.zeros(3, 3, dtype=torch.int64),),
                              dynamic_shapes=({0: torch.export.Dim("batch", min=2, max=8)},))
for node in program.graph.nodes:
    node.meta.pop("stack_trace", None)  # which names files of this machine
torch.export.save(program, pathlib.Path(__file__).resolve().parent / "files" / "words.pt2")
