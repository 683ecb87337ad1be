"""Two machines and a desk in namespaces of this one, joined by a bridge. Each machine has a network, a host name and an sshd
of its own; what a machine has under /run and /etc differs from the others' and from this machine's, which is left as it is."""
import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PATIENCE = 60  # seconds
SKIPPED = 77
PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])  # where Debian has daemons
PROGRAMS = ("sshd", "ssh", "ssh-keygen", "ip", "unshare", "nsenter", "mount")
INSIDE = "TANDEM_MACHINES_INSIDE"
PORT = 2222
NAMES = ("alpha", "beta")
DESK = "10.77.0.100"


class MachinesError(Exception):
    pass


def missing(more):
    """Programs that are not installed."""
    return [name for name in (*PROGRAMS, *more) if not shutil.which(name, path=PATH)]


def namespace_flags():
    flags = ["--net", "--mount", "--uts", "--pid", "--mount-proc", "--fork", "--kill-child"]
    return flags if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps", *flags]


def why_no_namespaces():
    """"" where they can be made."""
    tried = subprocess.run(["unshare", *namespace_flags(), "true"], stderr=subprocess.PIPE, text=True, check=False)
    return "" if tried.returncode == 0 else tried.stderr.strip() or f"unshare: {tried.returncode}"


def go_inside(arguments):
    """Becomes the same program in namespaces of its own; all that it leaves there ends with it."""
    os.environ[INSIDE] = "yes"
    os.execvp("unshare", ["unshare", *namespace_flags(), *arguments])


def enter(more=()):
    """Returns in namespaces of this program's own; ends it as skipped where they, or programs (`more` beside the usual), are missing."""
    why = ""
    if gone := missing(more):
        why = f"not installed: {', '.join(gone)}; script/bootstrap --schedulers installs them"
    elif not os.environ.get(INSIDE) and (refused := why_no_namespaces()):
        why = f"needs namespaces for its machines, and cannot make any: {refused}"
    if why:
        print(f"SKIPPED: {why}", flush=True)
        sys.exit(SKIPPED)
    if not os.environ.get(INSIDE):
        go_inside([sys.executable, "-B", *sys.argv])


