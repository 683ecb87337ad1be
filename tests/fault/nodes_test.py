"""What befalls nodes whose agents meet by c10d, several on this machine: nodes_test.py TANDEM ELASTIC_PROGRAM"""
import re
import signal
import socket
import sys

import alone
import training
from training import FaultTest, each_backend


class Nodes(FaultTest):
    def setUp(self):
        super().setUp()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def node(self, nodes, backend, *settings, ranks=1):
        return self.train(["-n", ranks, "--nnodes", nodes, "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{self.port}", "--rdzv-conf",
                           "keep_alive_interval=1,join_timeout=40,last_call_timeout=0"], f"BACKEND={backend}", "TIMEOUT=30000", *settings)

    def end_well(self, *nodes):
        for node in nodes:
            (node.folder / "hurry").touch()
        for node in nodes:
            self.assertEqual(node.wait(), 0, node.said)

    @each_backend
    def test_join_storm(self, backend):
        settings = ["STEPS=150", "PAUSE=150"]
        keeper = self.node("1:7", backend, *settings)
        keeper.reaches(2)
        gate = self.folder.new("gate") / "open"
        others = [self.node("1:7", backend, f"GATE={gate}", *settings) for _ in range(6)]
        alone.eventually(lambda: all(list(node.folder.glob("waits.*")) for node in others), lambda: f"six that wait: {keeper.said}")
        gate.touch()
        keeper.says("now 7 ranks, from step")
        self.end_well(keeper, *others)
        # Whoever comes while others do comes with them.
        self.assertLessEqual(keeper.said.count("(membership epoch "), 3, keeper.said)
        self.assertEqual(max(keeper.text("steps").split().count(str(step)) for step in range(1, 151)), 1)  # nothing is rolled back
        self.assert_trained([keeper, *others], 150, ranks=7)

    @each_backend
    def test_flapping_node(self, backend):
        settings = ["STEPS=250", "PAUSE=120"]
        keeper = self.node("1:2", backend, *settings)
        keeper.reaches(5)
        all_nodes = [keeper]
        for end in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            node = self.node("1:2", backend, *settings)
            all_nodes.append(node)
            node.takes_part()
            node.process.send_signal(end)
            self.assertEqual(node.wait(), -end if end == signal.SIGKILL else 128 + end, node.said)
        last = self.node("1:2", backend, *settings)
        last.takes_part()
        self.end_well(keeper, last)
        self.assertTrue(last.trains(), last.said)
        epochs = [int(epoch) for epoch in re.findall(r"membership epoch (\d+)", keeper.said)]
        self.assertEqual(epochs, sorted(set(epochs)))
        self.assert_trained([*all_nodes, last], 250)

    @each_backend
    def test_from_one_to_three_and_back(self, backend):
        settings = ["STEPS=250", "PAUSE=120"]
        first = self.node("1:3", backend, *settings)
        first.reaches(13)  # in the midst of an epoch of ten batches
        second = self.node("1:3", backend, *settings)
        first.says("now 2 ranks, from step")
        third = self.node("1:3", backend, *settings)
        first.says("now 3 ranks, from step")
        third.takes_part()
        second.process.send_signal(signal.SIGTERM)
        third.process.send_signal(signal.SIGKILL)
        self.assertEqual(second.wait(), 128 + signal.SIGTERM, second.said)
        first.says("now 1 rank, from step")
        self.end_well(first)
        self.assertRegex(first.said, r"(?s)now 2 ranks.*now 3 ranks.*now 1 rank,")
        self.assertIn("world 1", first.results()[0])
        self.assert_trained([first, second, third], 250)

    @each_backend
    def test_agent_that_is_stopped(self, backend):
        settings = ["STEPS=150", "PAUSE=80"]
        keeper = self.node("1:2", backend, *settings)
        keeper.reaches(2)
        other = self.node("1:2", backend, *settings)
        keeper.says("now 2 ranks, from step")
        other.takes_part()
        agent = other.agent()
        alone.os.kill(agent, signal.SIGSTOP)
        keeper.says("now 1 rank, from step")
        self.assertIn("its ranks are lost", keeper.said)
        self.end_well(keeper)
        alone.os.kill(agent, signal.SIGCONT)
        self.assertEqual(other.wait(), 1, other.said)
        self.assertIn(f"tandem: the agent at 127.0.0.1:{self.port}, which keeps the job's membership, is gone", other.said)  # that job is over
        self.assert_trained([keeper, other], 150)

    @each_backend
    def test_keeper_that_is_stopped(self, backend):
        settings = ["STEPS=2000", "PAUSE=40"]
        keeper = self.node("1:2", backend, *settings)
        keeper.reaches(2)
        other = self.node("1:2", backend, *settings)
        keeper.says("now 2 ranks, from step")
        other.takes_part()
        agent = keeper.agent()
        alone.os.kill(agent, signal.SIGSTOP)
        self.assertEqual(other.wait(), 1, other.said)
        self.assertIn(f"the agent at 127.0.0.1:{self.port}, which keeps the job's membership,", other.said)
        alone.os.kill(agent, signal.SIGCONT)
        keeper.process.send_signal(signal.SIGTERM)
        self.assertEqual(keeper.wait(), 128 + signal.SIGTERM, keeper.said)


if __name__ == "__main__":
    alone.enter()
    training.main(sys.argv)
