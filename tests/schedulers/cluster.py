"""A Slurm of the tests' own: munged, slurmctld and a slurmd for each node, in a folder and at ports of its own."""
import ctypes
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE = 60  # seconds
PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])  # where Debian has daemons
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "salloc", "scancel", "sinfo", "squeue")
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class ClusterError(Exception):
    pass


def missing():
    """Programs of Slurm's that are not installed."""
    return [name for name in PROGRAMS if not shutil.which(name, path=PATH)]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def ends_with_this_process():
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGTERM)


def eventually(done, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (found := done()):
        if time.monotonic() > end:
            raise ClusterError(f"after {patience} s still not: {what}")
        time.sleep(0.05)
    return found


class Cluster:
    """`nodes` nodes on this machine (multiple slurmd), whose names are addresses of it. To be used in a `with`."""

    def __init__(self, nodes, cpus=4):
        self.nodes, self.cpus = nodes, cpus
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-slurm-"))
        self.processes = []
        self.scripts = 0

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if len(self.processes) > 1:
            self.run(["scancel", "--user", self.user()], check=False)
            try:
                eventually(lambda: not self.run(["squeue", "--noheader"], check=False).stdout, "all jobs ended", 15)
            except ClusterError as error:
                print(error, flush=True)
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def user():
        return pwd.getpwuid(os.geteuid()).pw_name

    def environment(self):
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith(("SLURM", "SBATCH", "SALLOC", "OMPI_", "PMI", "PET_"))
                     and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")}
        # mpirun refuses to run as root unless told twice, and more processes than cores unless told.
        return inherited | {"PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf"), "OMP_NUM_THREADS": "1",
                            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_rmaps_base_oversubscribe": "1"}

    def daemon(self, name, command):
        with open(self.folder / f"{name}.out", "w", encoding="utf-8") as output:
            self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                                   env=self.environment(), preexec_fn=ends_with_this_process))

    def start(self):
        self.folder.chmod(0o755)  # munge's socket is to be reached
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        sock = self.folder / "munge.socket"
        self.daemon("munged", ["munged", "--foreground", f"--key-file={key}", f"--socket={sock}",
                               f"--pid-file={self.folder / 'munge.pid'}", f"--seed-file={self.folder / 'munge.seed'}"])
        self.await_all(sock.exists, "munged's socket")
        ports = free_ports(1 + self.nodes)
        numbers = f"[1-{self.nodes}]" if self.nodes > 1 else "1"
        settings = {
            "ClusterName": "tandem", "SlurmctldHost": "localhost(127.0.0.1)", "SlurmctldPort": ports[0],
            "SlurmUser": self.user(), "SlurmdUser": self.user(), "AuthType": "auth/munge", "CredType": "cred/munge",
            "AuthInfo": f"socket={sock}", "StateSaveLocation": self.folder / "state",
            "SlurmdSpoolDir": self.folder / "spool-%n", "SlurmctldPidFile": self.folder / "ctld.pid",
            "SlurmdPidFile": self.folder / "slurmd-%n.pid", "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none", "MpiDefault": "none", "JobAcctGatherType": "jobacct_gather/none",
            "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_CPU", "SchedulerType": "sched/builtin",
            "ReturnToService": 2, "KillWait": 10, "SlurmdParameters": "config_overrides", "PlugStackConfig": "/dev/null",
        }
        lines = [f"{name}={value}" for name, value in settings.items()]
        for node, port in enumerate(ports[1:], 1):
            lines.append(f"NodeName=127.0.0.{node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus}")
        lines.append(f"PartitionName=all Nodes=127.0.0.{numbers} Default=YES MaxTime=INFINITE State=UP")
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.daemon("slurmctld", ["slurmctld", "-D", "-c"])
        for node in range(1, self.nodes + 1):
            self.daemon(f"slurmd{node}", ["slurmd", "-D", "-N", f"127.0.0.{node}"])
        self.await_all(lambda: self.run(["sinfo", "--noheader", "-N", "-t", "idle"], check=False).stdout.count("idle") ==
                       self.nodes, f"{self.nodes} idle nodes")

    def await_all(self, done, what):
        def check():
            for process in self.processes:
                if process.poll() is not None:
                    raise ClusterError(f"{process.args[0]} ended:\n{self.logs()}")
            return done()
        try:
            eventually(check, what)
        except ClusterError as error:
            raise ClusterError(f"{error}\n{self.logs()}") from error

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-600:]}" for path in sorted(self.folder.glob("*.out")))

    def run(self, command, check=True, timeout=PATIENCE, environment=None):
        done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=timeout, env=self.environment() | (environment or {}))
        if check and done.returncode != 0:
            raise ClusterError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.logs()}")
        return done

    def batch(self, options, body, environment=None):
        """The exit code of a batch script's body, and its output on both streams."""
        self.scripts += 1
        script, output, code = (self.folder / f"job{self.scripts}.{end}" for end in ("sh", "txt", "code"))
        script.write_text(f"#!/bin/bash\n(\n{body}\n)\necho $? > {code}.new\nmv {code}.new {code}\n", encoding="utf-8")
        self.run(["sbatch", "--parsable", f"--output={output}", f"--chdir={self.folder}", *options, script],
                 environment=environment)
        eventually(code.exists, f"the end of\n{body}\n{output.read_text(errors='replace') if output.exists() else ''}")
        return int(code.read_text()), output.read_text(errors="replace")
