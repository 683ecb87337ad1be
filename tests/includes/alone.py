"""Compiles files by themselves (-fsyntax-only), which a unity build takes together: a file that leaves out an include, or
uses a name of its neighbour's, shows here.

    alone.py BUILD changed|all

`changed`: what differs from what it last found right in this build folder; in a new one, what the last commit changed.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def commands(build):
    """{file: (command that checks it, folder)} of every file that is part of a unity file."""
    with open(os.path.join(build, "compile_commands.json")) as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        unity = entry["file"]
        if os.path.basename(os.path.dirname(unity)) != "Unity":
            continue
        words = shlex.split(entry["command"])
        start = max((i for i, word in enumerate(words) if os.path.basename(word) == "ccache"), default=-1) + 1
        command = words[start:]
        at = command.index("-o")
        del command[at:at + 2]
        with open(unity) as text:
            for path in re.findall(r'^#include "(.*)"', text.read(), re.M):
                alone = [path if word == unity else word for word in command] + ["-fsyntax-only"]
                found.setdefault(os.path.relpath(path, ROOT), (alone, entry["directory"]))
    return found


def digest(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def of_last_commit():
    shown = subprocess.run(["git", "-C", ROOT, "log", "-1", "--name-only", "--format="], capture_output=True, text=True)
    return set(shown.stdout.split("\n"))


def changed(files, stamp):
    if not os.path.exists(stamp):
        return files & of_last_commit()
    with open(stamp) as file:
        right = json.load(file)
    return {path for path in files if right.get(path) != digest(path)}


def check(work):
    path, (command, folder) = work
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return path, done.returncode, done.stderr


def main(build, which):
    known = commands(build)
    if not known:
        sys.exit("no unity file: there is nothing that is not compiled alone already")
    stamp = os.path.join(build, "compiled-alone.json")
    files = set(known) if which == "all" else changed(set(known), stamp)
    wrong = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, code, text in pool.map(check, ((path, known[path]) for path in sorted(files))):
            if code != 0:
                wrong.add(path)
                print(f"{path} does not compile by itself:\n{text}")
    with open(stamp + ".new", "w") as file:
        json.dump({path: digest(path) for path in known if path not in wrong}, file)
    os.replace(stamp + ".new", stamp)
    print(f"{len(files) - len(wrong)} of {len(files)} files compile by themselves")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
