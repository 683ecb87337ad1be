"""`tandem doctor --hosts` over two machines, which are namespaces with real sshds: what lies between them is cut for real."""
import contextlib
import glob
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import unittest

import machines as two

TOOL, OTHER_TOOL, LIBRARIES = (pathlib.Path(os.environ[name]).resolve() for name in (
    "TANDEM_TOOL", "TANDEM_TOOL_OF_ANOTHER_RELEASE", "TANDEM_LIBRARIES"))
MACHINES = None  # set below
NOBODY = "10.77.0.250"  # who answers nothing: packets there are lost
OWN = {name: f"10.77.0.{number}" for number, name in enumerate(two.NAMES, 1)}


def setUpModule():
    global MACHINES
    MACHINES = two.Machines().__enter__()
    for name in two.NAMES:
        on(name, "ip", "neigh", "add", NOBODY, "lladdr", "02:00:00:00:00:fe", "dev", "eth0", "nud", "permanent")
        on(name, "ip", "route", "add", "default", "via", NOBODY, "dev", "eth0", "table", "100")


def tearDownModule():
    MACHINES.__exit__()


def on(name, *command):
    return MACHINES.call(*MACHINES.inside(name), *command)


@contextlib.contextmanager
def made(name, what, *words):
    """`ip WHAT add WORDS` on a machine, for a while."""
    on(name, "ip", what, "add", *words)
    try:
        yield
    finally:
        on(name, "ip", what, "del", *words)


@contextlib.contextmanager
def interface(name, called, address):
    """One that leads nowhere."""
    on(name, "ip", "link", "add", called, "type", "bridge")
    try:
        on(name, "ip", "addr", "add", address, "dev", called)
        on(name, "ip", "link", "set", called, "up")
        yield
    finally:
        on(name, "ip", "link", "del", called)


@contextlib.contextmanager
def instead(name, path, other):
    """A machine has another file at that path."""
    on(name, "mount", "--bind", other, path)
    try:
        yield
    finally:
        on(name, "umount", path)


def started(*flags, hosts="alpha,beta", ssh=None, cwd="/", **environment):
    words = [TOOL, "doctor", "--hosts", hosts, "--ssh-args", " ".join(ssh or MACHINES.ssh_words()), *flags]
    return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            cwd=cwd, env=os.environ | {"PATH": two.PATH} | environment)


def left():
    """Of doctors and what they have started, on all machines."""
    return [line for word in ("--agent-setup", "--probe", "--rank=", "doctor --") for line in two.processes_with(word)]


class Case(unittest.TestCase):
    def run_doctor(self, *flags, **options):
        with started(*flags, **options) as process:
            out, err = process.communicate(timeout=4 * two.PATIENCE)
        self.assertEqual(err, "", out)
        return process.returncode, out

    def doctor(self, *flags, **options):
        code, out = self.run_doctor("--json", *flags, **options)
        report = json.loads(out)
        self.assertEqual(report["ok"], code == 0, out)
        return code, report["findings"]

    def problems(self, *flags, **options):
        """What lies between hosts, of a doctor that fails: (topic, text and advice) of each problem."""
        code, found = self.doctor("--quick", *flags, **options)
        self.assertEqual(code, 1, found)
        return [(one["topic"], one["text"] + " | " + one.get("advice", "")) for one in found if one["verdict"] == "problem"]

    def assert_only(self, problems, topic, *texts):
        self.assertEqual([one for one, _ in problems], [topic], problems)
        for text in texts:
            self.assertRegex(problems[0][1], text)


def script(name, text):
    file = MACHINES.folder / name
    file.write_text("#!/bin/sh\n" + text)
    file.chmod(0o755)
    return file


class Well(Case):
    def test_all_is_well(self):
        # Relative paths are those of the folder in which it is called, and what is said of another launch changes nothing.
        script("wrap", 'exec ssh "$@"\n')
        code, out = self.run_doctor("--rdzv-endpoint", "10.77.0.1:29450", cwd=MACHINES.folder, ssh=["-F", "./ssh_config"], TANDEM_SSH="./wrap",
                                    PET_NODE_RANK="1", PET_NNODES="7", PET_RDZV_CONF="is_host=0", PET_RDZV_BACKEND="static")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"(?m)^alpha → beta +ok +10\.77\.0\.2:\d+ \(eth0, for the ranks' connections\)$")
        self.assertRegex(out, r"(?m)^beta → alpha +ok +10\.77\.0\.1:29450 \(eth0, where agents meet\), 10\.77\.0\.1:\d+ \(eth0, for the ranks' connections\)$")
        self.assertRegex(out, r"(?m)^all-reduce +ok +2 ranks, the sum is right")
        rows = [re.split(r"  +", line) for line in out.split("\n\n")[-2].splitlines()]
        self.assertEqual(rows[0], ["host", "reached", "tandem", "core", "LibTorch", "address", "clock", "verdict"])
        for row, name in zip(rows[1:], two.NAMES, strict=True):
            self.assertEqual((row[0], row[1], row[5], row[-1]), (name, "yes", f"{OWN[name]} (eth0)", "ok"))
        self.assertRegex(out, r"(?s)^alpha:\n.*\n\nbeta:\n.*\n\nbetween the hosts:\n")
        self.assertTrue(out.endswith("\n\nall is well\n"), out)
        two.eventually(lambda: not left(), "nothing is left on the hosts")


