"""What spirals-java does, in Python: each goes on from the file that the other saved.

    spirals.py --file FILE.pt [--epochs 50]
"""
import argparse
import math
import pathlib

import torch

ARMS, POINTS, WIDTH, BLOCKS = 3, 100, 16, 3


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(WIDTH)
        self.linear = torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + self.linear(self.norm(x)).relu()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, WIDTH)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(BLOCKS))
        self.last = torch.nn.Linear(WIDTH, ARMS)

    def forward(self, points):
        x = self.first(points)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def make_spirals():
    points, arms = [], []
    for i in range(ARMS * POINTS):
        arm, along = i % ARMS, (i // ARMS + 1) / POINTS
        angle = 2 * math.pi * arm / ARMS + 4 * along
        points.append((along * math.cos(angle), along * math.sin(angle)))
        arms.append(arm)
    return torch.tensor(points), torch.tensor(arms)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--file", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    points, arms = make_spirals()
    epoch = 0
    if options.file.exists():
        file = torch.load(options.file, weights_only=True)
        net.load_state_dict(file["model"])
        optimizer.load_state_dict(file["optimizer"])
        schedule.load_state_dict(file["schedule"])
        epoch = file["epoch"]
        print(f"going on after epoch {epoch}")
    last = epoch + options.epochs
    while epoch < last:
        net.train()
        loss = torch.nn.functional.cross_entropy(net(points), arms)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1)
        optimizer.step()
        schedule.step()
        epoch += 1
        if epoch % 10 == 0 or epoch == last:
            net.eval()
            with torch.no_grad():
                accuracy = (net(points).argmax(1) == arms).double().mean()
            print(f"epoch {epoch}: loss {loss:.6f}, accuracy {100 * accuracy:.2f} %, lr {schedule.get_last_lr()[0]:.6f}")
    torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(), "epoch": epoch},
               options.file)


main()
