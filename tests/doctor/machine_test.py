"""`tandem doctor` on one machine: each thing that it finds is made wrong for real."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

TOOL, OTHER_TOOL, OLD, CRASHING, LIBRARIES, LIBTORCH = (pathlib.Path(os.environ[name]).resolve() for name in (
    "TANDEM_TOOL", "TANDEM_TOOL_OF_ANOTHER_RELEASE", "OLD_LIBTANDEM", "CRASHING_LIBRARY", "TANDEM_LIBRARIES", "LIBTORCH"))
MINOR = re.search(r"^__version__ = '(\d+\.\d+)\.", (LIBTORCH / "version.py").read_text(), re.M).group(1)  # of the LibTorch at hand
PATIENCE = 100  # seconds
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("PET_", "SLURM_", "GLOO_")) and name not in ("TANDEM_LIBTORCH", "TANDEM_LIBRARY", "LD_LIBRARY_PATH")}


def started(*flags, tool=TOOL, through=(), **environment):
    return subprocess.Popen([str(word) for word in (*through, tool, "doctor", *flags)], env=ENVIRONMENT | environment, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def children(pid, found=None):
    """Of a process, and theirs: their numbers with their command lines."""
    found = {} if found is None else found
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == pid:
                found[int(entry.name)] = (entry / "cmdline").read_text().split("\0")
                children(int(entry.name), found)
        except (OSError, IndexError):
            continue
    return found


def ranks_of(process, backend):
    return [pid for pid, words in children(process.pid).items() if f"--rank={backend}" in words and "run" not in words]


def loads_libtorch(pid):
    try:
        return "/libtorch_cpu.so" in pathlib.Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def eventually(done, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (found := done()):
        if time.monotonic() > end:
            raise AssertionError(f"after {patience} s still not: {what}")
        time.sleep(0.01)
    return found


def gone(pids):
    def lives(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False
    return not any(lives(pid) for pid in pids)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-doctor-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def doctor(self, *flags, **options):
        """Exit code and findings by topic."""
        with started("--json", *flags, **options) as process:
            out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(err, "")
        report = json.loads(out)
        self.assertEqual(report["ok"], process.returncode == 0, out)
        self.assertIn(process.returncode, (0, 1), out)
        return process.returncode, {one["topic"]: one for one in report["findings"]}

    def assert_finding(self, finding, verdict, *texts):
        self.assertEqual(finding["verdict"], verdict, finding)
        for text in texts:
            self.assertRegex(finding["text"] + " | " + finding.get("advice", ""), text)

    def libtorch(self, version=f"{MINOR}.0", libc10=None):
        """A folder that looks like a LibTorch: the real one by links, or one whose libc10.so `libc10` makes."""
        root = self.folder / "libtorch"
        (root / "lib").mkdir(parents=True)
        (root / "version.py").write_text(f"__version__ = '{version}'\n")
        if libc10 is None:
            (root / "lib" / "libtorch_cpu.so").symlink_to(LIBTORCH / "lib" / "libtorch_cpu.so")
        else:
            (root / "lib" / "libtorch_cpu.so").touch()  # which comes after libc10.so
            libc10(root / "lib" / "libc10.so")
        return str(root)


class Well(Case):
    def test_each_finding_is_a_line_with_a_verdict_in_its_column(self):
        with started() as process:
            out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (0, ""), out)
        lines = out.splitlines()
        topics = [re.match(r"(.{17})(ok|warning) +\S", line).group(1).strip() for line in lines]
        self.assertEqual(topics, ["tandem", "libtandem", "core", "LibTorch", "backends", "CPUs", "GPUs", "network", "descriptors", "/dev/shm",
                                  "locked memory", "all-reduce gloo", "all-reduce shm", "verdict"])
        self.assertIn(str(TOOL), lines[0])
        self.assertIn(str(LIBRARIES / "libtandem.so"), lines[1])
        self.assertRegex(lines[3], r"\d+\.\d+\.\d+, .*libtandem.libtorch beside libtandem names it")
        self.assertRegex(lines[4], "gloo, shm; no nccl: .*GPU|gloo, shm, nccl")
        self.assertRegex(lines[5], f"{len(os.sched_getaffinity(0))} CPU")
        self.assertRegex(lines[7], "lo, 127.0.0.1")
        for line in lines[11:13]:
            self.assertRegex(line, r"2 ranks, the sum is right; 1 MiB in [\d.]+ ms")

    def test_what_is_unusual_is_told(self):
        """At once, for each takes seconds: one CPU, few descriptors, an interface for one machine alone, a LibTorch that is named."""
        cpu = str(min(os.sched_getaffinity(0)))
        code, found = self.doctor(through=("taskset", "-c", cpu, "sh", "-c", 'ulimit -S -n 256; exec "$@"', "sh"), GLOO_SOCKET_IFNAME="lo",
                                  TANDEM_LIBTORCH=self.libtorch(version=f"{MINOR}.7"))
        self.assertEqual(code, 0, found)
        self.assertRegex(found["CPUs"]["text"], "^1 CPU( of|,)")
        self.assert_finding(found["descriptors"], "warning", "^256, ", "ulimit -n 4096")
        self.assert_finding(found["network"], "warning", "lo, 127.0.0.1, by GLOO_SOCKET_IFNAME", "others do not reach it")
        self.assert_finding(found["LibTorch"], "ok", f"^{re.escape(MINOR)}.7, ", "TANDEM_LIBTORCH names it")


class Libraries(Case):
    def assert_nothing_was_tried(self, found):
        for topic in ("all-reduce gloo", "all-reduce shm"):
            self.assert_finding(found[topic], "warning", "not tried")

    def test_a_libtandem_that_is_missing(self):
        (self.folder / "bin").mkdir()
        tool = shutil.copy(TOOL, self.folder / "bin" / "tandem")
        code, found = self.doctor(tool=tool)
        self.assertEqual(code, 1)
        self.assert_finding(found["libtandem"], "problem", "libtandem.so.0: cannot open", "install libtandem and tandem from one release")
        self.assert_nothing_was_tried(found)

    def test_a_libtandem_that_is_too_old(self):
        code, found = self.doctor(f"--libtandem={OLD}")
        self.assertEqual(code, 1)
        self.assert_finding(found["libtandem"], "problem", f"{OLD} is release 0.0.1 and lacks .*tdm_load", "from one release")

    def test_tandem_library_is_obeyed_as_go_and_java_do(self):
        code, found = self.doctor("--quick", TANDEM_LIBRARY=str(OLD))
        self.assertEqual(code, 1)
        self.assert_finding(found["libtandem"], "problem", f"{OLD} is release 0.0.1 and lacks .*tdm_load")
        (self.folder / "libtandem.so.0").symlink_to(LIBRARIES / "libtandem.so.0")
        code, found = self.doctor("--quick", TANDEM_LIBRARY=str(self.folder))
        self.assertEqual(code, 0, found)
        self.assert_finding(found["libtandem"], "ok", rf"^\d\S*, {self.folder}/libtandem.so.0: TANDEM_LIBRARY names it")
        code, found = self.doctor("--quick", f"--libtandem={LIBRARIES / 'libtandem.so.0'}", TANDEM_LIBRARY=str(OLD))
        self.assert_finding(found["libtandem"], "ok", "--libtandem names it")
        for wrong, why in (("lib/libtandem.so", "is a relative path"), (str(self.folder / "nowhere"), "is neither libtandem.so nor a folder")):
            code, found = self.doctor("--quick", TANDEM_LIBRARY=wrong)
            self.assertEqual(code, 1)
            self.assert_finding(found["libtandem"], "problem", f"^TANDEM_LIBRARY={wrong} {why}")

    def test_a_libtandem_of_another_release(self):
        for folder in ("bin", "lib"):
            (self.folder / folder).mkdir()
        tool = shutil.copy(OTHER_TOOL, self.folder / "bin" / "tandem")
        (self.folder / "lib" / "libtandem.so.0").symlink_to(LIBRARIES / "libtandem.so.0")
        code, found = self.doctor(tool=tool)
        self.assertEqual(code, 1)
        self.assert_finding(found["libtandem"], "problem", r"^\d\S*, \S*libtandem.so.0, but tandem is 99.0.0", "install both from one release")

    def test_a_libtorch_that_is_not_there(self):
        code, found = self.doctor(TANDEM_LIBTORCH=str(self.folder / "nowhere"))
        self.assertEqual(code, 1)
        self.assert_finding(found["LibTorch"], "problem", "nowhere, which has no lib/libtorch_cpu.so", "TANDEM_LIBTORCH is ")
        self.assertEqual(found["libtandem"]["verdict"], "ok")
        self.assert_nothing_was_tried(found)

    def test_a_libtorch_of_another_version(self):
        code, found = self.doctor(TANDEM_LIBTORCH=self.libtorch(version="2.3.1"))
        self.assertEqual(code, 1)
        self.assert_finding(found["LibTorch"], "problem", r"LibTorch 2\.3\.1 in .* does not fit: this Tandem has cores for LibTorch \d")

    def test_a_libtorch_that_is_cut_off(self):
        whole = (LIBTORCH / "lib" / "libc10.so").read_bytes()
        code, found = self.doctor(TANDEM_LIBTORCH=self.libtorch(libc10=lambda file: file.write_bytes(whole[:1000])))
        self.assertEqual(code, 1)
        self.assert_finding(found["LibTorch"], "problem", "loading LibTorch: the process was killed by SIGBUS|cannot load .*libc10.so")

    def test_a_libtorch_that_crashes_ends_its_process_alone(self):
        code, found = self.doctor(TANDEM_LIBTORCH=self.libtorch(libc10=lambda file: file.symlink_to(CRASHING)))
        self.assertEqual(code, 1)
        self.assert_finding(found["LibTorch"], "problem", "loading LibTorch: the process was killed by SIGSEGV")
        self.assertEqual(found["descriptors"]["verdict"], "ok", "the others are looked at")

    def test_a_libtorch_that_never_loads(self):
        code, found = self.doctor("--timeout=2", TANDEM_LIBTORCH=self.libtorch(libc10=os.mkfifo))
        self.assertEqual(code, 1)
        self.assert_finding(found["LibTorch"], "problem", "loading LibTorch has not ended after 2 s")


class Limits(Case):
    def test_few_descriptors(self):
        code, found = self.doctor(through=("sh", "-c", 'ulimit -n 24; exec "$@"', "sh"))
        self.assertEqual(code, 1)
        self.assert_finding(found["descriptors"], "problem", "^24, may be raised to 24", "hard limit")
        self.assert_finding(found["all-reduce gloo"], "problem", "^rank [01] on .*(needs [0-9]+ descriptors|Too many open files)")

    def test_a_small_dev_shm(self):
        flags = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
        within = ["unshare", *flags, "sh", "-c", 'mount -t tmpfs -o size=1m none /dev/shm && exec "$@"', "sh"]
        if subprocess.run([*within, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("SKIPPED: this machine lets nobody mount a tmpfs in a namespace")
        _, found = self.doctor(through=within)
        self.assertIn(found["/dev/shm"]["verdict"], ("warning", "problem"))  # a problem where there are GPUs
        self.assertRegex(found["/dev/shm"]["text"], "^1.0 MiB free of 1.0 MiB")
        self.assertIn("remount,size=", found["/dev/shm"]["advice"])
        self.assertEqual(found["all-reduce shm"]["verdict"], "ok", "which needs none of it")


class Ranks(Case):
    def test_ranks_that_cannot_come_up(self):
        code, found = self.doctor(GLOO_SOCKET_IFNAME="nosuch0")
        self.assertEqual(code, 1)
        self.assert_finding(found["network"], "problem", "GLOO_SOCKET_IFNAME is nosuch0, but there is no nosuch0; there are lo, 127.0.0.1", "unset")
        self.assert_finding(found["all-reduce gloo"], "problem", "rank [01] on .*nosuch0")
        self.assertEqual(found["all-reduce shm"]["verdict"], "ok", "which has no interface")

    def test_each_name_of_an_interface_is_looked_at(self):
        _, found = self.doctor("--quick", GLOO_SOCKET_IFNAME=",lo")
        self.assert_finding(found["network"], "warning", "lo, 127.0.0.1, by GLOO_SOCKET_IFNAME")
        code, found = self.doctor("--quick", GLOO_SOCKET_IFNAME="lo,nosuch0")
        self.assertEqual(code, 1)
        self.assert_finding(found["network"], "problem", "GLOO_SOCKET_IFNAME is lo,nosuch0, but there is no nosuch0; there are lo, 127.0.0.1")

    def test_what_the_environment_says_of_another_launch_is_not_of_these_ranks(self):
        code, found = self.doctor(PET_NODE_RANK="1", PET_NNODES="2", PET_RDZV_CONF="is_host=0", PET_RDZV_BACKEND="static", PET_MASTER_ADDR="10.9.9.9",
                                  PET_LOCAL_ADDR="10.9.9.9", PET_LOCAL_RANKS_FILTER="0", PET_MODULE="1", PET_REDIRECTS="3", PET_LOG_DIR=str(self.folder))
        self.assertEqual(code, 0, found)
        for backend in ("gloo", "shm"):
            self.assert_finding(found[f"all-reduce {backend}"], "ok", "2 ranks, the sum is right")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_rank_that_crashes_is_told_of(self):
        with started("--json") as process:
            ranks = eventually(lambda: len(found := ranks_of(process, "gloo")) == 2 and found, "both ranks have started")
            os.kill(ranks[1], signal.SIGKILL)
            out, _ = process.communicate(timeout=PATIENCE)
        found = {one["topic"]: one for one in json.loads(out)["findings"]}
        self.assert_finding(found["all-reduce gloo"], "problem", r"rank [01] \(pid \d+\).* was killed by SIGKILL")

    def test_a_rank_that_hangs_is_named(self):
        with started("--json", "--timeout=8") as process:
            ranks = eventually(lambda: len(found := ranks_of(process, "gloo")) == 2 and all(map(loads_libtorch, found)) and found,
                               "both ranks load LibTorch")
            for pid in ranks:
                os.kill(pid, signal.SIGSTOP)
            out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 1, out)
        found = {one["topic"]: one for one in json.loads(out)["findings"]}
        self.assert_finding(found["all-reduce gloo"], "problem", 
                            r"2 ranks have not ended after 8 s: rank 0 on \S+ was [a-z]+ing .*, rank 1 on \S+ was [a-z]+ing ")
        self.assertEqual(found["all-reduce shm"]["verdict"], "ok", found)
        self.assertTrue(gone(ranks))


class Leaving(Case):
    def test_nothing_is_left_of_a_doctor_that_is_ended(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            with self.subTest(signal=number), started() as process:
                eventually(lambda: ranks_of(process, "gloo"), "a rank has started")
                below = list(children(process.pid))
                process.send_signal(number)
                process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, code)
                eventually(lambda: gone(below), "what it started has ended", 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
