"""Ranks and launches under a real Slurm: slurm_test.py TANDEM RANK GO_RANK"""
import os
import shutil
import signal
import subprocess
import sys
import unittest

import cluster as slurm

SKIPPED = 77
TANDEM = RANK = GO_RANK = CLUSTER = None


def setUpModule():
    global CLUSTER
    try:
        CLUSTER = slurm.Cluster(2).__enter__()
    except slurm.ClusterError as error:  # a Slurm that does not run several slurmd on a machine
        print(f"NOT TESTED: several nodes, for there is no Slurm with two here:\n{error}", flush=True)
        CLUSTER = slurm.Cluster(1).__enter__()


def tearDownModule():
    CLUSTER.__exit__()


def ranks(text):
    """The lines of the ranks, sorted."""
    found = (line[line.index("rank "):] for line in text.splitlines() if " sum " in line and "rank " in line)
    return sorted(found)


def expected(places, launcher, each=2):
    """`places`: (local rank, of, node) of each rank."""
    world = len(places)
    total = each * world * (world + 1) // 2
    return [f"rank {rank} of {world} local {local} of {size} node {node} by {launcher} sum {total}"
            for rank, (local, size, node) in enumerate(places)]


UNEVEN = [(0, 2, 0), (1, 2, 0), (0, 1, 1)]  # three ranks on two nodes
UNEVEN_OPTIONS = ["--nodes=2", "--ntasks=3", "--distribution=block"]
SQUARE = [(0, 2, 0), (1, 2, 0), (0, 2, 1), (1, 2, 1)]


def two_nodes(test):
    def run(self):
        if CLUSTER.nodes < 2:
            self.skipTest("needs two nodes")
        test(self)
    return run


class Srun(unittest.TestCase):
    """Programs that srun starts, without a launcher."""

    @two_nodes
    def test_ranks_find_each_other(self):
        done = CLUSTER.run(["srun", *UNEVEN_OPTIONS, RANK, "sum"])
        self.assertEqual(ranks(done.stdout), expected(UNEVEN, "Slurm"))

    @two_nodes
    def test_in_go(self):
        done = CLUSTER.run(["srun", *UNEVEN_OPTIONS, GO_RANK])
        self.assertEqual(ranks(done.stdout), expected(UNEVEN, "Slurm", each=1))

    def test_on_one_node_whatever_srun_offers_to_mpi(self):
        listed = CLUSTER.run(["srun", "--mpi=list"])
        plugins = {"none", "pmi2", "pmix"} & set((listed.stdout + listed.stderr).split())
        self.assertIn("none", plugins)
        for plugin in sorted(plugins):
            with self.subTest(mpi=plugin):
                done = CLUSTER.run(["srun", "--nodes=1", "--ntasks=2", f"--mpi={plugin}", RANK, "sum"], check=False)
                if "can not load PMIx library" in done.stderr:
                    self.skipTest(f"Slurm lists {plugin} but cannot load it: script/bootstrap --schedulers installs libpmix-dev")
                self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}\n{CLUSTER.logs()}")
                self.assertEqual(ranks(done.stdout), expected([(0, 2, 0), (1, 2, 0)], "Slurm"))

    def test_steps_of_a_job_do_not_meet(self):
        code, text = CLUSTER.batch(["--nodes=1", "--ntasks=4"], f"""
            srun --ntasks=2 --exact {RANK} sum & first=$!
            srun --ntasks=2 --exact {RANK} sum && wait $first""")
        self.assertEqual(code, 0, text)
        self.assertEqual(ranks(text), sorted(2 * expected([(0, 2, 0), (1, 2, 0)], "Slurm")))

    def test_a_program_in_the_batch_script_itself_is_told_of_srun(self):
        code, text = CLUSTER.batch(["--nodes=1", "--ntasks=2"], f"{RANK} sum")
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"Slurm's job \d+, but no task of a step: start it with `srun program`")

    def test_a_port_that_is_taken_is_named(self):
        code, text = CLUSTER.batch(["--nodes=1", "--ntasks=2"], f"""
            port=$((20000 + SLURM_JOB_ID * 64 % 12000))  # of step 0: docs/schedulers.md
            exec 3< <(exec {sys.executable} -c 'import socket, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listens", flush=True)
s.accept()' $port)
            read -r line <&3
            srun --ntasks=1 {RANK} sum; code=$?
            kill $! ; exit $code""")
        self.assertEqual(code, 1, text)
        self.assertIn("in use", text)
        self.assertRegex(text, r"port \d+ follows from its number: MASTER_ADDR and MASTER_PORT, exported before srun")

    @two_nodes
    def test_the_port_can_be_chosen(self):
        [port] = slurm.free_ports(1)
        done = CLUSTER.run(["srun", *UNEVEN_OPTIONS, RANK, "sum"], environment={"MASTER_PORT": str(port)})
        self.assertEqual(ranks(done.stdout), expected(UNEVEN, "Slurm"))


class Mpirun(unittest.TestCase):
    def test_in_an_allocation_counts(self):
        if not shutil.which("mpirun"):
            self.skipTest("needs Open MPI")
        code, text = CLUSTER.batch(["--nodes=1", "--ntasks=2"], f"mpirun -n 2 {RANK} sum")
        self.assertEqual(code, 0, text)
        self.assertEqual(ranks(text), expected([(0, 2, 0), (1, 2, 0)], "Open MPI"))


