"""Tests of the benchmarks' driver: its ratios, its file format, and how it treats programs that fail."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from driver import (against, allreduce, cold_build, commits, data_parallel, ddp_parts, ddp_statistics, ddp_step, exported, figures, loader,
                    loader_files, loader_jpeg, loader_open, loader_shuffled, measure, op_overhead, places, report, scaling, train_step)

REPORTING = "import json, os; json.dump({'value': %s}, open(os.path.join(os.environ['BENCH_OUT'], 'rank-0.json'), 'w'))"


def program(text):
    return [sys.executable, "-c", text]


class Report(unittest.TestCase):
    def entry(self, ours, peer, **options):
        return report.entry("mlp", ours, peer, "torchrun", "ms/step", ranks=2, threads=1, **options)

    def test_ratio_is_of_medians(self):
        entry = self.entry([2, 1, 100, 2, 3], [4, 4, 4, 9, 1])
        self.assertEqual((entry["ours"], entry["peer"], entry["ratio"]), (2, 4, 0.5))

    def test_a_higher_rate_gives_a_ratio_below_one(self):
        self.assertEqual(self.entry([10] * 5, [5] * 5, rate=True)["ratio"], 0.5)

    def test_fewer_than_five_runs_are_refused(self):
        with self.assertRaisesRegex(ValueError, "at least 5"):
            self.entry([1] * 5, [1] * 4)

    def test_file_is_a_list_of_objects_with_these_keys(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ddp-step.json")
            report.write(path, [self.entry([1] * 5, [2] * 5)])
            with open(path) as file:
                read = json.load(file)
            self.assertEqual(read, [{"case": "mlp", "ours": 1, "peer": 2, "peer_name": "torchrun", "unit": "ms/step",
                                     "ratio": 0.5, "front_end": "go", "ranks": 2, "threads": 1}])
            self.assertEqual(os.listdir(folder), ["ddp-step.json"])

    def test_table_shows_each_entry(self):
        lines = report.table([self.entry([1] * 5, [2] * 5)]).splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], r"^mlp +1 +2 +ms/step +0\.500 +torchrun +go +2 +1$")


class Alternate(unittest.TestCase):
    def test_sides_take_turns_and_the_order_turns_too(self):
        calls = []
        sides = {name: lambda name=name: calls.append(name) or len(calls) for name in "ab"}
        results = measure.alternate(sides, 3, progress=lambda text: None)
        self.assertEqual("".join(calls), "abbaab")
        self.assertEqual(results, {"a": [1, 4, 5], "b": [2, 3, 6]})


class Run(unittest.TestCase):
    def test_reports_come_in_order_of_rank(self):
        reports, _ = measure.run(program(REPORTING % 7), ranks=1)
        self.assertEqual(reports, [{"value": 7}])

    def test_threads_are_bound(self):
        reports, _ = measure.run(program(REPORTING % "os.environ['OMP_NUM_THREADS']"), ranks=1)
        self.assertEqual(reports, [{"value": "1"}])

    def test_a_failure_carries_the_output(self):
        with self.assertRaisesRegex(measure.BenchError, "(?s): 3\n.*no such weights"):
            measure.run(program("import sys; print('no such weights'); sys.exit(3)"), ranks=1)

    def test_a_missing_rank_is_named(self):
        with self.assertRaisesRegex(measure.BenchError, "no report of rank 1"):
            measure.run(program(REPORTING % 1), ranks=2)

    def test_a_hang_ends(self):
        with self.assertRaisesRegex(measure.BenchError, "no end after 1 s"):
            measure.run(program("import time; time.sleep(600)"), ranks=1, timeout=1)


class WithStandIns(unittest.TestCase):
    """With stand-ins for the programs of each side."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "bin"))
        for name, value in (("BUILD", self.folder), ("PYTHON", os.path.join(self.folder, "bin", "python"))):
            patch = mock.patch.object(places, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def stand_in(self, program, *reports):
        """A program that writes the report of each rank."""
        path = os.path.join(self.folder, "bin", program)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n")
            for rank, values in enumerate(reports):
                file.write(f"echo '{json.dumps(values)}' > $BENCH_OUT/rank-{rank}.json\n")
        os.chmod(path, 0o755)
        return path


class OpOverhead(WithStandIns):
    def stand_ins(self, values_of_cpp):
        self.stand_in("bench-op-overhead", {"us": 0.75, "values": [1, 2]})
        self.stand_in("python", {"us": 1.5, "values": [1, 2]})
        self.stand_in("bench-op-overhead-cpp", {"us": 0.5, "values": values_of_cpp})

    def test_each_peer_has_an_entry(self):
        self.stand_ins([1, 2])
        said = []
        entries = op_overhead.benchmark(5, said.append, ["add-noscope"])
        self.assertEqual([(e["case"], e["peer_name"], e["unit"], e["ratio"]) for e in entries],
                         [("add-noscope", "python", "us/op", 0.5), ("add-noscope", "cpp", "us/op", 1.5)])
        self.assertIn("  +0.250 us against cpp", said)

    def test_sides_that_disagree_are_named(self):
        self.stand_ins([1, 3])
        with self.assertRaisesRegex(measure.BenchError, "add-scope: value 1 is 2, that of cpp is 3"):
            op_overhead.benchmark(5, lambda text: None, ["add-scope"])

    def test_sides_with_fewer_values_are_named(self):
        self.stand_ins([1])
        with self.assertRaisesRegex(measure.BenchError, "add-scope: 2 values, cpp has 1"):
            op_overhead.benchmark(5, lambda text: None, ["add-scope"])

    def test_training_has_no_peer_in_cpp(self):
        with mock.patch.object(op_overhead.subprocess, "run"):
            self.assertEqual(list(op_overhead.Case("lstm-cell-loop", self.folder).sides()), ["ours", "python"])


class AllReduce(WithStandIns):
    def reports(self, ranks, us, value=3):
        sizes = [str(size) for size in allreduce.SIZES.values()]
        return [{"us": {size: us + rank for size in sizes}, "values": {size: [value] for size in sizes}}
                for rank in range(ranks)]

    def stand_ins(self, ranks, openmpi=None):
        self.stand_in("tandem", *self.reports(ranks, 1))
        self.stand_in("python", *self.reports(ranks, 39))
        if openmpi:
            self.stand_in("bench-allreduce-mpi", {})
            patch = mock.patch.dict(os.environ, PATH=os.path.join(self.folder, "bin") + ":" + os.environ["PATH"])
            patch.start()
            self.addCleanup(patch.stop)
            self.stand_in("mpirun", *openmpi)

    def test_each_size_has_an_entry_of_the_slower_rank_and_a_missing_peer_is_said(self):
        self.stand_ins(2)
        said = []
        entries = allreduce.benchmark(5, said.append, ["1KB-2", "25MB-2"])
        self.assertEqual([(e["case"], e["front_end"], e["ours"], e["peer"], e["ratio"], e["ranks"]) for e in entries],
                         [(case, front_end, 2, 40, 0.05, 2) for case in ("1KB-2", "25MB-2") for front_end in ("go", "cpp")])
        self.assertEqual({e["peer_name"] for e in entries}, {"gloo"})
        self.assertRegex(said[0], "NOT MEASURED: openmpi, which is not installed")

    def test_open_mpi_is_a_peer_where_it_is_installed(self):
        self.stand_ins(4, openmpi=self.reports(4, 1))
        entries = allreduce.benchmark(5, lambda text: None, ["64B-4"])
        self.assertEqual([(e["case"], e["peer_name"], e["front_end"], e["ratio"]) for e in entries],
                         [("64B-4", peer, front_end, ratio) for peer, ratio in (("gloo", 4 / 42), ("openmpi", 1))
                          for front_end in ("go", "cpp")])

    def test_a_rank_with_another_result_is_named(self):
        self.stand_ins(2, openmpi=[*self.reports(1, 1), *self.reports(1, 1, value=4)])
        with self.assertRaisesRegex(measure.BenchError, "1024 bytes on 2 ranks: rank 1 of openmpi has .4., rank 0 of ours"):
            allreduce.benchmark(5, lambda text: None, ["1KB-2"])

    def test_hosts_are_cases_where_they_can_be_made_and_else_it_is_said(self):
        self.stand_ins(4)
        said = []
        entries = allreduce.benchmark(5, said.append, ["25MB-2+2"])
        if any("NOT MEASURED: several hosts" in line for line in said):
            self.assertEqual(entries, [])
            self.skipTest(said[-1])
        self.assertEqual([(e["case"], e["peer_name"], e["front_end"], e["ratio"], e["ranks"]) for e in entries],
                         [("25MB-2+2", "gloo", "go", 4 / 42, 4), ("25MB-2+2", "gloo", "cpp", 4 / 42, 4)])

    def test_sizes_are_multiples_of_a_number(self):
        self.assertTrue(all(size % 4 == 0 for size in allreduce.SIZES.values()))


class DdpStep(unittest.TestCase):
    """Each run takes as many milliseconds as its ranks and its exchange add up to."""
    class Model:
        def __init__(self, name, folder, ranks=2):
            self.ranks = ranks

        def check(self, progress):
            pass

        def ours(self, exchange, extra=()):
            return {"shm": 10, "gloo": 20, "none": 5}[exchange] * self.ranks

        def peer(self, exchange, extra=()):
            return 100 * self.ranks

        def step_ms(self, run, exchange, extra=()):
            return run(exchange, extra)

        def step_ms_and_memory(self, exchange):
            return self.ours(exchange), 64 * self.ranks

    def test_four_ranks_are_a_case_of_their_own(self):
        with mock.patch.object(ddp_step, "Model", self.Model):
            entries = ddp_step.benchmark(5, lambda text: None, ["mlp-4-ranks"])
        self.assertEqual([(e["case"], e["ours"], e["peer"], e["peer_name"], e["ranks"]) for e in entries],
                         [("mlp-4-ranks", 40, 80, "ours-gloo", 4), ("mlp-4-ranks", 40, 400, "python-ddp-gloo", 4)])

    def test_runs_beside_another_commit_have_as_many_ranks_as_they_say(self):
        with mock.patch.object(ddp_step, "Model", self.Model):
            values = [run() for run, _ in ddp_step.own_runs(["cnn", "cnn-4-ranks"])]
        self.assertEqual(values, [{"cnn": 20, "cnn-memory": 128}, {"cnn-gloo": 40, "cnn-gloo-memory": 128},
                                  {"cnn-no-exchange": 10, "cnn-no-exchange-memory": 128},
                                  {"cnn-4-ranks": 40, "cnn-4-ranks-memory": 256},
                                  {"cnn-4-ranks-gloo": 80, "cnn-4-ranks-gloo-memory": 256}])

    def test_memory_is_that_of_the_largest_rank(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(ddp_step.subprocess, "run"):
            model = ddp_step.Model("cnn", folder)
        ranks = [{"step_ms": 3, "rss_kb": 2048}, {"step_ms": 2, "rss_kb": 4096}]
        with mock.patch.object(model, "ours", lambda *arguments: ranks):
            self.assertEqual(model.step_ms_and_memory("shm"), (3, 4))


class TrainStep(WithStandIns):
    def stand_ins(self, losses_of_python=(3, 2, 1)):
        """Python takes 2 ms a step. Both are told that they are alone, as a launcher would tell them."""
        alone = '[ "$RANK,$WORLD_SIZE" = 0,1 ] || exit 9'
        for name, first, values in (("bench-ddp-step", alone, {"step_ms": 1.6, "losses": [3, 2, 1]}),
                                    ("python", f'case "$1" in */ddp_step.py) {alone};; '
                                     "*/kernels.py) ;; */compare.py) echo all agree; exit;; *) exit;; esac",
                                     {"step_ms": 2, "kernels_ms": 1.5, "losses": losses_of_python})):
            path = self.stand_in(name, values)
            with open(path) as file:
                shell, *writes = file.read().splitlines()
            with open(path, "w") as file:
                file.write("\n".join([shell, first, *writes]) + "\n")

    def test_each_model_has_an_entry_and_its_limit_is_said(self):
        self.stand_ins()
        said = []
        entries = train_step.benchmark(5, said.append, ["mlp", "mlp-small"])
        self.assertEqual([(e["case"], e["peer_name"], e["unit"], e["ratio"], e["ranks"], e["threads"]) for e in entries],
                         [(case, "python", "ms/step", ratio, 1, 1) for case, ratio in
                          (("mlp", 0.8), ("mlp-kernels", 0.75), ("mlp-small", 0.8), ("mlp-small-kernels", 0.75))])
        self.assertIn("  0.800 of Python's time, at most 0.8 wanted", said)
        self.assertIn("  0.800 of Python's time, at most 0.75 wanted: MISSED", said)
        self.assertIn("  all agree", said)

    def test_losses_that_differ_are_an_error(self):
        self.stand_ins((3, 2, 1.1))
        with self.assertRaisesRegex(measure.BenchError, "gpt10m: the loss at step 2 is 1, Python's 1.1"):
            train_step.benchmark(5, lambda text: None, ["gpt10m"])

    def test_programs_of_both_sides_have_each_model(self):
        for path in ("peers/models.py", "go/models/models.go"):
            with open(places.beside(path)) as file:
                text = file.read()
            for name in train_step.LIMITS:
                self.assertIn(f'"{name}": ', text, path)


class Exported(WithStandIns):
    """The stand-ins tell what they were asked to run by their times: an archive's step takes 9 ms, Go's network's 8.5, Python's 10."""

    def setUp(self):
        super().setUp()
        trained = ('echo "$*" | grep -q -- "--exported .*/train.pt2" && ms=9 || ms=8.5; for rank in 0 1; do echo '
                   '"{\\"step_ms\\": $ms, \\"losses\\": [3, 2, 1]}" > $BENCH_OUT/rank-$rank.json; done')
        self.script("bench-ddp-step", trained)
        self.script("tandem", trained)
        self.script("bench-exported", f'case "$*" in -compiled*) {self.called(7, 1, 2)};; *) {self.called(9, 1, 2)};; esac')
        self.python()

    def script(self, program, body):
        path = self.stand_in(program)
        with open(path, "a") as file:
            file.write(body + "\n")

    def called(self, ms, *values):
        return f"echo '{json.dumps({'ms': ms, 'values': values})}' > $BENCH_OUT/rank-0.json"

    def python(self, *, exports="exit 0", value=2):
        self.script("python", f"""case "$*" in
            *export_model.py*) {exports};;
            *compare.py*) echo all agree;;
            *ddp_step.py*) echo '{{"step_ms": 10, "losses": [3, 2, 1]}}' > $BENCH_OUT/rank-0.json;;
            *exported_infer.py*--compiled) {self.called(8, 1, value)};;
            *exported_infer.py*) {self.called(10, 1, value)};;
        esac""")

    def test_each_case_has_its_peer_and_its_limit(self):
        said = []
        entries = exported.benchmark(5, said.append)
        self.assertEqual([(e["case"], e["ours"], e["peer"], e["peer_name"], e["unit"], e["ranks"]) for e in entries],
                         [("resnet18-train", 9, 10, "python", "ms/step", 1), ("transformer-train", 9, 10, "python", "ms/step", 1),
                          ("resnet18-infer", 9, 10, "python-exported", "ms/call", 1),
                          ("resnet18-compiled", 7, 8, "python-compiled", "ms/call", 1),
                          ("resnet18-ddp", 9, 8.5, "ours-go", "ms/step", 2)])
        self.assertIn("  0.900 of Python's time, at most 0.95 wanted", said)
        self.assertIn("  0.900 of Python's exported module's time, at most 0.9 wanted", said)
        self.assertIn("  0.875 of Python's compiled package's time, at most 1.03 wanted", said)
        self.assertIn("  1.059 of the network in Go's time, at most 1.03 wanted: MISSED", said)

    def test_one_case_runs_alone(self):
        self.assertEqual([e["case"] for e in exported.benchmark(5, lambda text: None, ["resnet18-ddp"])], ["resnet18-ddp"])

    def test_an_export_that_fails_is_shown_with_its_output(self):
        self.python(exports="echo no such operator; exit 3")
        with self.assertRaisesRegex(measure.BenchError, "(?s)export_model.py resnet18 .*: 3\n.*no such operator"):
            exported.benchmark(5, lambda text: None, ["resnet18-infer"])

    def test_results_that_differ_are_named(self):
        self.python(value=3)
        with self.assertRaisesRegex(measure.BenchError, "resnet18-infer: value 1 is 2, that of python is 3"):
            exported.benchmark(5, lambda text: None, ["resnet18-infer"])

    def test_losses_that_differ_from_those_of_go_are_named(self):
        self.script("tandem", 'echo "$*" | grep -q -- --exported && loss=2 || loss=3; for rank in 0 1; do echo '
                    '"{\\"step_ms\\": 1, \\"losses\\": [$loss]}" > $BENCH_OUT/rank-$rank.json; done')
        with self.assertRaisesRegex(measure.BenchError, "resnet18-ddp: the loss of rank 0 at step 0 is 2, that of the network in Go 3"):
            exported.benchmark(5, lambda text: None, ["resnet18-ddp"])


class DdpStatistics(unittest.TestCase):
    def test_what_is_told_stands_beside_what_is_measured(self):
        class Model:
            def __init__(self, name, folder):
                pass

            def ours(self, exchange, warmup, steps, extra=()):
                if extra[:1] == ("--separate",):
                    return [{"told_exposed_ms": 3 + rank, "alone_ms": 6 + rank, "reduced_ms": 4 + rank}
                            for rank in (0, 2)]
                size = float(extra[1]) if extra[:1] == ("--bucket-cap-mb",) else 25
                step = 10 if exchange == "none" else 12 if extra == ("--advise",) else 11 + abs(size - 5)
                return [{"steps_ms": [step + rank, step + rank, 99], "bucket_cap_mb": 1} for rank in (0, 2)]

        said = []
        with mock.patch.object(ddp_step, "Model", Model):
            entries = ddp_statistics.benchmark(5, said.append, ["mlp"])
        self.assertEqual([(e["case"], e["ours"], e["peer"], e["peer_name"]) for e in entries],
                         [("mlp-exposed", 4, 21, "step-less-no-exchange"), ("mlp-total", 7, 5, "buckets-reduced-alone"),
                          ("mlp-advised", 13, 12, "best-5-MB")])
        self.assertRegex(said[-1], "0 MB 17 ms, 1 MB 16 ms, 5 MB 12 ms, .*; the advisor kept 1, 1, 1, 1, 1 MB")


class DdpParts(unittest.TestCase):
    def test_threads_are_told_by_name_and_steps_compared_with_the_module_alone(self):
        class Model:
            def __init__(self, name, folder):
                pass

            def ours(self, exchange, warmup, steps, extra=()):
                threads = {"program": {"cpu_ms": 8, "runqueue_ms": 1, "switches": 3, "preemptions": 0, "faults": 2}}
                if exchange == "shm" and "--bare" not in extra:
                    threads["tdm-shm"] = {**threads["program"], "cpu_ms": 0.5}
                step = 10 + len(extra) if "--bare" in extra else 12
                return [{"step_ms": step + rank, "threads": threads} for rank in (0, 1)]

        said = []
        with mock.patch.object(ddp_step, "Model", Model):
            entries = ddp_parts.benchmark(5, said.append, ["mlp"])
        self.assertEqual([(e["case"], e["ours"], e["peer"]) for e in entries],
                         [("mlp-lockstep", 14, 13), ("mlp-none", 13, 13), ("mlp-shm", 13, 13)])
        self.assertEqual(len(re.findall(r"program +8\.000 +1\.000 +3\.000 +0\.000 +2\.000", said[-1])), 4)
        self.assertEqual(len(re.findall(r"tdm-shm +0\.500", said[-1])), 1)


class Figures(unittest.TestCase):
    def test_an_unknown_figure_is_named_before_anything_is_measured(self):
        with self.assertRaisesRegex(measure.BenchError, "'pie'; there are allreduce, breakdown, bucket-size"):
            figures.draw_all(self.fail, ["pie"])

    def test_losses_are_means_of_the_batches_before(self):
        self.assertEqual(figures.smoothed([4, 2, 6, 0], width=2), [4, 3, 4, 3])

    def test_a_tool_that_fails_is_shown_with_its_output(self):
        with self.assertRaisesRegex(measure.BenchError, "(?s): 4\n.*no such folder"):
            measure.run_tool(*program("import sys; print('no such folder'); sys.exit(4)"))


class DataParallel(unittest.TestCase):
    def benchmark(self, loss_of_replicas):
        def run(model, folder, replicas, warmup, steps, extra=()):
            return {"step_ms": 100 / replicas, "losses": [2.5] if replicas == 1 else [loss_of_replicas]}

        said = []
        with mock.patch.object(data_parallel, "run", run), mock.patch.object(data_parallel.subprocess, "run") as compare:
            compare.return_value = mock.Mock(returncode=0, stdout="the same")
            return data_parallel.benchmark(5, said.append), said

    def test_one_replica_is_the_peer(self):
        [entry], said = self.benchmark(2.5)
        self.assertEqual((entry["case"], entry["ours"], entry["peer"], entry["peer_name"], entry["ratio"]),
                         ("lstm", 50, 100, "one-replica", 0.5))
        self.assertIn("  2.00 times one replica", said)

    def test_losses_that_differ_are_an_error(self):
        with self.assertRaisesRegex(measure.BenchError, "lstm: the loss at step 0 is 2.6, that of one replica 2.5"):
            self.benchmark(2.6)


class Loader(unittest.TestCase):
    def test_python_counts_with_its_best_number_of_workers(self):
        rates = {"ours": [60] * 5, "uint8-tensor-indexed": [30] * 5, "python-dataloader-0": [2] * 5,
                 "python-dataloader-1": [1, 1, 3, 3, 3], "python-dataloader-2": [1] * 5}
        dataloader, indexed = loader_shuffled.entries(rates)
        self.assertEqual((dataloader["peer_name"], dataloader["peer"], dataloader["ratio"]), ("python-dataloader", 3, 0.05))
        self.assertEqual((indexed["peer_name"], indexed["ratio"]), ("uint8-tensor-indexed", 0.5))

    def test_pictures_are_compared_with_as_many_threads(self):
        commands = loader_jpeg.sides("/folder", "train", 1)
        self.assertEqual(list(commands), ["ours", "torchvision-0", "torchvision-1"])
        self.assertEqual(list(loader_jpeg.sides("/folder", "plain", 2)), ["ours", "torchvision-2"])
        entry = loader_jpeg.entry("train", 1, {"ours": [3] * 5, "torchvision-0": [2] * 5, "torchvision-1": [1] * 5})
        self.assertEqual((entry["case"], entry["peer"], entry["unit"]), ("jpeg-train", 2, "pictures/s"))
        self.assertAlmostEqual(entry["ratio"], 2 / 3)

    def test_pictures_must_be_the_same_unless_they_are_random(self):
        ours = {"labels": 3, "pixels": 10_000_000}
        loader_jpeg.compare("plain", {"ours": ours, "torchvision-1": {"labels": 3, "pixels": 10_000_100}})
        with self.assertRaisesRegex(measure.BenchError, "pixels"):
            loader_jpeg.compare("plain", {"ours": ours, "torchvision-1": {"labels": 3, "pixels": 10_100_000}})
        loader_jpeg.compare("train", {"ours": ours, "torchvision-1": {"labels": 3, "pixels": 20_000_000}})
        with self.assertRaisesRegex(measure.BenchError, "labels"):
            loader_jpeg.compare("train", {"ours": ours, "torchvision-1": {"labels": 4, "pixels": 10_000_000}})

    def test_cases_are_chosen_by_name(self):
        called = []
        cases = {name: lambda rounds, progress, name=name: called.append(name) or [name] for name in "abc"}
        with mock.patch.object(loader, "CASES", cases):
            self.assertEqual(loader.benchmark(5, lambda text: None, only=["c", "a"]), ["a", "c"])
            self.assertEqual(loader.benchmark(5, lambda text: None), ["a", "b", "c"])
        self.assertEqual(called, ["a", "c", "a", "b", "c"])

    def test_files_are_compared_with_each_peer_that_is_there(self):
        rates = {"ours": [6] * 5, "go-recordio": [1] * 5}
        entry, = loader_files.entries("v1-read-crc", rates)
        self.assertEqual((entry["peer_name"], entry["ours"], entry["peer"], entry["unit"]),
                         ("go-recordio", 6, 1, "M records/s"))
        self.assertAlmostEqual(entry["ratio"], 1 / 6)
        self.assertEqual(loader_files.entries("v1-read-crc", {"ours": [6] * 5}), [])

    def test_sides_that_read_different_bytes_are_refused(self):
        ours = {"records": 2, "labels": 3, "bytes": 9}
        loader_files.compare("v1-read-crc", {"ours": ours, "go-recordio": dict(ours)})
        with self.assertRaisesRegex(measure.BenchError, "go-recordio read 8 bytes, ours 9"):
            loader_files.compare("v1-read-crc", {"ours": ours, "go-recordio": {**ours, "bytes": 8}})

    def test_a_missing_peer_is_said_loudly(self):
        said = []
        with tempfile.TemporaryDirectory() as results, mock.patch.object(places, "RESULTS", results), \
                mock.patch.dict(os.environ, {"PATH": self.failing_go(results)}):
            os.environ.pop(loader_files.GO_RECORDIO, None)
            self.assertIsNone(loader_files.build_go_recordio(said.append))
            self.assertRegex(said[0], "LEFT OUT.*go-recordio.*TANDEM_BENCH_GO_RECORDIO")
            os.environ[loader_files.GO_RECORDIO] = results
            with self.assertRaisesRegex(measure.BenchError, "no such module"):
                loader_files.build_go_recordio(said.append)

    def failing_go(self, folder):
        path = os.path.join(folder, "go")
        with open(path, "w") as file:
            file.write("#!/bin/sh\necho no such module >&2\nexit 1\n")
        os.chmod(path, 0o755)
        return folder

    def test_opening_has_limits_of_time_and_memory(self):
        runs = [{"s": 0.5, "mb": 20, "records": 7}] * 5
        time, memory = loader_open.entries("v1-open-100gb", runs, lambda text: None)
        self.assertEqual((time["peer_name"], time["unit"], time["ratio"]), ("limit", "s", 0.5))
        self.assertEqual((memory["unit"], memory["ratio"]), ("MB", 0.2))

    def test_a_set_that_is_too_small_is_refused(self):
        with mock.patch.object(measure, "run", return_value=([{"bytes": 99e9}], 0)):
            with self.assertRaisesRegex(measure.BenchError, "fewer than 100000000000"):
                loader_open.run("/nowhere")


class Scaling(unittest.TestCase):
    EPOCHS = "[0] epoch 1/2: 5.1 bits per character, held out 4.9, 100 characters/s\n" \
             "[0] epoch 2/2: 4.8 bits per character, held out 4.7, 250 characters/s\n"
    READ = "[0] 4096 of 4096 bytes from 0 on were read, each by one rank alone\n" \
           "[0] {held} of 4096 bytes from 4096 on were read, each by one rank alone\n"

    def test_rate_is_of_the_last_epoch(self):
        self.assertEqual(scaling.rate(self.EPOCHS + self.READ.format(held=4096), windows=2, workers=2), 250)

    def test_bytes_that_nobody_is_said_to_have_read_end_the_run(self):
        for output in (self.EPOCHS, self.EPOCHS + self.READ.format(held=64)):
            with self.assertRaisesRegex(measure.BenchError, "8192 bytes, each on one rank"):
                scaling.rate(output, windows=2, workers=2)

    def test_layouts_are_compared_with_one_rank_and_drawn(self):
        rates = {"1-rank": 100, "2-ranks": 170, "4-ranks": 160, "2-replicas": 200}
        said = []
        with mock.patch.object(scaling, "run", lambda model, layout, folder: rates[layout]), \
                mock.patch.object(scaling.figures, "save") as save:
            entries = scaling.benchmark(5, said.append, ["lstm"])
        self.assertEqual([(e["case"], e["ratio"], e["unit"]) for e in entries],
                         [("lstm-2-ranks", 100 / 170, "characters/s"), ("lstm-4-ranks", 100 / 160, "characters/s"),
                          ("lstm-2-replicas", 0.5, "characters/s"), ("lstm-2-apart", 0.5, "characters/s")])
        self.assertIn("  2-ranks: 1.70 times one rank, at least 1.8 wanted: MISSED", said)
        self.assertIn("  2-replicas: 2.00 times one rank", said)
        self.assertEqual(save.call_args.args[0::2], ("scaling", {"lstm": {**rates, "2-apart": 200}}))


class Against(unittest.TestCase):
    def test_each_side_runs_its_own_build_and_the_first_is_back_afterwards(self):
        with tempfile.TemporaryDirectory() as other:
            before = places.program("x")
            self.assertEqual(against.in_build(other, lambda: places.program("x"))(), os.path.join(other, "bin", "x"))
            with self.assertRaises(ZeroDivisionError):
                against.in_build(other, lambda: 1 / 0)()
            self.assertEqual(places.program("x"), before)

    def test_a_slow_mean_or_one_slow_case_fails(self):
        def held(*ratios):
            return against.verdict([{"case": str(ratio), "ratio": ratio} for ratio in ratios])[1]
        self.assertTrue(held(1.02, 1.04, 0.98))
        self.assertFalse(held(1.05, 1.04, 1.03))
        self.assertFalse(held(1.11, 0.5, 0.5))

    def test_a_commit_that_does_not_exist_is_named(self):
        with self.assertRaisesRegex(measure.BenchError, "no-such-commit"):
            commits.full_name("no-such-commit")

    def test_what_builds_fetch_is_told_from_comments(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "script"))
            for text, expected in (("# of go.mod\nGO=1\nTORCH=2\n", ["GO=1", "TORCH=2"]), ("TORCH=2\n\nGO=1", ["GO=1", "TORCH=2"])):
                with open(os.path.join(folder, "script", "versions"), "w") as file:
                    file.write(text)
                self.assertEqual(commits.pins(folder), expected)


class ColdBuild(unittest.TestCase):
    def test_the_compilers_stand_in_notes_its_time_and_keeps_its_status_and_output(self):
        with tempfile.TemporaryDirectory() as folder:
            log, compiler = os.path.join(folder, "log"), os.path.join(folder, "cc")
            cold_build.write_program(compiler, cold_build.TIMED.format(compiler=sys.executable, log=log))
            busy = "import sys, time\nwhile time.process_time() < 0.2: pass\nsys.stderr.write('warned'); sys.exit(3)"
            for _ in range(2):
                done = subprocess.run([compiler, "-c", busy], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (3, "warned"))
            self.assertGreaterEqual(cold_build.sum_of(log), 0.35)

    def test_a_sample_of_all_files_takes_what_they_take_and_of_some_their_share(self):
        files = [f"f{number}.cpp" for number in range(6)]
        project = (f"cmake_minimum_required(VERSION 3.25)\nproject(sampled C CXX)\nadd_library(a {' '.join(files)} g.c)\n"
                   "target_precompile_headers(a PRIVATE $<$<COMPILE_LANGUAGE:CXX>:<vector$<ANGLE-R>>)\n")
        preset = {"name": "asan", "generator": "Ninja", "binaryDir": "${sourceDir}/build"}
        with tempfile.TemporaryDirectory() as tree:
            for name, text in (("CMakeLists.txt", project), ("g.c", "int g;\n"), *((name, "") for name in files),
                               ("CMakePresets.json", json.dumps({"version": 4, "configurePresets": [preset]}))):
                with open(os.path.join(tree, name), "w") as file:
                    file.write(text)
            for every, sampled in ((1, 7), (3, 2)):
                with tempfile.TemporaryDirectory() as folder:
                    found = cold_build.estimate(tree, "asan", folder, every)
                    seconds = cold_build.seconds_of(os.path.join(folder, "seconds"))
                self.assertEqual((found["sampled"], found["objects"], len(seconds)), (sampled, 7, sampled + 1))
                self.assertAlmostEqual(found["c_and_cpp"], seconds[0] + sum(seconds[1:]) * 7 / sampled)
                spread = (seconds[1] - seconds[-1]) / 2 ** 0.5 if sampled == 2 else 0
                self.assertAlmostEqual(found["error"], 7 * abs(spread) * ((1 - 2 / 7) / 2) ** 0.5)


if __name__ == "__main__":
    unittest.main()
