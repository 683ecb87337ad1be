"""What a launcher says of its ranks: launcher_test.py TANDEM REPORTING_PROGRAM ELASTIC_PROGRAM"""
import json
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import launches
from launches import Launch, eventually, reported

TANDEM, PROGRAM, ELASTIC = launches.main(3)
ENDLESS = ["STEPS=100000", "PAUSE=10"]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tandem-metrics-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def launch(self, flags, program, name="job", environment={}):
        launch = Launch(TANDEM, self.folder / name, flags, program, environment)
        self.addCleanup(launch.__exit__)
        return launch

    def meeting(self, *flags):
        """Flags of two agents that meet on this machine, of which the first keeps the membership."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        common = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", *flags]
        return [[*common, "--node-rank", rank, "--rdzv-conf", f"is_host={1 - rank},last_call_timeout=1"] for rank in (0, 1)]


class Top(Case):
    def test_ranks_of_a_job_say_how_they_get_on(self):
        job = self.launch(["-n", 2, "--rdzv-id", "reports"], [PROGRAM, *ENDLESS])
        said = job.top_when(lambda said: reported(said, 2, 10) and all("samples_per_second" in one for one in said["ranks"]), "two ranks that report")
        self.assertEqual((said["run"], said["program"], said["pid"], said["world_size"]), ("reports", "reporting_program", job.process.pid, 2))
        for rank, one in enumerate(said["ranks"]):
            self.assertEqual(one["rank"], rank)
            self.assertEqual(one["samples"], 8 * one["step"])
            self.assertAlmostEqual(one["loss"], 1 / one["step"])
            self.assertGreater(one["samples_per_second"], 0)
            resident = int(pathlib.Path(f"/proc/{one['pid']}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
            self.assertLess(abs(one["resident_bytes"] - resident), 4 << 20)
        self.assertTrue(job.top("reports"))
        table = subprocess.run([TANDEM, "top", "--once", "reports"], capture_output=True, text=True, timeout=30).stdout
        self.assertRegex(table, r"^reports: reporting_program on \S+, 2 ranks, 0:\d\d:\d\d\nRANK +HOST +PID +EPOCH +STEP ")
        self.assertEqual(len(table.splitlines()), 4)

    def test_who_reports_nothing_is_there_with_its_memory(self):
        job = self.launch(["-n", 2], ["sleep", "1000"])
        said = job.top_when(lambda said: len(said["ranks"]) == 2, "two ranks")
        for one in said["ranks"]:
            self.assertNotIn("step", one)
            self.assertGreater(one["resident_bytes"], 0)

    def test_of_several_jobs_one_is_chosen(self):
        jobs = [self.launch(["--rdzv-id", name], [PROGRAM, *ENDLESS], name) for name in ("first", "second")]
        for job, name in zip(jobs, ("first", "second")):
            job.top_when(lambda said: said["run"] == name, name, name)
        none = subprocess.run([TANDEM, "top", "--once", "third"], capture_output=True, text=True, timeout=30)
        self.assertEqual(none.returncode, 1)
        self.assertIn("no job is called third", none.stderr)
        for name in ("first", "second"):
            self.assertRegex(none.stdout, rf"(?m)^{name} +reporting_program ")
        several = subprocess.run([TANDEM, "top", "--once"], capture_output=True, text=True, timeout=30)
        self.assertEqual(several.returncode, 1)
        self.assertIn("several jobs run", several.stderr)

    def test_its_socket_is_its_users_alone(self):
        job = self.launch([], [PROGRAM, *ENDLESS])
        job.top_when(lambda said: reported(said, 1), "a rank that reports")
        folders = [link.resolve() for link in pathlib.Path(f"/proc/{job.supervisor()}/fd").iterdir() if (link / "metrics").exists()]
        self.assertEqual([os.stat(folder).st_mode & 0o077 for folder in folders], [0])
        job.process.send_signal(signal.SIGTERM)
        job.wait()
        self.assertFalse(folders[0].exists())

    def test_a_lost_rank_disappears_and_another_takes_its_place(self):
        (self.folder / "work").mkdir()
        job = self.launch(["-n", 2, "--max-restarts", 1], [ELASTIC, self.folder / "work", "STEPS=1000000", "PAUSE=10"])
        said = job.top_when(lambda said: reported(said, 2, 2), "two ranks that train")
        self.assertEqual((said["membership_epoch"], said["restarts"]), (1, 0))
        self.assertTrue(all(one["samples"] > 0 and "loss" in one and one["epoch"] >= 1 and one["wait_seconds"] > 0 for one in said["ranks"]), said)
        lost = said["ranks"][1]["pid"]
        os.kill(lost, signal.SIGKILL)
        said = job.top_when(lambda said: said["membership_epoch"] > 1 and said["world_size"] == 2 and reported(said, 2, 2), "two ranks again")
        self.assertNotIn(lost, [one["pid"] for one in said["ranks"]])
        self.assertEqual([one["rank"] for one in said["ranks"]], [0, 1])
        self.assertEqual(said["restarts"], 1)
        # and one fewer where none does
        os.kill(said["ranks"][0]["pid"], signal.SIGKILL)
        said = job.top_when(lambda said: said["world_size"] == 1 and reported(said, 1, 2), "one rank")
        self.assertEqual([one["rank"] for one in said["ranks"]], [0])

    def test_a_restarted_job_begins_anew(self):
        script = 'if [ $TORCHELASTIC_RESTART_COUNT = 0 ]; then exit 3; fi; exec "$@"'
        job = self.launch(["-n", 2, "--max-restarts", 1], ["sh", "-c", script, "sh", PROGRAM, *ENDLESS])
        said = job.top_when(lambda said: reported(said, 2), "two ranks that report")
        self.assertEqual((said["restarts"], len(said["ranks"])), (1, 2))

    def test_the_agent_that_keeps_the_membership_has_the_ranks_of_all_nodes(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        flags = ["-n", 2, "--nnodes", 2, "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}"]
        nodes = [self.launch([*flags, "--node-rank", rank], [PROGRAM, *ENDLESS], f"node{rank}") for rank in (0, 1)]
        eventually(lambda: all(node.top() for node in nodes), "both nodes run")
        keeper, other = sorted(nodes, key=lambda node: not node.top()["is_whole"])
        said = keeper.top_when(lambda said: reported(said, 4, 3), "four ranks that report")
        self.assertEqual([one["rank"] for one in said["ranks"]], [0, 1, 2, 3])
        self.assertEqual(said["world_size"], 4)
        own = other.top()
        self.assertEqual((own["is_whole"], len(own["ranks"])), (False, 2))
        self.assertTrue({one["pid"] for one in own["ranks"]} < {one["pid"] for one in said["ranks"]})


    def test_an_agent_without_a_rank_knows_the_set_of_ranks(self):
        for keeps in (True, False):
            with self.subTest(keeps=keeps):
                work = self.folder / f"work{keeps}"
                work.mkdir()
                keeper, other = [self.launch([*flags, "-n", 1, "--nnodes", "1:2"], [ELASTIC, work, "STEPS=1000000", "PAUSE=10"],
                                             f"node{node}{keeps}") for node, flags in enumerate(self.meeting())]
                said = keeper.top_when(lambda said: said["world_size"] == 2 and reported(said, 2, 2), "two ranks that train")
                others = [one["pid"] for one in other.top()["ranks"]]
                own = [one["pid"] for one in said["ranks"] if one["pid"] not in others]
                os.kill((own if keeps else others)[0], signal.SIGKILL)
                for agent, ranks in ((keeper, [0]), (other, [0] if keeps else [])):
                    agent.top_when(lambda now: now["world_size"] == 1 and now["membership_epoch"] > said["membership_epoch"]
                                   and [one["rank"] for one in now["ranks"]] == ranks, "a world of one rank")

    def test_ends_with_the_job(self):
        job = self.launch(["--metrics-port", 0], [PROGRAM, *ENDLESS])
        place = eventually(lambda: re.search(r"metrics are at http://(\S+)/metrics", job.err), "the port")[1]
        job.top_when(lambda said: reported(said, 1), "a rank that reports")
        tops = []
        for name in (place, str(job.process.pid)):
            top = subprocess.Popen([TANDEM, "top", "--json", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(top.kill)
            self.assertEqual(json.loads(top.stdout.readline())["world_size"], 1)
            tops.append(top)
        job.process.send_signal(signal.SIGTERM)
        job.wait()
        for top in tops:
            out, err = top.communicate(timeout=30)
            self.assertEqual((top.returncode, err), (0, "the job has ended, or its launcher is stopped\n"))
            for line in out.splitlines():
                json.loads(line)

    def test_a_jobs_name_may_look_like_a_port(self):
        job = self.launch(["--rdzv-id", "run:17"], [PROGRAM, *ENDLESS])
        self.assertEqual(job.top_when(lambda said: reported(said, 1), "a rank", "run:17")["run"], "run:17")


class Launcher(Case):
    def test_needs_no_folder_for_temporary_files_where_it_has_one_for_logs(self):
        job = self.launch(["--log-dir", self.folder / "logs", "--rdzv-id", "logs"], [PROGRAM, "STEPS=1"], environment={"TMPDIR": "/nonexistent"})
        self.assertEqual(job.wait(), 0, job.err)

    def test_says_nothing_more_to_a_reader_that_reads_nothing(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        filled = 0
        try:
            while True:
                filled += os.write(writer, b"." * 4096)
        except BlockingIOError:
            pass
        os.set_blocking(writer, True)
        job = subprocess.Popen([TANDEM, "run", "--progress", "0.5", "--", PROGRAM, "STEPS=250", "PAUSE=20", f"FILE={self.folder}/done"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer)
        self.addCleanup(job.kill)
        os.close(writer)
        eventually(lambda: (self.folder / "done.0").exists(), "the program's end")
        with open(reader, "rb") as text:
            said = text.read()[filled:].decode()
        self.assertEqual(job.wait(30), 0)
        self.assertLessEqual(len(said.splitlines()), 2, "one that waits, and the last one")
        self.assertIn("step 250, ", said.splitlines()[-1])

    def test_draws_on_a_terminal_only_while_it_has_it(self):
        # A session of its own on a terminal, as a shell's: a launch runs behind it, and another one in front.
        script = r"""
