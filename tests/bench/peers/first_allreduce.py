"""The peer of `startup`: what a torchrun worker does up to its first all-reduce."""
import json
import os
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
tensor = torch.full((1,), float(dist.get_rank() + 1))
dist.all_reduce(tensor)
done_at = time.time()

with open("/proc/self/status") as status:
    resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
with open(os.path.join(os.environ["BENCH_OUT"], f"rank-{dist.get_rank()}.json"), "w") as file:
    json.dump({"done_at": done_at, "rss_kb": resident, "result": tensor.item()}, file)
dist.destroy_process_group()
