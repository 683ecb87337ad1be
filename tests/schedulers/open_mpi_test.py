"""Ranks that a real mpirun of Open MPI starts: open_mpi_test.py TANDEM RANK GO_RANK"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from cluster import PATIENCE

SKIPPED = 77
RANK = GO_RANK = None
FOREIGN = ("SLURM", "OMPI_", "PMI", "PET_")
# mpirun refuses to run as root unless told twice.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)
               and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")} | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}


def start(*arguments, environment=None):
    command = ["mpirun", "--oversubscribe", *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=ENVIRONMENT | (environment or {}))


def lines(process):
    out, err = process.communicate(timeout=PATIENCE)
    if process.returncode:
        raise AssertionError(f"{process.returncode}\n{out}\n{err}")
    return sorted(out.splitlines())


def on_one_host(size, each=2):
    total = each * size * (size + 1) // 2
    return [f"rank {rank} of {size} local {rank} of {size} node 0 by Open MPI sum {total}" for rank in range(size)]


class Mpirun(unittest.TestCase):
    def test_ranks_find_each_other(self):
        self.assertEqual(lines(start("-n", 3, RANK, "sum")), on_one_host(3))

    def test_in_go(self):
        self.assertEqual(lines(start("-n", 2, GO_RANK)), on_one_host(2, each=1))

    def test_one_process(self):
        self.assertEqual(lines(start("-n", 1, RANK, "sum")), on_one_host(1))

    def test_jobs_beside_each_other_do_not_meet(self):
        jobs = [start("-n", size, RANK, "sum") for size in (2, 3, 2)]
        self.assertEqual([lines(job) for job in jobs], [on_one_host(size) for size in (2, 3, 2)])

    def test_a_program_meets_anew_after_another_one(self):
        with tempfile.TemporaryDirectory() as folder:
            both = f"{RANK} sum && touch $0/$OMPI_COMM_WORLD_RANK && until [ -e $0/0 ] && [ -e $0/1 ]; do sleep 0.02; done; {RANK} sum"
            self.assertEqual(lines(start("-n", 2, "sh", "-c", both, folder)), sorted(2 * on_one_host(2)))

    def test_without_a_folder_of_the_job_it_says_what_to_type(self):
        process = start("-n", 2, "env", "-u", "PMIX_SERVER_TMPDIR", "-u", "OMPI_MCA_orte_jobfam_session_dir", RANK, "sum")
        _, err = process.communicate(timeout=PATIENCE)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("mpirun -x MASTER_ADDR=host -x MASTER_PORT=29500 -n 2", err)

    def test_on_two_hosts(self):
        """A second host on this machine: another name, where mpirun has its daemon started by a command of ours."""
        if subprocess.run(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("needs to give a process another host name (unshare --uts)")
        with tempfile.TemporaryDirectory() as folder:
            agent = pathlib.Path(folder) / "agent"
            # mpirun calls it as ssh: HOST COMMAND…
            agent.write_text('#!/bin/sh\nhost=$1; shift\nexec unshare --uts sh -c "hostname $host && $*"\n', encoding="utf-8")
            agent.chmod(0o755)
            here = os.uname().nodename
            # Loopback, too, which Open MPI leaves out: there may be no other network.
            flags = ["--host", f"{here}:1,tandem-second:1", "--mca", "plm_rsh_agent", agent, "--mca", "plm", "rsh"]
            found = lines(start(*flags, "-n", 2, RANK, "sum"))
        self.assertEqual(found, [f"rank {rank} of 2 local 0 of 1 node -1 by Open MPI sum 6" for rank in range(2)])


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("SKIPPED: Open MPI is not installed (mpirun); script/bootstrap --schedulers installs it", flush=True)
        sys.exit(SKIPPED)
    _, RANK, GO_RANK = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