import fcntl, os, signal, subprocess, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
def launch(word, in_front):
    process = subprocess.Popen([*sys.argv[1:], word], process_group=0) if sys.version_info >= (3, 11) else subprocess.Popen([*sys.argv[1:], word], preexec_fn=os.setpgrp)
    if in_front:
        os.tcsetpgrp(0, process.pid)
    process.wait(60)
    os.tcsetpgrp(0, os.getpgrp())
launch("STEPS=150", False)
print("HALF", flush=True)
launch("STEPS=150", True)
"""
        parent, child = pty.openpty()
        session = subprocess.Popen([sys.executable, "-c", script, TANDEM, "run", "-n", "1", "--", PROGRAM], stdin=child, stdout=child,
                                   stderr=child, start_new_session=True)
        self.addCleanup(session.kill)
        os.close(child)
        text = b""
        while True:
            try:
                part = os.read(parent, 4096)
            except OSError:  # nobody has the other side any more
                break
            text += part
        os.close(parent)
        self.assertEqual(session.wait(30), 0, text)
        behind, in_front = text.decode(errors="replace").split("HALF")
        self.assertEqual(len(re.findall(r"tandem: epoch \d", behind)), 1, "the last one, at its end")
        self.assertIn("step 150, ", behind)
        self.assertGreaterEqual(len(re.findall(r"tandem: epoch \d", in_front)), 3)

    def test_goes_on_while_other_nodes_train(self):
        nodes = [self.launch([*flags, "--nnodes", 2, "--progress", "0.5", *more], [PROGRAM, f"STEPS={steps}", "PAUSE=20"], f"node{node}")
                 for node, (flags, steps, more) in enumerate(zip(self.meeting(), (20, 300), (["--summary-dir", self.folder / "runs"], [])))]
        for node in nodes:
            self.assertEqual(node.wait(), 0, node.err)
        steps = [int(step) for step in re.findall(r"tandem: epoch \d, step (\d+), ", nodes[0].err)]
        self.assertGreater(steps[-1], 100, nodes[0].err)
        self.assertGreater(len([step for step in steps if step > 20]), 2)

    def test_holds_up_nobody_when_it_is_stopped(self):
        job = self.launch(["-n", 2], [PROGRAM, "STEPS=3000", "PAUSE=1", f"FILE={self.folder}/done"])
        supervisor = job.supervisor()
        job.top_when(lambda said: reported(said, 2), "two ranks that report")
        for stopped in (supervisor, job.process.pid):
            os.kill(stopped, signal.SIGSTOP)
        try:
            self.assertFalse((self.folder / "done.0").exists())
            eventually(lambda: all((self.folder / f"done.{rank}").exists() for rank in (0, 1)), "ranks that end meanwhile")
            state = pathlib.Path(f"/proc/{supervisor}/stat").read_text().rsplit(")", 1)[1].split()[0]
            self.assertEqual(state, "T")
        finally:
            for stopped in (supervisor, job.process.pid):
                os.kill(stopped, signal.SIGCONT)
        self.assertEqual(job.wait(), 0, job.err)

    def test_says_nothing_by_itself_where_no_terminal_is(self):
        job = self.launch(["-n", 2], [PROGRAM, "STEPS=50", "LINES=yes"])
        self.assertEqual(job.wait(), 0)
        self.assertEqual(job.err, "")
        self.assertEqual(len(job.out.splitlines()), 100)

    def test_says_lines_where_it_is_asked_to(self):
        job = self.launch(["-n", 2, "--progress", "0.5"], [PROGRAM, "STEPS=150", "LINES=yes"])
        self.assertEqual(job.wait(), 0)
        lines = job.err.splitlines()
        self.assertGreaterEqual(len(lines), 3)
        for line in lines[:-1]:
            self.assertRegex(line, r"^tandem: epoch \d, step \d+, (\S+ (samples|steps)/s, )?loss \S+, 2 ranks, 0:00:\d\d$")
        self.assertIn("epoch 2, step 150, ", lines[-1])
        self.assertEqual(len(job.out.splitlines()), 300)

    def test_rewrites_one_line_of_a_terminal_and_cuts_none_of_the_ranks(self):
        parent, child = pty.openpty()
        process = subprocess.Popen([TANDEM, "run", "-n", "2", "--", PROGRAM, "STEPS=150", "LINES=yes"], stdin=subprocess.DEVNULL,
                                   stdout=child, stderr=child, start_new_session=True)
        os.close(child)
        try:
            text = ""
            while True:
                try:
                    part = os.read(parent, 4096)
                except OSError:  # nobody has the other side any more
                    break
                if not part:
                    break
                text += part.decode(errors="replace")
            self.assertEqual(process.wait(30), 0)
        finally:
            process.kill()
            os.close(parent)
        drawn = re.findall(r"tandem: epoch \d, step \d+, [^\r\n\x1b]*2 ranks, \d:\d\d:\d\d", text)
        self.assertGreaterEqual(len(drawn), 2)
        screen = self.screen(text)
        self.assertEqual(len([line for line in screen if line.startswith("tandem: ")]), 1, "one line stays")
        for rank in (0, 1):
            whole = [line for line in screen if re.fullmatch(rf"\[{rank}\] step \d+ of rank {rank}, and that is the whole line", line)]
            self.assertEqual(len(whole), 150)
        self.assertEqual(len(screen), 301)

    @staticmethod
    def screen(text):
        """The lines that a terminal of endless height shows in the end, without colours."""
        lines, current, column = [], "", 0
        for piece in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", text):
            if piece == "\n":
                lines.append(current)
                current = ""
            elif piece == "\r":
                column = 0
            elif piece.startswith("\x1b"):
                if piece.endswith("K"):
                    current = current[:column]
            else:
                current = current[:column] + piece + current[column + len(piece):]
                column += len(piece)
        return lines + [current] * bool(current)

    def test_refuses_what_is_no_time(self):
        for wrong in ("-1", "soon", "nan"):
            done = subprocess.run([TANDEM, "run", f"--progress={wrong}", "--", "true"], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"--progress is {wrong}", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