class Network(Case):
    def test_a_port_that_is_blocked_is_named(self):
        # What beta sends to that port is lost, and to no other.
        with made("beta", "rule", "ipproto", "tcp", "dport", "29451", "lookup", "100"):
            problems = self.problems("--rdzv-endpoint", "10.77.0.1:29451")
        self.assert_only(problems, "beta → alpha", r"^10\.77\.0\.1:29451 \(eth0, where agents meet\): timed out after 3 s \| ", "firewall", "--rdzv-endpoint")

    def test_the_ports_of_ranks_that_are_blocked(self):
        # alpha's connections to them are lost, and its answers to connections from them.
        ports = "32768-60999"
        with made("alpha", "rule", "to", f"{OWN['beta']}/32", "ipproto", "tcp", "sport", ports, "dport", ports, "lookup", "100"):
            problems = self.problems("--rdzv-endpoint", "10.77.0.1:29452")
        self.assertEqual([topic for topic, _ in problems], ["alpha → beta", "beta → alpha"], problems)
        for _, text in problems:
            self.assertRegex(text, r"^10\.77\.0\.\d:\d+ \(eth0, for the ranks' connections\): timed out .*ports 32768 to 60999")

    def test_a_connection_that_is_refused(self):
        # beta takes alpha's address for its own.
        with made("beta", "addr", f"{OWN['alpha']}/32", "dev", "lo"):
            problems = self.problems("--rdzv-endpoint", "10.77.0.1:29453")
        found = dict(problems)
        self.assertRegex(found["beta → alpha"], r"^10\.77\.0\.1:\d+ \(eth0, [^)]*\): refused")

    def test_a_port_that_is_taken(self):
        listens = "import socket, time; s = socket.create_server(('10.77.0.1', 29454)); print('listens', flush=True); time.sleep(1000)"
        with subprocess.Popen([*MACHINES.inside("alpha"), sys.executable, "-c", listens], stdout=subprocess.PIPE) as taker:
            try:
                taker.stdout.readline()
                problems = self.problems("--rdzv-endpoint", "10.77.0.1:29454")
            finally:
                taker.kill()
        self.assert_only(problems, "port", r"^alpha cannot listen at 10\.77\.0\.1:29454: port in use", "choose another by --rdzv-endpoint")

    def test_the_wrong_interface(self):
        with interface("alpha", "lan1", "10.88.1.1/24"), interface("beta", "lan1", "10.88.2.1/24"):
            problems = self.problems("-x", "GLOO_SOCKET_IFNAME=lan1")
        found = dict(problems)
        self.assertEqual(sorted(found), ["alpha → beta", "beta → alpha"], problems)
        self.assertRegex(found["alpha → beta"], r"^10\.88\.2\.1:\d+ \(lan1, .*the wrong interface: beta listens there by GLOO_SOCKET_IFNAME, and is reached at "
                                                r"10\.77\.0\.2 \(eth0\) \| -x GLOO_SOCKET_IFNAME=eth0$")

    def test_each_of_several_interfaces(self):
        with interface("alpha", "lan1", "10.88.1.1/24"), interface("beta", "lan1", "10.88.2.1/24"):
            problems = self.problems("-x", "GLOO_SOCKET_IFNAME=,eth0,lan1")
        found = dict(problems)
        self.assertEqual(sorted(found), ["alpha → beta", "beta → alpha"], problems)
        self.assertRegex(found["beta → alpha"], r"^10\.88\.1\.1:\d+ \(lan1, .*the wrong interface: .*, and is reached at 10\.77\.0\.1 \(eth0\)")

    def test_an_interface_of_containers_that_both_have(self):
        with interface("alpha", "docker0", "172.17.0.1/16"), interface("beta", "docker0", "172.17.0.1/16"):
            problems = self.problems("-x", "GLOO_SOCKET_IFNAME=docker0")
        self.assertRegex(dict(problems)["interface"], r"^alpha and beta both listen at 172\.17\.0\.1 \(docker0, by GLOO_SOCKET_IFNAME\).*eth0 \(10\.77\.0\.1\)")

    def test_loopback(self):
        problems = self.problems("-x", "GLOO_SOCKET_IFNAME=lo")
        self.assertRegex(problems[0][1], r"^alpha listens at 127\.0\.0\.1 \(lo, by GLOO_SOCKET_IFNAME\), a loopback address.*eth0 \(10\.77\.0\.1\)")
        self.assertRegex(problems[1][1], r"^beta listens at 127\.0\.0\.1 ")

    def test_the_endpoint_is_where_each_host_takes_its_name_to_be(self):
        # alpha's own name is 127.0.1.1 there, as Debian has it.
        self.assert_only(self.problems("--rdzv-endpoint", "alpha:29455"), "address",
                         r"^alpha takes alpha for 127\.0\.1\.1, a loopback address, which other machines do not reach \| .*--rdzv-endpoint ADDRESS")
        self.assert_only(self.problems("--rdzv-endpoint", "beta:29456"), "port",
                         r"^alpha cannot listen at 10\.77\.0\.2:29456: that is no address of this machine")
        self.assert_only(self.problems("--rdzv-endpoint", "nowhere.invalid:29457"), "address", "^alpha does not know nowhere.invalid: ")
        hosts = {name: MACHINES.folder / f"hosts_of_{name}" for name in two.NAMES}
        hosts["alpha"].write_text("127.0.0.1 localhost\n10.9.9.9 meet\n10.77.0.1 meet\n10.77.0.2 beta\n")
        hosts["beta"].write_text("127.0.0.1 localhost\n10.9.9.9 meet\n10.77.0.1 alpha\n")
        with instead("alpha", "/etc/hosts", hosts["alpha"]), instead("beta", "/etc/hosts", hosts["beta"]):
            self.assert_only(self.problems("--rdzv-endpoint", "meet:29458"), "address", r"^beta takes meet for 10\.9\.9\.9, but alpha listens at 10\.77\.0\.1")
        hosts["beta"].write_text(hosts["beta"].read_text() + "10.77.0.1 meet\n")
        with instead("alpha", "/etc/hosts", hosts["alpha"]), instead("beta", "/etc/hosts", hosts["beta"]):
            code, found = self.doctor("--quick", "--rdzv-endpoint", "meet:29459")
        self.assertEqual(code, 0, found)

    def test_an_endpoint_that_is_none_starts_nothing(self):
        called = MACHINES.folder / "called"
        ssh = script("calls", f"touch {called}\nexit 1\n")
        for endpoint in ("10.77.0.1:no", "10.77.0.1:70000"):
            with started("--json", "--rdzv-endpoint", endpoint, TANDEM_SSH=str(ssh)) as process:
                out, err = process.communicate(timeout=two.PATIENCE)
            self.assertEqual((process.returncode != 0, out), (True, ""))
            self.assertIn("--rdzv-endpoint", err)
            self.assertFalse(called.exists())

    def test_a_name_that_leads_elsewhere(self):
        hosts = MACHINES.folder / "odd_hosts"
        hosts.write_text("127.0.0.1 localhost\n10.9.9.9 beta\n127.0.1.1 alpha\n")
        with instead("alpha", "/etc/hosts", hosts):
            code, found = self.doctor("--quick")
        self.assertEqual(code, 0, "launches use addresses")
        self.assertRegex({one["topic"]: one["text"] for one in found}["beta → alpha"], r"^10\.77\.0\.1:29\d+ \(eth0, where agents meet; each launch draws another port\), ")
        warnings = [(one["topic"], one["text"]) for one in found if one["verdict"] == "warning"]
        self.assertEqual(warnings, [("name", "alpha takes beta for 10.9.9.9, which is no address of it")])


