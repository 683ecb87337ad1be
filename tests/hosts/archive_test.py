"""docs/two-machines.md from the archive to a trained model: each machine has a prefix of its own, and nothing of a developer's.

    archive_test.py SOURCE PRESET
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import machines as two

SOURCE = PRESET = MACHINES = None  # set below
TRAINING = ["bin/mnist-go", "--data", "digits", "--epochs", "2", "--batch-size", "16"]


def setUpModule():
    global MACHINES
    MACHINES = two.Machines().__enter__()
    archive = MACHINES.folder / "tandem.tar"  # not compressed: that takes longer than all the rest
    run([SOURCE / "script/package", "--no-build", "--preset", PRESET, "--output", archive], environment=os.environ)
    for name in two.NAMES:
        # Its own /opt; and no checkout, for who looks.
        for folder in ("/opt", SOURCE):
            MACHINES.call(*MACHINES.inside(name), "mount", "-t", "tmpfs", "none", folder)
        run(["scp", *MACHINES.ssh_words(), archive, f"{name}:/opt/tandem.tar"])
        ssh(name, "mkdir -p /opt/tandem && tar -xf /opt/tandem.tar -C /opt/tandem --strip-components=1 && rm /opt/tandem.tar")
        ssh(name, "cd /opt/tandem && bin/draw-digits digits --train 3000 --test 500")  # fewer than the page: the job takes seconds
    archive.unlink()


def tearDownModule():
    MACHINES.__exit__()


def plain_environment():
    """What somebody has who logged in: none of what script/environment sets."""
    return {"PATH": two.PATH, "HOME": str(MACHINES.folder / "home")}


def run(words, environment=None):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False, timeout=240, env=environment or plain_environment())
    if done.returncode:
        raise two.MachinesError(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def ssh(name, command):
    return run(["ssh", *MACHINES.ssh_words(), "-o", "BatchMode=yes", name, command])


class Archive(unittest.TestCase):
    def assert_trained(self, output):
        accuracies = re.findall(r"epoch 2/2.*?([\d.]+) ?%", output)
        self.assertTrue(accuracies, output)
        self.assertGreater(float(accuracies[-1]), 80, output)  # in percent; by chance 10
        self.assertIn("equal on all 4 ranks", output)

    def test_the_doctor_finds_all_well(self):
        words = [*MACHINES.inside("alpha", "/opt/tandem"), "bin/tandem", "doctor", "--ssh-args", " ".join(MACHINES.ssh_words()), "-H", "alpha,beta"]
        said = run(words)
        self.assertRegex(said, r"(?m)^libtandem +ok +\S+, /opt/tandem/\S+: it belongs to this tool\n", said)
        self.assertTrue(said.endswith("\nall is well\n"), said)

    def test_one_command_trains_on_both(self):
        words = [*MACHINES.inside("alpha", "/opt/tandem"), "bin/tandem", "run", "--ssh-args", " ".join(MACHINES.ssh_words()),
                 "-H", "alpha:2,beta:2", "--", *TRAINING]
        self.assert_trained(run(words))

    def test_one_command_on_each_trains_on_both(self):
        agents = {}
        for name in two.NAMES:
            words = [*MACHINES.inside(name, "/opt/tandem"), "bin/tandem", "run", "-n", "2", "--nnodes", "2", "--rdzv-backend", "c10d",
                     "--rdzv-endpoint", "10.77.0.1:29400", "--", *TRAINING]
            with open(MACHINES.folder / f"{name}.out", "wb") as out:
                agents[name] = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out,
                                                stderr=subprocess.STDOUT, env=plain_environment())
        said = {}
        for name, agent in agents.items():
            code = agent.wait(240)
            said[name] = (MACHINES.folder / f"{name}.out").read_text(errors="replace")
            self.assertEqual(code, 0, said[name])
        self.assert_trained(said["alpha"])


if __name__ == "__main__":
    two.enter(("scp", "tar"))
    SOURCE, PRESET = pathlib.Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
