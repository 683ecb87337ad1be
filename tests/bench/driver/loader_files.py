"""Cases of `loader` that read files on one core: every record of 28 × 28 bytes and a label, and every checksum."""
import os
import shutil
import statistics
import subprocess
import tempfile

from . import measure, places, report

CASES = ("v1-read-crc", "v2-read-crc")
RECORDS, PASSES = 60_000, 20
# A checkout of github.com/wangkuiyi/recordio, where Go's proxy does not have the module.
GO_RECORDIO = "TANDEM_BENCH_GO_RECORDIO"


def sides(case, folder, progress):
    """What runs each side; "ours" comes first. Makes the files."""
    ours = places.program("bench-record-read")
    measure.run_tool(ours, "make", folder, str(RECORDS))
    if case == "v1-read-crc":
        file = os.path.join(folder, "v1.recordio")
        original = build_go_recordio(progress)
        return {"ours": [ours, "read", file], **({"go-recordio": [original, file]} if original else {})}
    script, file = places.peer("record_read.py"), os.path.join(folder, "arrayrecord")
    measure.run_tool(places.PYTHON, script, "make", os.path.join(folder, "records.bin"), file)
    return {"ours": [ours, "read", os.path.join(folder, "v2.recordio")],
            "array_record": [places.PYTHON, script, "read", file]}


def own_runs(case):
    file = {"v1-read-crc": "v1.recordio", "v2-read-crc": "v2.recordio"}[case]
    with tempfile.TemporaryDirectory() as folder:
        measure.run_tool(places.program("bench-record-read"), "make", folder, str(RECORDS))
        yield (lambda: {case: run([places.program("bench-record-read"), "read", os.path.join(folder, file)])
                        ["records_per_s"] / 1e6}, {case: ("M records/s", True)})


def build_go_recordio(progress):
    """Where the peer's program is, or None where its source cannot be had."""
    folder = os.path.join(places.RESULTS, "gorecordio")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(places.beside("gorecordio"), folder)
    checkout, module = os.environ.get(GO_RECORDIO), "github.com/wangkuiyi/recordio"
    edits = [["go", "mod", "edit", f"-replace={module}={checkout}"]] if checkout else \
        [["go", "mod", "edit", f"-droprequire={module}"], ["go", "get", module]]
    for command in [*edits, ["go", "mod", "tidy"], ["go", "build", "-o", "bench-go-recordio", "."]]:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            if checkout:
                raise measure.BenchError(f"{' '.join(command)}: {done.stderr[-2000:]}")
            progress(f"  LEFT OUT: the peer go-recordio. Go's proxy does not have {module}; set {GO_RECORDIO} to a "
                     "checkout of it")
            return None
    return os.path.join(folder, "bench-go-recordio")


def run(command):
    [result], _ = measure.run(["taskset", "-c", "0", *command, str(PASSES)], ranks=1)
    return result


def compare(case, results):
    """Raises measure.BenchError unless all sides read the same."""
    ours = results["ours"]
    for side, theirs in results.items():
        for what in ("records", "labels", "bytes"):
            if theirs[what] != ours[what]:
                raise measure.BenchError(f"{case}: {side} read {theirs[what]} {what}, ours {ours[what]}")


def benchmark(case, rounds, progress):
    with tempfile.TemporaryDirectory() as folder:
        commands = sides(case, folder, progress)
        compare(case, {side: run(command) for side, command in commands.items()})
        rates = measure.alternate({side: lambda command=command: run(command)["records_per_s"] / 1e6
                                   for side, command in commands.items()}, rounds, progress)
    progress(f"  {statistics.median(rates['ours']):.2f} M records/s")
    return entries(case, rates)


def entries(case, rates):
    """None where there is no peer."""
    return [report.entry(case, rates["ours"], theirs, peer_name=peer, ranks=1, threads=1, unit="M records/s",
                         front_end="cpp", rate=True) for peer, theirs in rates.items() if peer != "ours"]
