"""Slurm takes a node away while a job trains: slurm_test.py TANDEM ELASTIC_PROGRAM"""
import pathlib
import signal
import sys
import unittest

import alone
import training

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "schedulers"))
import cluster as slurm  # noqa: E402

CLUSTER = None  # set below
STEPS = 150
# Node 0's agent listens. Each node has a folder, as it would on machines.
AGENT = """export TMPDIR="$0/$SLURM_NODEID/tmp"; mkdir -p "$TMPDIR"; host=$([ $SLURM_NODEID = 0 ] && echo true || echo false)
"$1" run -n 1 --nnodes 1:2 --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:$2 \\
  --rdzv-conf keep_alive_interval=1,last_call_timeout=0,join_timeout=30,is_host=$host -- "$3" "$0/$SLURM_NODEID" {settings}
code=$?; echo $code > "$0/$SLURM_NODEID/code"; exit $code"""


def setUpModule():
    global CLUSTER
    CLUSTER = slurm.Cluster(2).__enter__()


def tearDownModule():
    CLUSTER.__exit__()


class Node(training.Training):
    """What a node's part of the job wrote."""

    def __init__(self, folder, said):  # pylint: disable=super-init-not-called
        self.folder, self.output = folder, said

    said = property(lambda self: self.output.read_text(errors="replace"))


class NodeDown(training.FaultTest):
    def lose_a_node(self, backend):
        folder = self.folder.new("slurm")
        folder.chmod(0o755)
        [port] = slurm.free_ports(1)
        script = AGENT.format(settings=f"BACKEND={backend} STEPS={STEPS} PAUSE=100")
        with open(folder / "said", "wb") as said:
            step = alone.subprocess.Popen(
                ["srun", "--no-kill", "--kill-on-bad-exit=0", "--nodes=2", "--ntasks-per-node=1", "sh", "-c", script, folder, training.TANDEM,
                 str(port), training.PROGRAM], stdin=alone.subprocess.DEVNULL, stdout=said, stderr=said, env=CLUSTER.environment())
        kept, lost = (Node(folder / str(number), folder / "said") for number in (0, 1))
        try:
            alone.eventually(lambda: step.poll() is not None or lost.trains() and kept.step() > 8, lambda: f"both train: {kept.said}")
            CLUSTER.run(["scontrol", "update", "NodeName=127.0.0.2", "State=DOWN", "Reason=test"])
            alone.eventually(lambda: step.poll() is not None or "now 1 rank, from step" in kept.said, lambda: f"one goes on: {kept.said}")
            (kept.folder / "hurry").touch()
            alone.eventually(lambda: step.poll() is not None, lambda: f"its end: {kept.said}")
        finally:
            alone.end(step)
            CLUSTER.run(["scontrol", "update", "NodeName=127.0.0.2", "State=RESUME"], check=False)  # it may be back by itself
        self.assertIn("now 1 rank, from step", kept.said)
        self.assertEqual(kept.text("code"), "0\n", kept.said)
        self.assertIn("world 1", kept.results()[0])
        self.assert_trained([kept, lost], STEPS)
        alone.eventually(lambda: not alone.machines.processes_with(str(folder)), lambda: f"nobody is left: {alone.machines.processes_with(str(folder))}")
        # Slurm killed all of its node, and waits for nobody; a shell that it kills last has seen its agent die.
        self.assertIn(lost.text("code"), ("", f"{128 + signal.SIGKILL}\n"))
        self.assertEqual(list((kept.folder / "tmp").iterdir()), [])
        alone.eventually(lambda: port not in self.ports(), lambda: f"port {port} is free again")

    @staticmethod
    def ports():
        return {int(found.split()[1]) for found in alone.listening() if found.startswith("port ")}

    def test_on_gloo(self):
        self.lose_a_node("gloo")

    def test_on_shm(self):
        self.lose_a_node("shm")


if __name__ == "__main__":
    if gone := slurm.missing():
        alone.skip(f"Slurm is not installed ({', '.join(gone)}); script/bootstrap --schedulers installs it")
    unittest.installHandler()
    training.main(sys.argv)
