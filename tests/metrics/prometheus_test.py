"""Metrics over HTTP, to a real Prometheus and in TensorBoard's files:
prometheus_test.py TANDEM REPORTING_PROGRAM ELASTIC_PROGRAM CHECKOUT"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

import launches
from launches import Launch, eventually, numbers, reported

TANDEM, PROGRAM, ELASTIC, CHECKOUT = launches.main(4)
ENDLESS = ["STEPS=100000", "PAUSE=10"]
PROMETHEUS = shutil.which("prometheus", path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"]))


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tandem-metrics-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def launch(self, flags, program):
        launch = Launch(TANDEM, self.folder / "job", flags, program)
        self.addCleanup(launch.__exit__)
        return launch

    def url(self, job):
        said = eventually(lambda: re.search(r"tandem: metrics are at (http://127\.0\.0\.1:\d+)/metrics\n", job.err), "the port")
        return said[1]


class Endpoint(Case):
    def test_gives_the_ranks_in_prometheus_format(self):
        job = self.launch(["-n", 2, "--metrics-port", 0, "--rdzv-id", "some run"], [PROGRAM, *ENDLESS])
        url = self.url(job)
        def two_ranks():
            text = get(f"{url}/metrics")
            return text if len(numbers(text, "tandem_step")) == 2 else None
        text = eventually(two_ranks, "two ranks")
        host = socket.gethostname()
        labels = [(("host", host), ("rank", str(rank)), ("run", "some run")) for rank in (0, 1)]
        for name in ("tandem_step", "tandem_epoch", "tandem_loss", "tandem_resident_memory_bytes", "tandem_report_age_seconds"):
            self.assertEqual(sorted(numbers(text, name)), labels, name)
        # What a process counts has its number: ranks are numbered anew with each set of them.
        pids = [one["pid"] for one in job.top()["ranks"]]
        for one, pid in zip(labels, pids):
            of_process = tuple(sorted([*one, ("pid", str(pid))]))
            self.assertEqual(numbers(text, "tandem_samples_total")[of_process], 8 * numbers(text, "tandem_step")[one])
        self.assertEqual(numbers(text, "tandem_world_size"), {(("run", "some run"),): 2.0})
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60) if shutil.which("promtool") else None
        if checked:
            self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
        # the same for `tandem top`
        place = urllib.parse.urlparse(url).netloc
        self.assertTrue(reported(job.top(place), 2))

    def test_refuses_what_it_does_not_have(self):
        job = self.launch(["--metrics-port", 0], [PROGRAM, *ENDLESS])
        url = self.url(job)
        for path, method, code in (("/", "GET", 404), ("/metrics/x", "GET", 404), ("/metrics", "POST", 405)):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(url + path, method=method, data=b"x" * 10000 if method == "POST" else None), timeout=20)
            self.assertEqual(refused.exception.code, code)
        # Who asks for too much, or for nothing, holds up nobody.
        place = urllib.parse.urlparse(url)
        idle = [socket.create_connection((place.hostname, place.port)) for _ in range(20)]
        with socket.create_connection((place.hostname, place.port), timeout=20) as talker:
            try:
                talker.sendall(b"GET /" + b"x" * 100000)
                self.assertEqual(talker.recv(100), b"")
            except ConnectionError:
                pass
        self.assertIn("tandem_world_size", get(f"{url}/metrics"))
        for one in idle:
            one.close()

    def test_is_an_error_before_the_job_begins_where_the_port_is_taken(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            job = self.launch(["--metrics-port", taken.getsockname()[1]], ["echo", "began"])
            self.assertEqual(job.wait(), 1)
        self.assertIn("--metrics-port: ", job.err)
        self.assertEqual(job.out, "")


@unittest.skipUnless(PROMETHEUS, "prometheus is not installed; script/bootstrap --schedulers installs it")
class Prometheus(Case):
    def start(self, target):
        """A Prometheus that scrapes `target` each second, and asks nobody else for anything."""
        configuration = self.folder / "prometheus.yml"
        configuration.write_text("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                                 f"scrape_configs: [{{job_name: tandem, static_configs: [{{targets: ['{target}']}}]}}]\n")
        url = f"http://127.0.0.1:{free_port()}"
        with open(self.folder / "prometheus.log", "wb") as log:
            process = subprocess.Popen([PROMETHEUS, f"--config.file={configuration}", f"--storage.tsdb.path={self.folder}/data",
                                        f"--web.listen-address={url.removeprefix('http://')}"], stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return url

    def query(self, url, query):
        """{rank: value}"""
        try:
            answer = json.loads(get(f"{url}/api/v1/query?" + urllib.parse.urlencode({"query": query})))
        except OSError:  # it does not listen yet
            return {}
        return {one["metric"].get("rank"): float(one["value"][1]) for one in answer["data"]["result"]}

    def test_answers_queries_with_what_ranks_report(self):
        (self.folder / "work").mkdir()
        job = self.launch(["-n", 2, "--metrics-port", 0], [ELASTIC, self.folder / "work", "STEPS=1000000", "PAUSE=10"])
        url = self.start(self.url(job).removeprefix("http://"))
        for query in ("tandem_step", "tandem_loss", "tandem_epoch", "rate(tandem_samples_total[10s]) > 0", "tandem_resident_memory_bytes > 1e6",
                      "rate(tandem_wait_seconds_total[10s])"):
            eventually(lambda: set(self.query(url, query)) == {"0", "1"}, f"two ranks for {query}")
        first = self.query(url, "tandem_step")
        eventually(lambda: all(value > first[rank] for rank, value in self.query(url, "tandem_step").items()), "more steps")
        self.assertEqual(self.query(url, "tandem_world_size"), {None: 2.0})
        # A rank that is lost is no longer there.
        said = job.top()
        os.kill(said["ranks"][1]["pid"], signal.SIGKILL)
        eventually(lambda: set(self.query(url, "tandem_step")) == {"0"} and self.query(url, "tandem_world_size") == {None: 1.0},
                   "one rank")
        # What the dashboard asks for is all there.
        for query in dashboard_queries():
            eventually(lambda: self.query(url, query.replace("$run", ".*").replace("$__rate_interval", "10s")), f"an answer to {query}")


def dashboard_queries():
    dashboard = json.loads((pathlib.Path(CHECKOUT) / "docs/grafana-dashboard.json").read_text(encoding="utf-8"))
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


class Dashboard(Case):
    def test_has_metrics_that_exist_and_all_of_them(self):
        (self.folder / "work").mkdir()
        job = self.launch(["-n", 2, "--metrics-port", 0], [ELASTIC, self.folder / "work", "STEPS=1000000", "PAUSE=10"])
        job.top_when(lambda said: reported(said, 2, 2), "two ranks that train")
        exported = set(re.findall(r"^# TYPE (\w+) ", get(f"{self.url(job)}/metrics"), re.M))
        self.assertIn("tandem_step", exported)
        asked = set(re.findall(r"\btandem_\w+", " ".join(dashboard_queries())))
        self.assertEqual(asked - exported, set())
        page = (pathlib.Path(CHECKOUT) / "docs/metrics.md").read_text(encoding="utf-8")
        described = set(re.findall(r"\btandem_\w+", page))
        self.assertEqual({name for name in described if not name.startswith("tandem_rpc_")}, exported)  # it calls nobody

    def test_has_panels_that_ask_for_something_and_do_not_overlap(self):
        dashboard = json.loads((pathlib.Path(CHECKOUT) / "docs/grafana-dashboard.json").read_text(encoding="utf-8"))
        self.assertTrue(dashboard["title"] and dashboard["uid"] and dashboard["schemaVersion"] >= 36)
        ids = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        places = set()
        for panel in dashboard["panels"]:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24)
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(cells & places, panel["title"])
            places |= cells
            self.assertTrue(panel["targets"] and all(target["expr"] for target in panel["targets"]), panel["title"])


class TensorBoard(Case):
    def scalars(self, path):
        """{tag: {step: value}} of an event file, read as TFRecord's framing and protocol buffers have it."""
        def fields(data):
            at = 0
            def varint():
                nonlocal at
                value, shift = 0, 0
                while True:
                    byte = data[at]
                    at += 1
                    value |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        return value
            while at < len(data):
                key = varint()
                if key & 7 == 0:
                    yield key >> 3, varint()
                elif key & 7 == 2:
                    size = varint()
                    yield key >> 3, data[at:at + size]
                    at += size
                else:
                    size = 8 if key & 7 == 1 else 4
                    yield key >> 3, data[at:at + size]
                    at += size
        found, data, at = {}, path.read_bytes(), 0
        while at < len(data):
            size, = struct.unpack_from("<Q", data, at)
            event = dict(fields(data[at + 12:at + 12 + size]))
            at += size + 16
            for number, value in fields(event.get(5, b"")):
                if number == 1:
                    scalar = dict(fields(value))
                    found.setdefault(scalar[1].decode(), {})[event.get(2, 0)] = struct.unpack("<f", scalar[2])[0]
        return found

    def test_has_what_ranks_reported(self):
        job = self.launch(["-n", 2, "--summary-dir", self.folder / "runs"], [PROGRAM, "STEPS=150", "PAUSE=20"])
        self.assertEqual(job.wait(), 0, job.err)
        files = list((self.folder / "runs").iterdir())
        self.assertEqual(len(files), 1)
        self.assertIn("tfevents", files[0].name)
        found = self.scalars(files[0])
        for tag in ("loss/rank_0", "loss/rank_1", "job/loss"):
            self.assertIn(150, found[tag], tag)
            for step, value in found[tag].items():
                self.assertAlmostEqual(value, 1 / step, delta=0.2 / step, msg=tag)
        self.assertGreater(found["job/samples_per_second"][150], 0)
        self.assertEqual(found["job/world_size"][150], 2)
        self.assertEqual(found["job/epoch"][150], 2)
        self.assertGreater(found["resident_memory_bytes/rank_1"][150], 1e5)

    def test_is_not_made_by_a_job_that_reports_nothing(self):
        job = self.launch(["--summary-dir", self.folder / "runs"], ["true"])
        self.assertEqual(job.wait(), 0, job.err)
        self.assertEqual(list((self.folder / "runs").iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
