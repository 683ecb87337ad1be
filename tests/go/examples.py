"""Runs the Go examples as their users would.

    examples.py quickstart|allreduce|mnist_errors BIN
"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

bin_folder = pathlib.Path(sys.argv[2])
tandem = os.environ.get("TANDEM_TOOL", str(bin_folder / "tandem"))


def run(*command, code=0, timeout=240, **variables):
    print("+", *map(str, command), flush=True)
    environment = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
                          env=environment | variables)
    text = done.stdout.decode(errors="replace").replace("\r", "\n")
    print(text[-3000:], flush=True)
    if done.returncode != code:
        sys.exit(f"exit code {done.returncode}, not {code}")
    return text


def want(pattern, text):
    if not re.search(pattern, text):
        sys.exit(f"the output has nothing like {pattern}")


def quickstart(folder):
    run(bin_folder / "draw-digits", folder, "--train", "2000", "--test", "200", "--seed", "1")
    text = run(tandem, "run", "-n", "2", "--", bin_folder / "quickstart-go", folder, TMPDIR=str(folder))
    losses = [float(x) for x in re.findall(r"rank 0, epoch \d+: loss ([\d.]+)", text)]
    if len(losses) != 5 or losses[-1] > losses[0]:
        sys.exit(f"losses {losses}")
    want(r"rank 1, epoch 5", text)


def allreduce(folder):
    text = run(tandem, "run", "-n", "2", "--", bin_folder / "allreduce-go", folder / "meeting")
    for i in range(10):
        want(rf"all-reduce {i}: \[{20 * i + 1}( {20 * i + 1}){{3}}\]", text)
    want("give the path of a file", run(bin_folder / "allreduce-go", code=1))


def mnist_errors(folder):
    program = bin_folder / "mnist-go"
    launch = (tandem, "run", "-n", "2", "--", program, "--output", folder / "out", "--data")
    want("--data FOLDER", run(program, code=1))
    want("neither train.recordio", run(program, "--data", folder, code=1))
    want("WORLD_SIZE", run(program, "--data", folder, code=1, RANK="1"))
    want("--device is .gpu.", run(program, "--data", folder, "--device", "gpu", code=1))
    want("t10k-images-idx3-ubyte", run(*launch, folder, code=1))
    images, labels = folder / "t10k-images-idx3-ubyte", folder / "t10k-labels-idx1-ubyte"
    labels.write_bytes(struct.pack(">II", 2049, 10000) + bytes(10000))
    images.write_bytes(struct.pack(">IIII", 2052, 10000, 28, 28) + bytes(10000 * 784))
    want(f"{images}.*magic", run(*launch, folder, code=1))
    images.write_bytes(struct.pack(">IIII", 2051, 10000, 28, 28) + bytes(9999 * 784))
    want(str(images), run(*launch, folder, code=1))
    left = [p for p in (folder / "out").rglob("*") if p.is_file()]
    if left:
        sys.exit(f"files were left: {left}")


with tempfile.TemporaryDirectory() as temporary:
    globals()[sys.argv[1]](pathlib.Path(temporary))
