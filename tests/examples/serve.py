"""Asks a serving example, as its clients would, one by one and many at once.

    serve.py --program PROGRAM --archives FOLDER     of the tests of exported programs

Asserts that requests that are computed together get the results that they get alone; that memory stays; that what is wrong
with a request is told to its client alone; that there are limits; and that a request that is under way when the server is told to
stop gets its answer.
"""
import argparse
import concurrent.futures
import pathlib
import random
import signal
import sys
import time

from launch import only, run
from served import serving

CLIENTS, ROUNDS, MOST_GROWTH = 64, 10, 16 << 20
WORDS = pathlib.Path(__file__).parent / "files/words.pt2"

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--archives", type=pathlib.Path, required=True)
options = parser.parse_args()


def near(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    return isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= 1e-6


def told(server, request, status, *parts):
    found, text = server.ask(request)
    if found != status or any(part not in str(text) for part in parts):
        sys.exit(f"status {found}, {text}; not {status} with {parts}")


def many(server, pictures, alone):
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(server.ask, pictures))
    for i, (status, results) in enumerate(answers):
        if status != 200 or not near(results, alone[i]):
            sys.exit(f"request {i}: status {status}, {results}; alone it gets {alone[i]}")


def picture(draw):
    return [[[draw.random() for _ in range(8)] for _ in range(8)]]


with serving(options.program, "--model", options.archives / "cnn_eval.pt2", "--rows", "16", "--wait", "5ms", "--bytes",
             "50000") as server:
    draw = random.Random(1)
    requests = [[picture(draw) for _ in range(1 + i % 3)] for i in range(CLIENTS)]
    alone = []
    for rows in requests:
        status, results = server.ask(rows)
        if status != 200 or len(results) != len(rows) or any(len(result) != 5 for result in results):
            sys.exit(f"status {status}, {results} for {len(rows)} rows")
        alone.append(results)
    if near(alone[0], alone[3]):
        sys.exit("all pictures look the same to the model")
    before = server.statistics()
    many(server, requests, alone)
    memory = server.resident()
    for _ in range(ROUNDS):
        many(server, requests, alone)
        told(server, [picture(draw)[0]], 400, "must be float64 [1, 8, 8]")
    grown = server.resident() - memory
    print(f"{ROUNDS * CLIENTS} requests at once: memory grew by {grown / 2**20:.1f} MB")
    if grown >= MOST_GROWTH:
        sys.exit(f"memory grew by {grown} bytes")
    after = server.statistics()
    asked, batches = after["requests"] - before["requests"], after["batches"] - before["batches"]
    if asked != (ROUNDS + 1) * CLIENTS or not batches < asked or not 3 < after["largest_batch"] <= 16:
        sys.exit(f"{before}, then {after}")

    told(server, b"[[[[0.5", 400)
    told(server, b"{}", 400)
    told(server, [], 400, "no rows")
    told(server, [picture(draw)] * 17, 400, "17 rows", "at most 16")
    told(server, b" " * 50001, 413, "50000")
    told(server, b"[" * 20000, 400)
    if server.fetch(server.url)[0] != 405:
        sys.exit("GET is answered")

# Values that the program refuses are told to who sent them alone; batches have 2 to 8 rows, and requests fewer.
with serving(options.program, "--model", WORDS, "--wait", "500ms") as server:
    draw = random.Random(2)
    requests = [[[draw.randrange(10) for _ in range(3)]] for _ in range(8)]
    alone = [server.ask(rows)[1] for rows in requests]
    requests[5] = [[1, 2, 10]]
    with concurrent.futures.ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(server.ask, requests))
    for i, (status, results) in enumerate(answers):
        good = status == 400 and "index out of range" in results if i == 5 else status == 200 and near(results, alone[i])
        if not good:
            sys.exit(f"request {i}: status {status}, {results}; alone it gets {alone[i]}")
    if server.statistics()["largest_batch"] < 3:
        sys.exit(f"the requests were computed alone: {server.statistics()}")
    told(server, [[1, 2, 3]] * 9, 400, "9 rows", "at most 8")
    told(server, [[1, 2]], 400, "must be int64 [3]")

# What has come is answered after SIGTERM, and more than may come is not: the wait is long enough for both.
with serving(options.program, "--model", options.archives / "mlp_eval.pt2", "--wait", "4s", "--waiting", "1") as server:
    with concurrent.futures.ThreadPoolExecutor() as client:
        begun = client.submit(server.ask, [[0.5] * 6])
        time.sleep(0.5)
        told(server, [[0.5] * 6], 503, "under way; try again later")
        server.process.send_signal(signal.SIGTERM)
        if begun.result()[0] != 200:
            sys.exit(f"a request under way: {begun.result()}")
        server.process.wait(60)

for archive, why in (("cnn", "was exported in training mode and has no evaluation mode"), ("transformer_eval", "must take one tensor"),
                     ("lstm_eval", r"refuses 1 to 32 rows, each .*gives \d results")):
    only(rf"{archive}\.pt2.* {why}", run([options.program, "--model", options.archives / f"{archive}.pt2"], code=1))
only(r"--model.FILE\.pt2", run([options.program], code=1))
only(r"none", run([options.program, "--model", options.archives / "mlp_eval.pt2", "--checkpoints", "none"], code=1))
