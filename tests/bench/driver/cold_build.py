"""`build`: CPU seconds of the C and C++ steps (compiling and linking) of a cold build, ccache off, against those of a
commit. Go's and Java's steps are told apart. Neither Python's torch nor any peer is needed.

    python -m driver.cold_build [demo] [all] [asan] [--against COMMIT]
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

from . import commits, measure, places, report

# Preset, targets, and how large a share of the commit's seconds it may take.
CASES = {"demo": ("dev", ["tandem_tool", "draw-digits", "mnist-go"], 0.35), "all": ("dev", [], 0.45), "asan": ("asan", [], 0.45)}
COMMIT = "98acc95"
# Stands for the compiler, and notes what each of its runs takes.
TIMED = """#!/usr/bin/env bash
exec 3>&2
TIMEFORMAT='%U %S'
{{ time {compiler} "$@" 2>&3; }} 2>> '{log}'
"""


def write_program(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)


def build(tree, case, folder):
    """Builds in `folder`; returns CPU seconds of C and C++, and of everything else. Where an interrupted build left the
    folder it goes on: each compiler's run that had ended counts, and none twice. (What an interrupted build took for
    everything else is lost.)"""
    preset, targets, _ = CASES[case]
    if not os.path.exists(os.path.join(tree, "examples/cpp/digits")):
        targets = [target for target in targets if target != "draw-digits"]  # a part of the tool, once
    log = os.path.join(folder, "seconds")
    compilers = {}
    for language, compiler in (("C", "cc"), ("CXX", "c++")):
        compilers[language] = os.path.join(folder, compiler)
    configured = os.path.join(folder, "configured")
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not os.path.exists(configured):
        for language, path in compilers.items():
            write_program(path, TIMED.format(compiler=shutil.which(os.path.basename(path)), log=log))
        run(["cmake", "--preset", preset, "-B", os.path.join(folder, "build"),
             *(f"-DCMAKE_{language}_COMPILER={path}" for language, path in compilers.items())], tree, environment)
        if os.path.exists(log):
            os.remove(log)  # what CMake tried compilers with
        write_program(configured, "")
    run(["cmake", "--build", os.path.join(folder, "build"), *(["--target", *targets] if targets else [])], tree,
        environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    compiled = sum_of(log)
    return {"c_and_cpp": compiled, "other": max(total - compiled, 0)}


def run(command, tree, environment):
    done = subprocess.run(command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise measure.BenchError(f"{' '.join(command)} in {tree}: {done.returncode}\n"
                                 f"{(done.stdout + done.stderr)[-3000:]}")


def sum_of(log):
    with open(log) as file:
        return sum(float(number) for line in file for number in line.split())


def reference(case, commit):
    """A commit's seconds, measured once a machine."""
    path = os.path.join(places.RESULTS, f"build-{commits.full_name(commit)}.json")
    known = {}
    if os.path.exists(path):
        with open(path) as file:
            known = json.load(file)
    if case not in known:
        # Hours, with a sanitizer: what a break interrupts goes on from there, for a commit's files stay as they are.
        folder = os.path.join(places.RESULTS, f"build-{commits.full_name(commit)}-{case}")
        os.makedirs(folder, exist_ok=True)
        known[case] = build(commits.checkout(commit), case, folder)
        report.write(path, known)
        shutil.rmtree(folder)
    return known[case]


def main():
    parser = argparse.ArgumentParser(prog="script/bench build")
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help="default: all three")
    parser.add_argument("--against", default=COMMIT, metavar="COMMIT")
    args = parser.parse_args()
    entries, missed = [], []
    try:
        for case in args.cases or CASES:
            print(f" {case}: {args.against}", flush=True)
            before = reference(case, args.against)
            print(f" {case}: this tree", flush=True)
            with tempfile.TemporaryDirectory(prefix="tandem-build-") as folder:
                now = build(places.ROOT, case, folder)
            ratio, most = now["c_and_cpp"] / before["c_and_cpp"], CASES[case][2]
            entries.append({"case": case, "ours": now["c_and_cpp"], "peer": before["c_and_cpp"], "unit": "CPU s",
                            "ratio": ratio, "peer_name": args.against, "front_end": "cpp", "ranks": 1, "threads": 1,
                            "other": now["other"], "peer_other": before["other"]})
            print(f" {case}: {now['c_and_cpp']:.0f} s of C and C++ and {now['other']:.0f} s of the rest, "
                  f"{args.against} {before['c_and_cpp']:.0f} s and {before['other']:.0f} s: {ratio:.2f}, "
                  f"at most {most} is wanted", flush=True)
            if ratio > most:
                missed.append(case)
    except measure.BenchError as error:
        sys.exit(f"script/bench: build: {error}")
    report.write(os.path.join(places.RESULTS, "build.json"), entries)
    print(report.table(entries))
    sys.exit(f"script/bench: build: {', '.join(missed)}: more than wanted" if missed else 0)


if __name__ == "__main__":
    main()