def eventually(done, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (found := done()):
        if time.monotonic() > end:
            raise MachinesError(f"after {patience} s still not: {what}")
        time.sleep(0.02)
    return found


def processes_with(word):
    """Command lines of living processes that have it as an argument, or in one."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word in (line := (entry / "cmdline").read_text(errors="replace")):
                found.append(line.replace("\0", " "))
        except OSError:  # it has ended
            pass
    return found


class Machines:
    """To be used in a `with`, after go_inside()."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-hosts-"))
        self.keepers, self.daemons = {}, {}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in [*self.daemons.values(), *self.keepers.values()]:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---------------------------------------------------------------------------------------------------------- start

    @staticmethod
    def call(*command, **options):
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=PATIENCE, **options)
        if done.returncode:
            raise MachinesError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}")
        return done.stdout

    def start(self):
        self.call("hostname", "desk")
        self.call("ip", "link", "set", "lo", "up")
        self.call("ip", "link", "add", "br0", "type", "bridge")
        self.call("ip", "link", "set", "br0", "up")
        self.call("ip", "addr", "add", f"{DESK}/24", "dev", "br0")
        for key in ("user", "stranger", "host"):
            self.call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key)
        user = self.call("id", "-un").strip()
        (self.folder / "home").mkdir(mode=0o700)
        self.own_file("/etc/passwd", "desk", self.passwd(user))
        self.own_file("/etc/shadow", "desk", f"{user}:*:19000:0:99999:7:::\n")  # not locked, as sshd has it
        self.own_file("/etc/hosts", "desk", self.hosts())
        for number, name in enumerate(NAMES, 1):
            self.start_machine(number, name, user)
        host_key = (self.folder / "host.pub").read_text().split()
        known = [f"[{name}]:{PORT},[10.77.0.{number}]:{PORT} {host_key[0]} {host_key[1]}" for number, name in enumerate(NAMES, 1)]
        (self.folder / "known_hosts").write_text("\n".join(known) + "\n")
        self.client("ssh_config", "user", "known_hosts")
        self.client("ssh_config.stranger", "stranger", "known_hosts")
        (self.folder / "nobody_known").write_text("")
        self.client("ssh_config.unknown", "user", "nobody_known")
        for name in NAMES:
            try:
                eventually(lambda name=name: self.answers(name), f"sshd of {name} answers", 20)
            except MachinesError as error:
                raise MachinesError(f"{error}:\n{self.log(name)}") from error

    def own_file(self, path, name, text, within=()):
        """Has it in this mount namespace alone, or in that of the process that `within` enters."""
        file = self.folder / f"{name}.{pathlib.Path(path).name}"
        file.write_text(text)
        self.call(*within, "mount", "--bind", file, path)

    def passwd(self, user):
        """Who logs in has a home of the test's own, and a plain shell."""
        lines = pathlib.Path("/etc/passwd").read_text().splitlines()
        return "".join(f"{user}:x:{os.getuid()}:{os.getgid()}::{self.folder}/home:/bin/sh\n" if line.startswith(user + ":")
                       else line + "\n" for line in lines)

    @staticmethod
    def hosts(own=None):
        """As Debian's installer has it: a machine's own name is a loopback address there."""
        lines = ["127.0.0.1 localhost"]
        for number, name in enumerate(NAMES, 1):
            lines.append(f"127.0.1.1 {name}" if name == own else f"10.77.0.{number} {name}")
        return "\n".join([*lines, f"{DESK} desk"]) + "\n"

    def start_machine(self, number, name, user):
        keeper = self.keepers[name] = subprocess.Popen(["unshare", "--net", "--mount", "--uts", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/uts")
        eventually(lambda: os.readlink(f"/proc/{keeper.pid}/ns/uts") != own, f"namespaces of {name}")
        inside = self.inside(name)
        eventually(lambda: "sleep" in pathlib.Path(f"/proc/{keeper.pid}/cmdline").read_text(), f"{name} is there")
        self.call("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", keeper.pid)
        self.call("ip", "link", "set", f"to-{name}", "master", "br0", "up")
        self.call(*inside, "hostname", name)
        self.call(*inside, "ip", "addr", "add", f"10.77.0.{number}/24", "dev", "eth0")
        self.call(*inside, "ip", "link", "set", "eth0", "up")
        self.call(*inside, "ip", "link", "set", "lo", "up")
        self.own_file("/etc/hosts", name, self.hosts(name), inside)
        self.call(*inside, "mount", "-t", "tmpfs", "none", "/run")
        self.call(*inside, "mkdir", "-m", "755", "/run/sshd")
        config = self.folder / f"{name}.sshd_config"
        config.write_text("\n".join([
            f"Port {PORT}", f"HostKey {self.folder}/host", f"AuthorizedKeysFile {self.folder}/user.pub", "StrictModes no",
            "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
            "Subsystem sftp internal-sftp",
            f"AllowUsers {user}", "PidFile none", "ClientAliveInterval 1", "ClientAliveCountMax 3"]) + "\n")
        with open(self.folder / f"{name}.log", "wb") as log:
            self.daemons[name] = subprocess.Popen([*inside, shutil.which("sshd", path=PATH), "-D", "-e", "-f", config],
                                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def client(self, name, key, known):
        (self.folder / name).write_text("\n".join([
            "Host *", f"  Port {PORT}", f"  IdentityFile {self.folder}/{key}", "  IdentitiesOnly yes",
            f"  UserKnownHostsFile {self.folder}/{known}", "  GlobalKnownHostsFile /dev/null", "  IdentityAgent none"]) + "\n")

    def answers(self, name):
        if self.daemons[name].poll() is not None:
            raise MachinesError(f"sshd of {name} ended:\n{self.log(name)}")
        return not subprocess.run(["ssh", *self.ssh_words(), "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", name, "true"],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode

    # ------------------------------------------------------------------------------------------------------------- use

    def ssh_words(self, config="ssh_config"):
        return ["-F", str(self.folder / config)]

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")[-1500:]

    def kill_agent(self, name):
        """The `tandem run` that was started on a machine; what it had started ends with it."""
        there = os.readlink(f"/proc/{self.keepers[name].pid}/ns/uts")
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                if b"--agent-setup" in words and words[0].endswith(b"tandem") and os.readlink(entry / "ns/uts") == there:
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:  # it has ended
                pass

    def inside(self, name, folder="/"):
        """Words before a command that is to run on a machine."""
        enter = ["nsenter", "-t", str(self.keepers[name].pid), "--net", "--mount", "--uts"]
        return [*enter, "sh", "-c", 'cd "$0" && exec "$@"', str(folder)]

    def cut_off(self, name):
        self.call("ip", "link", "set", f"to-{name}", "down")

    def join_again(self, name):
        self.call("ip", "link", "set", f"to-{name}", "up")


class Etcd:
    """At the desk, which is never cut off. `port`: for its clients; the next one is its own."""

    def __init__(self, folder, port=2379):
        self.port = port
        self.endpoint = f"{DESK}:{port}"
        client, peer = f"http://{self.endpoint}", f"http://{DESK}:{port + 1}"
        with open(folder / f"etcd-{port}.log", "wb") as log:
            self.process = subprocess.Popen(
                ["etcd", "--name", "one", "--data-dir", folder / f"etcd-{port}", "--unsafe-no-fsync", "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"one={peer}"], stdout=log, stderr=log)
        eventually(self.answers, "etcd answers", 20)

    def answers(self):
        with socket.socket() as tried:
            return tried.connect_ex((DESK, self.port)) == 0

    def get(self, key):
        """A value's text; "" where there is none."""
        asked = json.dumps({"key": base64.b64encode(key.encode()).decode()}).encode()
        with urllib.request.urlopen(f"http://{self.endpoint}/v3/kv/range", asked, PATIENCE) as answer:
            found = json.load(answer).get("kvs", [])
        return base64.b64decode(found[0]["value"]).decode() if found else ""

    def end(self):
        self.process.kill()
        self.process.wait()