class TandemRun(unittest.TestCase):
    """`tandem run` in allocations and steps."""

    @two_nodes
    def test_uses_the_tasks_of_the_allocation(self):
        code, text = CLUSTER.batch(UNEVEN_OPTIONS, f"{TANDEM} run -- {RANK} sum")
        self.assertEqual(code, 0, text)
        self.assertEqual(ranks(text), expected(UNEVEN, "the environment"))
        self.assertIn("[2] rank 2 of 3", text)

    @two_nodes
    def test_flags_win(self):
        code, text = CLUSTER.batch(UNEVEN_OPTIONS, f"{TANDEM} run -n 2 {RANK} sum")
        self.assertEqual(code, 0, text)
        self.assertEqual(ranks(text), expected(SQUARE, "the environment"))
        for flags, size in (("--nnodes 1 -n 2", 2), ("--standalone", 1)):
            code, text = CLUSTER.batch(UNEVEN_OPTIONS, f"{TANDEM} run {flags} {RANK} sum")
            self.assertEqual(code, 0, text)
            self.assertEqual(ranks(text), expected([(local, size, 0) for local in range(size)], "the environment"))
        code, text = CLUSTER.batch(["--nodes=2"], f"{TANDEM} run --nnodes 3 true")
        self.assertEqual(code, 1, text)
        self.assertIn("has 2 nodes", text)

    def test_on_the_one_node_of_a_job_starts_its_tasks(self):
        code, text = CLUSTER.batch(["--nodes=1", "--ntasks=2"], f"{TANDEM} run {RANK} sum")
        self.assertEqual(code, 0, text)
        self.assertEqual(ranks(text), expected([(0, 2, 0), (1, 2, 0)], "the environment"))

    @two_nodes
    def test_from_salloc(self):
        done = CLUSTER.run(["salloc", "--quiet", *UNEVEN_OPTIONS, TANDEM, "run", RANK, "sum"])
        self.assertEqual(ranks(done.stdout), expected(UNEVEN, "the environment"))
        # One node, which is another machine than that of salloc: a chosen one, as the first may still be cleaning up.
        done = CLUSTER.run(["salloc", "--quiet", "--nodelist=127.0.0.2", "--nodes=1", "--ntasks=2", TANDEM, "run", "sh", "-c",
                            "echo $RANK on $SLURMD_NODENAME"])
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{rank}] {rank} on 127.0.0.2" for rank in range(2)])

    @two_nodes
    def test_in_a_step_is_one_node_of_the_launch(self):
        done = CLUSTER.run(["srun", "--nodes=2", "--ntasks-per-node=1", TANDEM, "run", "-n", "2", RANK, "sum"])
        self.assertEqual(ranks(done.stdout), expected(SQUARE, "the environment"))

    def test_several_times_on_a_node_is_an_error(self):
        done = CLUSTER.run(["srun", "--nodes=1", "--ntasks=2", TANDEM, "run", "true"], check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("srun --ntasks-per-node=1", done.stderr)
        CLUSTER.run(["srun", "--nodes=1", "--ntasks=2", TANDEM, "run", "--standalone", "true"])

    @two_nodes
    def test_the_exit_code_is_that_of_the_rank_that_failed(self):
        for rank, code, what in ((0, 7, "exited with code 7"), (2, 9, "exited with code 9"), (1, 0, "SIGSEGV")):
            with self.subTest(rank=rank):
                got, text = CLUSTER.batch(UNEVEN_OPTIONS, f"{TANDEM} run {RANK} fail {rank} {code}")
                self.assertEqual(got, code or 128 + signal.SIGSEGV, text)
                self.assertRegex(text, f"tandem: .*rank {rank} .*{what}")

    @two_nodes
    def test_signals_reach_the_ranks(self):
        code, text = CLUSTER.batch(UNEVEN_OPTIONS, f"""
            {TANDEM} run {RANK} wait > ranks.txt 2>&1 & launcher=$!
            until [ $(grep -c ready ranks.txt) = 3 ]; do sleep 0.05; done
            kill -TERM $launcher
            wait $launcher; code=$?
            cat ranks.txt; exit $code""")
        self.assertEqual(code, 128 + signal.SIGTERM, text)
        for rank in range(3):
            self.assertIn(f"[{rank}] ended well {rank}", text)

    @two_nodes
    def test_nobody_is_left_when_it_is_killed(self):
        seconds = 100000 + os.getpid()  # tells these processes from others
        code, text = CLUSTER.batch(UNEVEN_OPTIONS, f"""
            export TMPDIR=$PWD/files; mkdir $TMPDIR
            {TANDEM} run sh -c 'echo ready; sleep {seconds}' > killed.txt 2>&1 & launcher=$!
            until [ $(grep -c ready killed.txt) = 3 ]; do sleep 0.05; done
            kill -KILL $launcher
            wait $launcher""")
        self.assertEqual(code, 128 + signal.SIGKILL, text)
        listed = ["pgrep", "-f", f"sleep {seconds}$"]
        slurm.eventually(lambda: not subprocess.run(listed, stdout=subprocess.PIPE).stdout, "the ranks have ended")
        slurm.eventually(lambda: not list((CLUSTER.folder / "files").iterdir()), "its files are gone")


if __name__ == "__main__":
    if gone := slurm.missing():
        print(f"SKIPPED: Slurm is not installed ({', '.join(gone)}); script/bootstrap --schedulers installs it", flush=True)
        sys.exit(SKIPPED)
    TANDEM, RANK, GO_RANK = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
