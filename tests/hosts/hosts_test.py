"""`tandem run -H` over two machines, by a real ssh: hosts_test.py TANDEM ELASTIC_PROGRAM"""
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

import machines as two

TANDEM = PROGRAM = MACHINES = None  # set below


def setUpModule():
    global MACHINES
    MACHINES = two.Machines().__enter__()


def tearDownModule():
    MACHINES.__exit__()


class Job:
    """A `tandem run` in a folder of its own, or below it, with its output in files there."""
    count = 0

    def __init__(self, flags, program, on=None, ssh=None, environment=None, prepare=None):
        Job.count += 1
        self.folder = MACHINES.folder / f"job{Job.count}"
        self.folder.mkdir()
        folder = prepare(self.folder) if prepare else self.folder
        words = MACHINES.inside(on, folder) if on else []
        words += [TANDEM, "run", "--ssh-args", " ".join(ssh or MACHINES.ssh_words()), *flags, "--", *program]
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            self.process = subprocess.Popen([str(word) for word in words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=err, env=os.environ | {"PATH": two.PATH} | (environment or {}))

    out = property(lambda self: (self.folder / "out").read_text(errors="replace"))
    err = property(lambda self: (self.folder / "err").read_text(errors="replace"))

    def wait(self):
        return self.process.wait(two.PATIENCE)

    def says(self, text, times=1):
        two.eventually(lambda: self.out.count(text) >= times or self.process.poll() is not None, f"{text!r} in its output")


def run(*arguments, **options):
    job = Job(*arguments, **options)
    return job.wait(), job.out, job.err


PLACE = ["sh", "-c", "echo $RANK of $WORLD_SIZE local $LOCAL_RANK node $GROUP_RANK on $(hostname) at $MASTER_ADDR in $PWD"]


def places(folder, ranks, at):
    world = len(ranks)
    return [f"[{rank}] {rank} of {world} local {local} node {node} on {host} at {at} in {folder}"
            for rank, (local, node, host) in enumerate(ranks)]


class Hosts(unittest.TestCase):
    def test_each_has_its_slots(self):
        job = Job(["-H", "alpha:2,beta"], PLACE)
        self.assertEqual(job.wait(), 0, job.err)
        expected = places(job.folder, [(0, 0, "alpha"), (1, 0, "alpha"), (0, 1, "beta")], "10.77.0.1")
        self.assertEqual(sorted(job.out.splitlines()), expected)
        self.assertEqual(job.err, "")

    def test_the_order_is_that_of_a_hostfile(self):
        hostfile = MACHINES.folder / "hosts"
        hostfile.write_text("# the fast one first\n10.77.0.2 slots=2\nalpha:1  # and this\n")
        job = Job(["--hostfile", hostfile], PLACE)
        self.assertEqual(job.wait(), 0, job.err)
        expected = places(job.folder, [(0, 0, "beta"), (1, 0, "beta"), (0, 1, "alpha")], "10.77.0.2")
        self.assertEqual(sorted(job.out.splitlines()), expected)

    def test_one_of_them_may_be_this_machine(self):
        for flags, ranks in ((["-H", "localhost,beta"], [(0, 0, "alpha"), (0, 1, "beta")]),
                             (["-H", "alpha,beta"], [(0, 0, "alpha"), (0, 1, "beta")]),
                             (["-H", "beta,10.77.0.1"], [(0, 0, "beta"), (0, 1, "alpha")])):
            with self.subTest(flags=flags):
                job = Job(flags, PLACE, on="alpha")
                self.assertEqual(job.wait(), 0, job.err)
                at = "10.77.0.1" if ranks[0][2] == "alpha" else "10.77.0.2"
                self.assertEqual(sorted(job.out.splitlines()), places(job.folder, ranks, at))

    def test_variables_and_arguments_arrive_as_they_are(self):
        odd = "it's $HOME `id` \"x\" \\ ! * ü"
        script = 'printf "%s|%s|%s\\n" "$GREETING" "${OTHER-none}" "$1"'
        code, out, err = run(["-H", "beta", "-x", "GREETING"], ["sh", "-c", script, "-", odd], environment={"GREETING": odd, "OTHER": "1"})
        self.assertEqual(code, 0, err)
        self.assertEqual(out, f"[0] {odd}|none|{odd}\n")

    def test_tandem_may_be_elsewhere_there(self):
        odd = MACHINES.folder / "it's $HERE"
        odd.mkdir()
        (odd / "tandem").symlink_to(TANDEM)
        code, out, err = run(["-H", "beta", "--remote-tandem", odd / "tandem"], ["hostname"])
        self.assertEqual((code, out), (0, "[0] beta\n"), err)

    def test_output_comes_while_the_job_runs(self):
        job = Job(["-H", "alpha,beta"], ["sh", "-c", f"echo first; until [ -e {MACHINES.folder}/go-on ]; do sleep 0.02; done; echo last >&2"])
        job.says("first", 2)
        self.assertNotIn("last", job.err)
        (MACHINES.folder / "go-on").touch()
        self.assertEqual(job.wait(), 0)
        self.assertEqual(job.err.count("last"), 2)


class Failures(unittest.TestCase):
    def test_the_code_of_the_rank_that_failed_is_the_jobs(self):
        for rank in (0, 2):
            with self.subTest(rank=rank):
                code, _, err = run(["-H", "alpha:2,beta"], ["sh", "-c", f"[ $RANK = {rank} ] && {{ echo no paper >&2; exit 7; }}; exec sleep 1000"])
                self.assertEqual(code, 7, err)
                self.assertRegex(err, f"rank {rank} .* on {'beta' if rank == 2 else 'alpha'}, which exited with code 7")
                self.assertTrue(err.endswith("tandem:   no paper\n"), err)

    def test_a_signal_reaches_all_ranks(self):
        job = Job(["-H", "alpha:2,beta"], ["sh", "-c", "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done"])
        job.says("up", 3)
        job.process.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(), 128 + signal.SIGTERM, job.err)
        self.assertEqual(job.out.count("bye"), 3, job.out)

    def test_nobody_is_left_when_it_is_killed(self):
        job = Job(["-H", "alpha:2,beta:2"], ["sh", "-c", "echo up; exec sleep 1234567"])
        job.says("up", 4)
        self.assertEqual(len(two.processes_with("1234567")), 4 + 1, "the ranks and the command")
        job.process.kill()
        job.wait()
        two.eventually(lambda: not two.processes_with("1234567"), "the ranks have ended")
        two.eventually(lambda: not two.processes_with("--agent-setup"), "the agents have ended")

    def test_a_host_that_cannot_be_had_is_named_and_ends_the_others(self):
        nowhere = MACHINES.folder / "no-tandem"
        to_desk = [*MACHINES.ssh_words(), "-o", f"HostName={two.DESK}"]  # where no sshd is
        for host, flags, ssh, code, why in (
                ("no-such-host.invalid", [], None, 255, "ssh to no-such-host.invalid failed: .*resolve"),
                ("desk.invalid", [], to_desk, 255, "ssh to desk.invalid failed: .*refused"),
                ("beta", [], MACHINES.ssh_words("ssh_config.stranger"), 255, "ssh to beta failed: .*Permission denied"),
                ("beta", [], MACHINES.ssh_words("ssh_config.unknown"), 255, "ssh to beta failed: .*verification failed"),
                ("beta", ["--remote-tandem", nowhere], None, 127, f"beta cannot run {nowhere}: .*not found")):
            with self.subTest(why=why):
                job = Job(["-H", f"localhost,{host}", *flags], ["sleep", "1000"], on="alpha", ssh=ssh)
                self.assertEqual(job.wait(), code, job.err)
                self.assertRegex(job.err.splitlines()[-1], why)

    def test_a_folder_that_a_host_has_not_is_named(self):
        def only_here(folder):
            MACHINES.call(*MACHINES.inside("beta"), "mount", "-t", "tmpfs", "none", folder)
            (folder / "work").mkdir()
            return folder / "work"
        job = Job(["-H", "alpha,beta"], ["true"], prepare=only_here)
        self.assertEqual(job.wait(), 1, job.err)
        self.assertIn(f"tandem: beta has no folder {job.folder}/work in which", job.err)

    def test_a_port_that_is_taken_is_named_with_what_to_do(self):
        listens = "import socket, time; s = socket.create_server(('10.77.0.1', 29411)); print('listens', flush=True); time.sleep(1000)"
        with subprocess.Popen([*MACHINES.inside("alpha"), sys.executable, "-c", listens], stdout=subprocess.PIPE) as taker:
            taker.stdout.readline()
            code, _, err = run(["-H", "alpha,beta", "--rdzv-endpoint", "10.77.0.1:29411"], ["true"])
            taker.kill()
        self.assertEqual(code, 1, err)
        self.assertRegex(err, "in use.*29411.*choose another place by --rdzv-endpoint")


