"""`allreduce`: how long an all-reduce takes, by size and by ranks: Tandem's shared memory, Gloo, Open MPI.

Cases such as `25MB-2+2` are two ranks on each of two hosts, which are network namespaces of this machine.
"""
import os
import shutil
import subprocess

from . import measure, places, report

SIZES = {"64B": 64, "256B": 256, "1KB": 1 << 10, "4KB": 4 << 10, "16KB": 16 << 10, "64KB": 64 << 10,
         "256KB": 256 << 10, "1MB": 1 << 20, "4MB": 4 << 20, "25MB": 25 << 20, "64MB": 64 << 20, "256MB": 256 << 20}
RANKS = (2, 4)
FRONT_ENDS = {"ours": "go", "cpp": "cpp"}
HOSTS = {"2+2": (2, 2)}  # hosts, ranks on each
HOSTS_SIZES = ("1KB", "256KB", "25MB")
SECONDS = 0.2  # that each size is timed in each run
MPI_PROGRAM = "bench-allreduce-mpi"


def ours(ranks, seconds, sizes):
    return places.tandem_run(ranks, places.program("bench-allreduce"), "--backend", "shm", "--seconds", str(seconds),
                             "--sizes", ",".join(sizes))


def ours_in_cpp(ranks, seconds, sizes):
    return places.tandem_run(ranks, places.program("bench-allreduce-cpp"), "shm", str(seconds), *sizes)


def gloo(ranks, seconds, sizes):
    return places.torchrun(ranks, places.peer("allreduce.py"), "--seconds", str(seconds), "--sizes", ",".join(sizes))


def openmpi(ranks, seconds, sizes):
    """Through shared memory alone; more ranks than cores give each other the core, which Open MPI does by itself."""
    return ["mpirun", "-n", str(ranks), "--oversubscribe", "--mca", "btl", "self,vader",
            places.program(MPI_PROGRAM), str(seconds), *sizes]


def on_hosts(hosts, side):
    """`side` on each of some hosts."""
    return lambda ranks, seconds, sizes: [places.beside("hosts.sh"), str(hosts),
                                          *side(ranks // hosts, seconds, sizes)]


def hosts_sides(hosts, progress):
    probe = subprocess.run([places.beside("hosts.sh"), "1", "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        progress(f" NOT MEASURED: several hosts, which cannot be made here ({probe.stderr.strip()[-200:]})")
        return {}
    return {"ours": on_hosts(hosts, ours), "cpp": on_hosts(hosts, ours_in_cpp), "gloo": on_hosts(hosts, gloo)}


def sides(progress):
    found = {"ours": ours, "cpp": ours_in_cpp, "gloo": gloo}
    if os.path.exists(places.program(MPI_PROGRAM)) and shutil.which("mpirun"):
        found["openmpi"] = openmpi
    else:
        progress(" NOT MEASURED: openmpi, which is not installed (Debian's openmpi-bin and libopenmpi-dev)")
    return found


def run(side, ranks, seconds, sizes):
    # mpirun refuses to run as root unless told twice.
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return measure.run(side(ranks, seconds, sizes), ranks=ranks, environment=environment)[0]


def check(found, ranks, sizes):
    """Raises measure.BenchError unless every rank of every side has the same results."""
    expected = None
    for name, side in found.items():
        for rank, reported in enumerate(run(side, ranks, 0, sizes)):
            expected = expected or reported["values"]
            for size in sizes:
                theirs = reported["values"].get(size)
                if theirs != expected[size]:
                    raise measure.BenchError(f"{size} bytes on {ranks} ranks: rank {rank} of {name} has {theirs}, rank 0 "
                                             f"of ours {expected[size]}")


def times(side, ranks, sizes):
    """Of each size, of the slower rank, in microseconds."""
    reports = run(side, ranks, SECONDS, sizes)
    return {size: max(reported["us"][size] for reported in reports) for size in sizes}


def measure_case(found, ranks, layout, names, rounds, progress):
    sizes = [str(SIZES[name]) for name in names]
    check(found, ranks, sizes)
    results = measure.alternate({name: lambda side=side: times(side, ranks, sizes) for name, side in found.items()},
                                rounds, progress)
    entries = []
    for name, size in zip(names, sizes):
        of = {side: [run[size] for run in runs] for side, runs in results.items()}
        for peer in [side for side in found if side not in FRONT_ENDS]:
            for side, front_end in FRONT_ENDS.items():
                entries.append(report.entry(f"{name}-{layout}", of[side], of[peer], peer_name=peer,
                                            unit="us/all-reduce", ranks=ranks, threads=1, front_end=front_end))
    return entries


def own_runs(only):
    for ranks in RANKS:
        names = wanted(str(ranks), SIZES, only)
        if not names:
            continue

        def run_all():
            found = times(ours, ranks, [str(SIZES[name]) for name in names])
            return {f"{name}-{ranks}": found[str(SIZES[name])] for name in names}
        yield run_all, {f"{name}-{ranks}": ("us/all-reduce", False) for name in names}


def wanted(layout, sizes, only):
    return [name for name in sizes if not only or f"{name}-{layout}" in only]


def benchmark(rounds, progress, only=None):
    entries = []
    on_this_host = sides(progress)
    for ranks in RANKS:
        names = wanted(str(ranks), SIZES, only)
        if names:
            progress(f" {ranks} ranks")
            entries += measure_case(on_this_host, ranks, str(ranks), names, rounds, progress)
    for layout, (hosts, each) in HOSTS.items():
        names = wanted(layout, HOSTS_SIZES, only)
        found = hosts_sides(hosts, progress) if names else {}
        if found:
            progress(f" {layout} ranks on {hosts} hosts")
            entries += measure_case(found, hosts * each, layout, names, rounds, progress)
    return entries
