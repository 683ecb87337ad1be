"""Namespaces in which a test is alone, so that whatever a job leaves behind is seen: processes, listening sockets, shared memory."""
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hosts"))
import machines  # noqa: E402

PATIENCE = 60  # seconds, of all that recovers
PROGRAMS = ("unshare", "mount", "umount", "ip")
LISTENS = "0A"  # in /proc/net/tcp


class FaultError(Exception):
    pass


def eventually(done, what, patience=PATIENCE):
    """`what` may be a function that says it."""
    end = time.monotonic() + patience
    while not (found := done()):
        if time.monotonic() > end:
            raise FaultError(f"after {patience} s still not: {what() if callable(what) else what}")
        time.sleep(0.01)
    return found


def skip(why):
    print(f"SKIPPED: {why}", flush=True)
    sys.exit(machines.SKIPPED)


def enter(more=(), install="script/bootstrap"):
    """Returns in namespaces of this program's own, or ends it as skipped."""
    if gone := [name for name in (*PROGRAMS, *more) if not machines.shutil.which(name, path=machines.PATH)]:
        skip(f"not installed: {', '.join(gone)}; {install} installs them")
    os.environ["PATH"] = machines.PATH
    if not os.environ.get(machines.INSIDE):
        if why := machines.why_no_namespaces():
            skip(f"needs namespaces to see what is left behind, and cannot make any: {why}")
        machines.go_inside([sys.executable, "-B", *sys.argv])
    call("ip", "link", "set", "lo", "up")
    call("mount", "-t", "tmpfs", "none", "/dev/shm")


def call(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=PATIENCE)
    if done.returncode:
        raise FaultError(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}")


def draw():
    """Random numbers from a seed that is printed; TANDEM_FAULT_SEED=N for one that was."""
    seed = int(os.environ.get("TANDEM_FAULT_SEED") or int.from_bytes(os.urandom(4), "little"))
    print(f"TANDEM_FAULT_SEED={seed}", flush=True)
    return random.Random(seed)


def state_of(pid):
    """R, S, T (stopped), Z (has ended) …; "" where there is none."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def is_alive(pid):
    return state_of(pid) not in ("", "Z", "X")


def kill(pid, number=signal.SIGKILL):
    """Of one that may have ended meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def children_of(pid):
    try:
        return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return []


def listening():
    found = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENS:
                found.append(f"port {int(words[1].rpartition(':')[2], 16)}")
    for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]:
        if len(words := line.split(maxsplit=7)) == 8:
            found.append(f"socket {words[7]}")
    return found


class Before:
    """What is there, so that what a job left is told from it."""

    def __init__(self):
        self.processes, self.sockets = set(self.all_processes()), set(listening())

    @staticmethod
    def all_processes():
        return [entry.name for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit() and is_alive(entry.name)]

    def left(self):
        found = []
        for pid in self.all_processes():
            if pid not in self.processes:
                try:
                    found.append(f"process {pid}: " + pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
                except OSError:
                    pass
        found += [socket for socket in listening() if socket not in self.sockets]
        # libfaketime's own stays with a killed process.
        found += [f"/dev/shm/{entry.name}" for entry in pathlib.Path("/dev/shm").iterdir() if "faketime" not in entry.name]
        return found


class Folder:
    """A temporary folder, for all of a test's files."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="tandem-fault-"))
        self.count = 0

    def new(self, name):
        self.count += 1
        folder = self.path / f"{name}{self.count}"
        folder.mkdir()
        return folder

    def remove(self):
        machines.shutil.rmtree(self.path, ignore_errors=True)


def end(process):
    """Of a Popen."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()
