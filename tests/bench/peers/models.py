"""The models of `ddp-step`, `train-step` and `op-overhead`: see docs/benchmarks.md. Their Go twins are in ../go/models and
../go/opoverhead."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 1024)
        self.fc2 = nn.Linear(1024, 1024)
        self.fc3 = nn.Linear(1024, 10)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class SmallMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(64 * 12 * 12, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = F.max_pool2d(x, 2).flatten(1)
        return self.fc2(F.relu(self.fc1(x)))


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(256, 64)
        self.lstm = nn.LSTM(64, 512, batch_first=True)
        self.linear = nn.Linear(512, 256)

    def forward(self, tokens):
        hidden, _ = self.lstm(self.embedding(tokens))
        return self.linear(hidden).flatten(0, 1)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = self.bn2(self.conv2(x))
        x += shortcut
        return F.relu(x, inplace=True)


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = nn.Sequential(Block(64, 64, 1), Block(64, 64, 1))
        self.layer2 = nn.Sequential(Block(64, 128, 2), Block(128, 128, 1))
        self.layer3 = nn.Sequential(Block(128, 256, 2), Block(256, 256, 1))
        self.layer4 = nn.Sequential(Block(256, 512, 2), Block(512, 512, 1))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, 1000)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = F.max_pool2d(x, 3, stride=2, padding=1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.pool(x).flatten(1))


class GPTAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class GPTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.attention = GPTAttention(width, heads)
        self.widen = nn.Linear(width, 4 * width)
        self.close = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.close(F.gelu(self.widen(self.norm2(x))))


class GPT(nn.Module):
    """The network of the example gpt in Go, of 10.8 million parameters, without dropout."""

    def __init__(self, layers=6, heads=6, width=384, length=128):
        super().__init__()
        self.embed = nn.Embedding(256, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(GPTBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 256, bias=False)
        self.head.weight = self.embed.weight
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.dim() > 1:
                adds = name.endswith(("out.weight", "close.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers) if adds else 0.02)

    def forward(self, tokens):
        x = self.embed(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).flatten(0, 1)


class LSTMCellLoop(nn.Module):
    """Of the sizes of PyTorch's tutorial on C++ extensions, which is about the cost of such loops."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(32, 128)

    def forward(self, inputs):
        hidden = cell = torch.zeros(inputs.shape[1], 128)
        for x in inputs.unbind(0):
            hidden, cell = self.cell(x, (hidden, cell))
        return hidden


MODELS = {"mlp": MLP, "mlp-small": SmallMLP, "cnn": CNN, "lstm": LSTM, "resnet18": ResNet18, "gpt10m": GPT,
          "lstm-cell-loop": LSTMCellLoop}


def batch(model, generator):
    """One rank's inputs and targets."""
    if model == "mlp":
        return torch.randn(64, 784, generator=generator), torch.randint(10, (64,), generator=generator)
    if model == "mlp-small":
        return torch.randn(16, 64, generator=generator), torch.randint(10, (16,), generator=generator)
    if model == "cnn":
        return torch.randn(64, 1, 28, 28, generator=generator), torch.randint(10, (64,), generator=generator)
    if model == "lstm":
        text = torch.randint(256, (32, 65), generator=generator)
        return text[:, :-1].contiguous(), text[:, 1:].flatten()
    if model == "gpt10m":
        text = torch.randint(256, (4, 129), generator=generator)
        return text[:, :-1].contiguous(), text[:, 1:].flatten()
    if model == "lstm-cell-loop":
        return torch.randn(32, 16, 32, generator=generator), torch.randn(16, 128, generator=generator)
    return torch.randn(8, 3, 96, 96, generator=generator), torch.randint(1000, (8,), generator=generator)
