"""`leases`: parts of the dynamic partition that 256 ranks take from one queue, and what each costs on the wire."""
from . import measure, places, report

RANKS = 256
STEPS = 20
# Of a step. The queue is as large as it has parts; what one of them costs is not to be.
PARTS, FEW_PARTS = 2048, 512
LEAST = 5000.0  # parts/s


def run(parts):
    [result], _ = measure.run([places.program("bench-leases"), str(RANKS), str(parts), str(STEPS)], ranks=1)
    return result


def entry(case, ours, peer, **about):
    return report.entry(case, ours, peer, ranks=RANKS, threads=1, front_end="cpp", **about)


def benchmark(rounds, progress, only=None):
    cases = [case for case in ("parts", "bytes") if not only or case in only]
    if not cases:
        return []
    runs = measure.alternate({"many": lambda: run(PARTS), "few": lambda: run(FEW_PARTS)}, rounds, progress)
    rates = [each["parts_per_s"] for each in runs["many"]]
    entries = {
        "parts": entry("parts", rates, [LEAST] * rounds, peer_name="the limit", unit="parts/s", rate=True),
        "bytes": entry("bytes", [each["bytes"] for each in runs["many"]], [each["bytes"] for each in runs["few"]],
                       peer_name=f"{FEW_PARTS}-parts-a-step", unit="B/part"),
    }
    progress("  {requests:.2f} requests a part; of its bytes {record_bytes:.0f} are records".format(**runs["many"][0]))
    return [entries[case] for case in cases]
