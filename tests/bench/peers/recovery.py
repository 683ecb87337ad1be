"""The peer of `recovery`: the same training under torchrun, which starts all workers anew; see cpp/recovery.cpp."""
import os
import time

import torch
import torch.distributed as dist

out = open(os.path.join(os.environ["BENCH_OUT"], f"steps-{os.getpid()}"), "w", buffering=1)
print(f"started {time.time():.6f}", file=out)
torch.manual_seed(1)
dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
model = torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
images, labels = torch.rand(32, 784), torch.randint(10, (32,))
step = 0
while True:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
    step += 1
    print(dist.get_rank(), dist.get_world_size(), step, f"{time.time():.6f}", file=out)