class Differences(Case):
    def test_releases_that_are_not_the_same(self):
        # beta has another tool, and libtandem's neighbour names a LibTorch of another number.
        libtorch = MACHINES.folder / "libtorch"
        (libtorch / "lib").mkdir(parents=True)
        real = pathlib.Path(os.environ["LIBTORCH"])
        minor = re.search(r"^__version__ = '(\d+\.\d+)\.", (real / "version.py").read_text(), re.M).group(1)
        (libtorch / "version.py").write_text(f"__version__ = '{minor}.9'\n")
        (libtorch / "lib" / "libtorch_cpu.so").symlink_to(real / "lib" / "libtorch_cpu.so")
        (MACHINES.folder / "pointer").write_text(f"{libtorch}\n")
        with instead("beta", TOOL, OTHER_TOOL), instead("beta", LIBRARIES / "libtandem.libtorch", MACHINES.folder / "pointer"):
            problems = self.problems()
        found = dict(problems)
        self.assertRegex(found["tandem"], r"^not the same: \d\S* on alpha; 99\.0\.0 on beta")
        self.assertRegex(found["LibTorch"], rf"^not the same: {re.escape(minor)}\.\d+ on alpha; {re.escape(minor)}\.9 on beta")

    def test_clocks_that_are_apart(self):
        library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        if not library:
            self.skipTest("SKIPPED: libfaketime is not installed")
        tool = MACHINES.folder / "skewed"
        tool.write_text(f"#!/bin/sh\n[ $(hostname) = beta ] && export LD_PRELOAD={library[0]} FAKETIME=+90s DONT_FAKE_MONOTONIC=1\nexec {TOOL} \"$@\"\n")
        tool.chmod(0o755)
        code, found = self.doctor("--quick", "--remote-tandem", tool)
        self.assertEqual(code, 0, found)
        warnings = [(one["topic"], one["text"] + " | " + one["advice"]) for one in found if one["verdict"] == "warning"]
        self.assert_only(warnings, "clocks", r"^beta's is \+(89|90)\.\d\d s from alpha's", "time server")


