"""Of `startup`: agents of many nodes that meet by a real etcd, all on this machine."""
import base64
import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

from . import measure, places, report

AGENTS = 512
MOST = 5.0  # seconds


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextlib.contextmanager
def etcd():
    """Its HOST:PORT; its data is in memory."""
    if not shutil.which("etcd"):
        raise measure.BenchError("etcd is not installed, in which agents meet: script/bootstrap --schedulers installs it")
    place, peer = f"127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        server = subprocess.Popen(["etcd", "--name", "one", "--data-dir", folder + "/data", "--listen-client-urls", f"http://{place}",
                                   "--advertise-client-urls", f"http://{place}", "--listen-peer-urls", peer,
                                   "--initial-advertise-peer-urls", peer, "--initial-cluster", f"one={peer}", "--log-level", "error"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 20
            while True:
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", int(place.split(":")[1]))) == 0:
                        break
                if time.monotonic() > end or server.poll() is not None:
                    raise measure.BenchError("etcd does not answer")
                time.sleep(0.05)
            yield place
        finally:
            server.kill()
            server.wait()


def has_key(place, key):
    asked = json.dumps({"key": base64.b64encode(key.encode()).decode()}).encode()
    with urllib.request.urlopen(f"http://{place}/v3/kv/range", asked, 10) as answer:
        return "kvs" in json.load(answer)


def once(place, job):
    [result], _ = measure.run([places.program("bench-rendezvous"), str(AGENTS), place, job], ranks=1, timeout=150)
    return result["seconds"]


def benchmark(rounds, progress):
    with etcd() as place:
        once(place, "first")  # its connections and pages
        seconds = [once(place, f"job{number}") for number in range(rounds)]
    progress("  " + ", ".join(f"{each:.2f}" for each in seconds) + " s")
    return [report.entry(f"rendezvous-{AGENTS}", seconds, [MOST] * rounds, peer_name="the limit", unit="s", ranks=AGENTS, threads=1,
                         front_end="cpp")]
