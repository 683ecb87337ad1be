"""How the tests of examples start a program, and look at what it prints."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

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


def killed_once(command, after, timeout=300):
    """The same of a launch; the second of its workers is killed once it has printed that."""
    print("+", " ".join(map(str, command)), flush=True)
    environment = {"OMP_NUM_THREADS": "1"} | {name: value for name, value in os.environ.items() if name not in LAUNCHER}
    launch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    limit = threading.Timer(timeout, launch.kill)
    limit.start()
    lines, killed = [], False
    try:
        for line in launch.stdout:
            lines.append(line.decode(errors="replace").replace("\r", "\n"))
            if not killed and after in lines[-1]:
                killed = True
                os.kill(worker_of(launch.pid, 1), signal.SIGKILL)
        code = launch.wait()
    finally:
        limit.cancel()
        launch.terminate()  # where this ends early; it ends its workers
        launch.wait(60)
    text = "".join(lines)
    print("\n".join(line for line in text.splitlines() if "% |" not in line)[-4000:], flush=True)
    if code or not killed:
        sys.exit(f"exit code {code}, killed: {killed}")
    return text


def worker_of(launcher, member):
    """The process that a launcher started as that member: one of its descendants that say so."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            ancestor = int(entry.name)
            while ancestor > 1 and ancestor != launcher:
                ancestor = int((pathlib.Path("/proc") / str(ancestor) / "stat").read_text().rsplit(")", 1)[1].split()[1])
            told = f"TANDEM_MEMBER={member}".encode() in (entry / "environ").read_bytes().split(b"\0")
        except (OSError, IndexError):
            continue  # it has ended
        if ancestor == launcher and told:
            return int(entry.name)
    sys.exit(f"no process says that it is member {member}")


def only(pattern, text):
    """All that is found of a pattern, which is something."""
    found = re.findall(pattern, text)
    if not found:
        sys.exit(f"the output has nothing like {pattern}")
    return found