class Hosts(Case):
    def test_hosts_that_cannot_be_had(self):
        code, out = self.run_doctor(hosts="no-such-host.invalid,beta")
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"(?m)^no-such-host.invalid:\nhost +problem +ssh to no-such-host.invalid failed: .*resolve")
        self.assertRegex(out, r"(?m)^address +problem +no-such-host.invalid, the first host, has no address that this machine knows")
        self.assertRegex(out, r"(?m)^no-such-host.invalid +no +- ")
        self.assertRegex(out, r"(?m)^all-reduce +warning +not tried over all hosts: no-such-host.invalid takes no part")
        nowhere = MACHINES.folder / "no-tandem"
        code, out = self.run_doctor("--remote-tandem", nowhere)
        self.assertEqual(code, 1, out)
        for name in two.NAMES:
            self.assertRegex(out, rf"(?m)^{name}:\nhost +problem +{name} cannot run {nowhere}: .*not found; install Tandem there")

    def test_a_tandem_without_doctor(self):
        old = MACHINES.folder / "older"
        old.write_text("#!/bin/sh\necho 'tandem: The following arguments were not expected: doctor (see tandem --help)' >&2\nexit 1\n")
        old.chmod(0o755)
        _, out = self.run_doctor("--remote-tandem", old, hosts="beta")
        self.assertRegex(out, rf"(?m)^host +problem +the tandem there, {old}, is of another release and has no `tandem doctor`")

    def test_an_agent_that_ends_between_is_noticed(self):
        # beta's hears no order to connect, but its stdin's end.
        filtered = MACHINES.folder / "filtered.py"
        filtered.write_text("import os, subprocess, sys\n"
                            "with subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, bufsize=0) as agent:\n"
                            "    while (got := os.read(0, 1 << 16)) and b'\"connect\"' not in got:\n"
                            "        agent.stdin.write(got)\n"
                            "sys.exit(agent.returncode)\n")
        tool = script("leaves", f"[ $(hostname) = beta ] && exec {sys.executable} {filtered} {TOOL} \"$@\"\nexec {TOOL} \"$@\"\n")
        found = self.problems("--remote-tandem", tool, "--rdzv-endpoint", "10.77.0.1:29460")
        self.assert_only(found, "host", "^the agent of beta has ended with code 0")

    def test_a_host_that_is_slow_and_another_that_writes(self):
        # Who waits for alpha is idle, though beta has something to say; its first answer comes behind noise.
        tool = script("slow", f"printf 'a prompt> '\n[ $(hostname) = alpha ] && sleep 6\n[ $(hostname) = beta ] && (sleep 2; echo late >&2) &\n"
                              f"exec {TOOL} \"$@\"\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, found = self.doctor("--quick", "--remote-tandem", tool)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(code, 0, found)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2, "seconds of CPU")

    def test_what_a_terminal_would_obey_is_not_printed(self):
        tool = script("coloured", "printf '\\033[2Jgone\\a\\n' >&2\nexit 3\n")
        _, out = self.run_doctor("--remote-tandem", tool, hosts="beta")
        self.assertIn("gone", out)
        self.assertNotRegex(out, r"[\x00-\x09\x0b-\x1f\x7f]")

    def test_nothing_is_left_of_one_that_is_ended(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
            with self.subTest(signal=number), started() as process:
                two.eventually(lambda: two.processes_with("--rank=gloo"), "ranks have started on the hosts")
                process.send_signal(number)
                process.communicate(timeout=two.PATIENCE)
                self.assertEqual(process.returncode, code)
                two.eventually(lambda: not left(), "all has ended there")


if __name__ == "__main__":
    two.enter()
    unittest.main(verbosity=2)
