"""The peer of `pipeline`: torch.distributed.pipelining over Gloo, or one process on the whole batch.

    torchrun --nproc-per-node 2 pipeline.py --schedule 1f1b|gpipe|whole --micro-batches 8 --warmup 2 --steps 5
"""
import argparse
import json
import math
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

BLOCKS, WIDTH, HEADS, SEQUENCE, BATCH = 8, 256, 4, 128, 32

parser = argparse.ArgumentParser()
parser.add_argument("--schedule", choices=("1f1b", "gpipe", "whole"), required=True)
parser.add_argument("--micro-batches", type=int, required=True)
parser.add_argument("--warmup", type=int, required=True)
parser.add_argument("--steps", type=int, required=True)
args = parser.parse_args()


def numbers(sizes, seed, scale):
    """The same as our side's."""
    places = torch.arange(math.prod(sizes), dtype=torch.float64)
    return (torch.sin(places * 0.7 + seed) * scale).float().view(sizes)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention, self.projection = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        parts = self.attention(self.norm1(x)).view(x.size(0), SEQUENCE, 3, HEADS, WIDTH // HEADS)
        mixed = nn.functional.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4).unbind(0))
        x = x + self.projection(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


def zero_biases(block):
    for name, parameter in block.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)


rank = int(os.environ["RANK"])
torch.set_num_threads(1)
whole = args.schedule == "whole"
dist.init_process_group("gloo")
ranks = 1 if whole else dist.get_world_size()
first = BLOCKS // ranks * rank
part = nn.Sequential(*(Block() for _ in range(BLOCKS // ranks)))
with torch.no_grad():
    for number, block in enumerate(part, first):
        zero_biases(block)
        for parameter in block.parameters():
            if parameter.dim() == 2:
                parameter.copy_(numbers(parameter.shape, number, 0.02))
optimizer = torch.optim.SGD(part.parameters(), lr=0.01)
x, y = numbers((BATCH, SEQUENCE, WIDTH), 1, 1), numbers((BATCH, SEQUENCE, WIDTH), 2, 1)
criterion = nn.MSELoss()
if not whole:
    stage = PipelineStage(part, rank, ranks, torch.device("cpu"))
    kind = {"1f1b": Schedule1F1B, "gpipe": ScheduleGPipe}[args.schedule]
    schedule = kind(stage, args.micro_batches, loss_fn=criterion)


def step():
    optimizer.zero_grad()
    parts = []
    if whole:
        loss = criterion(part(x), y)
        loss.backward()
        parts.append(loss)
    elif rank == 0:
        schedule.step(x)
    elif rank == ranks - 1:
        schedule.step(target=y, losses=parts)
    else:
        schedule.step()
    optimizer.step()
    return sum(loss.item() for loss in parts) / max(len(parts), 1)


losses = [step() for _ in range(args.warmup)]
start = time.perf_counter()
losses += [step() for _ in range(args.steps)]
seconds = time.perf_counter() - start
with open(os.path.join(os.environ["BENCH_OUT"], f"rank-{rank}.json"), "w") as file:
    json.dump({"step_ms": seconds * 1000 / max(args.steps, 1), "losses": losses}, file)
dist.destroy_process_group()
