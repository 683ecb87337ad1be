"""How the tests of examples start a program, and look at what it prints."""
import os
import re
import subprocess
import sys

LAUNCHER = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


def run(command, code=0, timeout=900):
    """What the program prints, on both streams; ends the test where it exits with another code."""
    print("+", " ".join(map(str, command)), flush=True)
    # One thread a rank: quick where other tests run beside, and the same bits on every machine of a kind.
    environment = {"OMP_NUM_THREADS": "1"} | {name: value for name, value in os.environ.items() if name not in LAUNCHER}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, env=environment)
    text = done.stdout.decode(errors="replace").replace("\r", "\n")
    print("\n".join(line for line in text.splitlines() if "%|" not in line and "% |" not in line)[-6000:], flush=True)
    if done.returncode != code:
        sys.exit(f"exit code {done.returncode}")
    return text


def only(pattern, text):
    """All that is found of a pattern, which is something."""
    found = re.findall(pattern, text)
    if not found:
        sys.exit(f"the output has nothing like {pattern}")
    return found