def parameters(result):
    return [float.fromhex(line) for line in result.splitlines() if "0x" in line]


def train(flags, *settings, ssh=None):
    """The job, and the folder in which its program writes."""
    folder = MACHINES.folder / f"training{Job.count + 1}"
    folder.mkdir()
    job = Job([*flags, "-x", "OMP_NUM_THREADS"], [PROGRAM, folder, *settings], ssh=ssh, environment={"OMP_NUM_THREADS": "1"})
    return job, folder


class Training(unittest.TestCase):
    undisturbed = {}  # by steps

    def alone(self, steps):
        if steps not in self.undisturbed:
            job, folder = train(["-H", "localhost"], f"STEPS={steps}")
            self.assertEqual(job.wait(), 0, job.err)
            self.undisturbed[steps] = parameters((folder / "result.0").read_text())
        return self.undisturbed[steps]

    def assert_close(self, result, steps):
        expected = self.alone(steps)
        self.assertTrue(expected)
        got = parameters(result)
        self.assertEqual(len(got), len(expected))
        for one, other in zip(got, expected):
            self.assertAlmostEqual(one, other, delta=1e-12)


class Elastic(Training):
    def test_trains_as_one_process_would(self):
        for backend in ("gloo", "shm"):
            with self.subTest(backend=backend):
                job, folder = train(["-H", "alpha:2,beta:1"], f"BACKEND={backend}")
                self.assertEqual(job.wait(), 0, job.err)
                results = [(folder / f"result.{rank}").read_text() for rank in range(3)]
                self.assertEqual(results, results[:1] * 3)
                self.assertIn("world 3", results[0])
                self.assert_close(results[0], 40)

    def test_takes_in_a_machine_that_is_found_later(self):
        found = MACHINES.folder / "found"
        found.write_text("alpha:1\n")
        job, folder = train(["--host-discovery-script", f"cat {found}", "--nnodes", "1:2", "--rdzv-conf", "last_call_timeout=0"],
                            "STEPS=300", "PAUSE=40")
        steps = folder / "steps"
        two.eventually(lambda: steps.exists() and len(steps.read_text().splitlines()) > 10, f"steps: {job.err}")
        found.write_text("alpha:1\nbeta:2\n")
        self.assertEqual(job.wait(), 0, job.err)
        self.assertIn("beta is there, and gets an agent", job.err)
        self.assertIn("now 3 ranks, from step", job.err)
        self.assertIn("world 3", (folder / "result.2").read_text())
        self.assert_close((folder / "result.0").read_text(), 300)

    def test_goes_on_without_a_machine_that_is_cut_off(self):
        job, folder = train(["-H", "alpha:2,beta:1", "--nnodes", "1:2", "--rdzv-conf", "keep_alive_interval=1"], "STEPS=120", "PAUSE=40",
                            "TIMEOUT=5000", ssh=[*MACHINES.ssh_words(), "-o", "ServerAliveInterval=1"])
        steps = folder / "steps"
        two.eventually(lambda: steps.exists() and len(steps.read_text().splitlines()) > 10, f"steps: {job.err}")
        try:
            MACHINES.cut_off("beta")
            self.assertEqual(job.wait(), 0, job.err)
        finally:
            MACHINES.join_again("beta")
        self.assertIn("now 2 ranks, from step", job.err)
        self.assertIn("ssh to beta failed", job.err)
        self.assert_close((folder / "result.0").read_text(), 120)
        two.eventually(lambda: not two.processes_with("--agent-setup"), "the agent of beta has ended")


