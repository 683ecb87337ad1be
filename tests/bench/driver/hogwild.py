"""`hogwild`: samples that two processes train on the same parameters, without locks, against those of one process; and what the
example comes to on MNIST's digits, where they are."""
import os
import re
import tempfile

from . import ddp_step, measure, places, report

PROCESSES, BATCH = 2, 64
SPEEDUP = 1.6  # at least
ACCURACY, EPOCHS = 97.0, 5
DIGITS = os.environ.get("TANDEM_TEST_DATA", os.path.join(places.ROOT, "../shared/data"))


def samples_a_second(processes, folder):
    more = ["--bare", *(["--shared"] if processes > 1 else [])]
    command = places.tandem_run(processes, places.program("bench-ddp-step"), "--model", "cnn", "--data", folder, "--exchange", "none",
                                "--warmup", str(ddp_step.WARMUP), "--steps", str(ddp_step.STEPS["cnn"]), *more,
                                flags=["--shared-parameters"] if processes > 1 else [])
    reports, _ = measure.run(command, ranks=processes)
    return sum(BATCH * 1000 / values["step_ms"] for values in reports)


def accuracy(digits, folder):
    """Of the parameters at the end, as the process that ended last has seen it."""
    command = places.tandem_run(PROCESSES, places.program("hogwild-go"), "--data", digits, "--output", folder, "--epochs", str(EPOCHS),
                                flags=["--shared-parameters"])
    text = measure.run_tool(*command, timeout=600, environment={"OMP_NUM_THREADS": "1"})
    return float(re.findall(r"test accuracy ([\d.]+) %", text)[-1])


def benchmark(rounds, progress, only=None):
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        if not only or "cnn" in only:
            ddp_step.Model("cnn", folder, PROCESSES)
            results = measure.alternate({"two": lambda: samples_a_second(PROCESSES, folder), "one": lambda: samples_a_second(1, folder)},
                                        rounds, progress)
            entries.append(report.entry("cnn", results["two"], results["one"], peer_name="one-process", unit="samples/s",
                                        ranks=PROCESSES, threads=1, rate=True))
            progress(f"  cnn: {1 / entries[-1]['ratio']:.2f} times one process; at least {SPEEDUP} is wanted")
        if not only or "mnist" in only:
            digits = os.path.join(DIGITS, "mnist10k")
            if not os.path.isdir(digits):
                progress(f"  mnist: SKIPPED, no digits in {digits}; TANDEM_TEST_DATA names the folder that has them")
            else:
                found = measure.alternate({"two": lambda: accuracy(digits, folder)}, rounds, progress)["two"]
                entries.append(report.entry("mnist", found, [ACCURACY] * len(found), peer_name="wanted", unit="% of digits",
                                            ranks=PROCESSES, threads=1, rate=True))
    return entries
