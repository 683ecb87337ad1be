"""`rpc`: a call's latency, and calls of eight threads, from one worker to another on the same host, against
torch.distributed.rpc, and against LibTorch's engine by itself: what no program over that engine goes below."""
from . import measure, places, report

WORKERS, SECONDS = 2, 0.5
# At most this part of Python's time a call.
AT_MOST = {"empty-call": 0.6, "1KB-tensor": 0.45, "64MB-tensor": 1.0, "calls-8": 1 / 2.5, "tensor-calls-8": 1 / 1.5}
ENGINE = ("empty-call", "1KB-tensor", "calls-8", "tensor-calls-8")  # cases that the engine's program has too
# As a program in Python starts: with an address that this host alone reaches.
ENVIRONMENT = {"TP_SOCKET_IFNAME": "lo"}


def ours(seconds, program="bench-rpc"):
    command = places.tandem_run(WORKERS, places.program(program), "--seconds", str(seconds))
    return measure.run(command, ranks=WORKERS, environment=ENVIRONMENT)[0][0]["us"]


def peer(seconds):
    command = places.torchrun(WORKERS, places.peer("remote_calls.py"), "--seconds", str(seconds))
    return measure.run(command, ranks=WORKERS, environment=ENVIRONMENT)[0][0]["us"]


def benchmark(rounds, progress, only=None):
    cases = [case for case in AT_MOST if not only or case in only]
    if not cases:
        return []
    sides = {"ours": lambda: ours(SECONDS), "torch-rpc": lambda: peer(SECONDS)}
    if any(case in ENGINE for case in cases):
        sides["engine"] = lambda: ours(SECONDS, "bench-rpc-engine")
    results = measure.alternate(sides, rounds, progress)
    entries = []

    def compare(case, side, other):
        mine, theirs = ([run[case] for run in results[name]] for name in (side, other))
        label = case if side == "ours" else f"{case}-{side}"
        entries.append(report.entry(label, mine, theirs, peer_name=other, unit="us/call", ranks=WORKERS, threads=1))
        return entries[-1]["ratio"]

    for case in cases:
        ratio = compare(case, "ours", "torch-rpc")
        progress(f"  {case}: {ratio:.2f} of Python's time; at most {AT_MOST[case]:.2f} is wanted")
        if case in ENGINE:
            compare(case, "ours", "engine")
            compare(case, "engine", "torch-rpc")
    return entries