@unittest.skipUnless(shutil.which("etcd"), "needs etcd (script/bootstrap --schedulers installs it)")
class ByEtcd(Training):
    """Agents that elect who keeps the membership."""
    FLAGS = ["-H", "alpha,beta", "--nnodes", "1:2", "--rdzv-backend", "etcd", "--rdzv-conf", "lease_ttl=2,keep_alive_interval=1"]

    def start_etcd(self, port):
        etcd = two.Etcd(MACHINES.folder, port)
        self.addCleanup(etcd.end)
        return etcd

    def test_goes_on_without_the_host_that_kept_the_membership(self):
        etcd = self.start_etcd(2379)
        flags = [*self.FLAGS, "--rdzv-endpoint", etcd.endpoint, "--rdzv-id", "job", "--max-restarts", "1"]
        job, folder = train(flags, "STEPS=200", "PAUSE=100", "FAULTS=kill-forward@5/0")
        two.eventually(lambda: "now 2 ranks, from step" in job.err or job.process.poll() is not None, f"another worker: {job.err}")
        elected = json.loads(etcd.get("/tandem/job/keeper"))["address"]
        MACHINES.kill_agent({"10.77.0.1": "alpha", "10.77.0.2": "beta"}[elected])
        two.eventually(lambda: "now 1 rank, from step" in job.err or job.process.poll() is not None, f"the other goes on: {job.err}")
        (folder / "hurry").touch()
        self.assertEqual(job.wait(), 0, job.err)
        self.assertIn("this agent keeps the job's membership now", job.err)
        self.assert_close((folder / "result.0").read_text(), 200)
        self.assertEqual(etcd.get("/tandem/job/epoch"), "over")

    def test_the_code_of_a_rank_that_a_signal_ends_counts(self):
        etcd = self.start_etcd(2399)
        folder = MACHINES.folder / "killed"
        folder.mkdir()
        # Once it has trained; the other host's rank ends well, and later.
        program = f"{PROGRAM} {folder} || exit; [ $GROUP_RANK = 0 ] && exec sleep 1; kill -KILL $$"
        job = Job([*self.FLAGS, "--rdzv-endpoint", etcd.endpoint], ["sh", "-c", program])
        self.assertEqual(job.wait(), 128 + signal.SIGKILL, job.err)
        self.assertNotIn("tandem-agent-ends", job.err)

    @unittest.skipUnless(shutil.which("etcdctl"), "needs etcdctl (script/bootstrap --schedulers installs it)")
    def test_agents_sign_in_as_the_command_does(self):
        etcd = self.start_etcd(2389)
        control = ["etcdctl", "--endpoints", etcd.endpoint]
        MACHINES.call(*control, "user", "add", "root:secret-word", env=os.environ | {"ETCDCTL_API": "3"})
        MACHINES.call(*control, "auth", "enable", env=os.environ | {"ETCDCTL_API": "3"})
        gate = MACHINES.folder / "signed-in"
        job = Job([*self.FLAGS, "--rdzv-endpoint", etcd.endpoint],
                  ["sh", "-c", f"echo of $WORLD_SIZE; env | grep secret[-]word; until [ -e {gate} ]; do sleep 0.02; done"],
                  environment={"ETCDCTL_USER": "root", "ETCDCTL_PASSWORD": "secret-word"})
        job.says("of 2", 2)
        self.assertEqual(two.processes_with("secret-word"), [], "it is in no command line")
        gate.touch()
        self.assertEqual(job.wait(), 0, job.err)
        self.assertEqual(sorted(job.out.splitlines()), ["[0] of 2", "[1] of 2"])


if __name__ == "__main__":
    two.enter()
    TANDEM, PROGRAM = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
