"""Where script/bench put things, and how each side is launched."""
import contextlib
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PEERS = os.path.join(ROOT, "tests", "bench", "peers")
# script/bench sets these; the defaults are what it sets when nothing else was asked for.
BUILD = os.environ.get("TANDEM_BENCH_BUILD", os.path.join(ROOT, "build", "release"))
PYTHON = os.environ.get("TANDEM_BENCH_PYTHON", os.path.join(ROOT, "build", "bench", "venv", "bin", "python"))
RESULTS = os.path.join(ROOT, "build", "bench")


def program(name):
    return os.path.join(BUILD, "bin", name)


@contextlib.contextmanager
def build(folder):
    """Within it, programs are those of another build."""
    global BUILD
    before, BUILD = BUILD, folder
    try:
        yield
    finally:
        BUILD = before


def beside(name):
    return os.path.join(ROOT, "tests", "bench", name)


def peer(name):
    return os.path.join(PEERS, name)


def tandem_run(ranks, *command, flags=()):
    return [program("tandem"), "run", "-n", str(ranks), *flags, "--", *command]


def torchrun(ranks, *command, python=True):
    """What the `torchrun` command of the peers' Python runs, wherever that Python is installed."""
    return [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks), "--master-port", free_port(),
            *([] if python else ["--no-python"]), *command]


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
