"""`rpc`: a call's latency, and calls of eight threads, from one worker to another on the same host, against
torch.distributed.rpc."""
from . import measure, places, report

WORKERS, SECONDS = 2, 0.5
# At most this part of Python's time a call.
AT_MOST = {"empty-call": 0.6, "1KB-tensor": 0.45, "64MB-tensor": 1.0, "calls-8": 1 / 2.5, "tensor-calls-8": 1 / 1.5}
# As a program in Python starts: with an address that this host alone reaches.
ENVIRONMENT = {"TP_SOCKET_IFNAME": "lo"}


def ours(seconds):
    command = places.tandem_run(WORKERS, places.program("bench-rpc"), "--seconds", str(seconds))
    return measure.run(command, ranks=WORKERS, environment=ENVIRONMENT)[0][0]["us"]


def peer(seconds):
    command = places.torchrun(WORKERS, places.peer("remote_calls.py"), "--seconds", str(seconds))
    return measure.run(command, ranks=WORKERS, environment=ENVIRONMENT)[0][0]["us"]


def benchmark(rounds, progress, only=None):
    cases = [case for case in AT_MOST if not only or case in only]
    if not cases:
        return []
    results = measure.alternate({"ours": lambda: ours(SECONDS), "torch-rpc": lambda: peer(SECONDS)}, rounds, progress)
    entries = []
    for case in cases:
        own, other = ([run[case] for run in results[side]] for side in ("ours", "torch-rpc"))
        entries.append(report.entry(case, own, other, peer_name="torch-rpc", unit="us/call", ranks=WORKERS, threads=1))
        progress(f"  {case}: {entries[-1]['ratio']:.2f} of Python's time; at most {AT_MOST[case]:.2f} is wanted")
    return entries
