"""`build`: CPU seconds of the C and C++ steps (compiling and linking) of a cold build, ccache off, against those of a
commit. Go's and Java's steps are told apart. Neither Python's torch nor any peer is needed.

    python -m driver.cold_build [demo] [all] [asan] [--against COMMIT [--sample N]]

With --sample N only each Nth file of the commit is compiled, and the sum of all estimated, where a commit's own build
takes hours: its links are left out, so that the estimate is rather too low.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from . import commits, measure, places, report

# Preset, targets, and how large a share of the commit's seconds it may take.
CASES = {"demo": ("dev", ["tandem_tool", "draw-digits", "mnist-go"], 0.35), "all": ("dev", [], 0.45), "asan": ("asan", [], 0.45)}
COMMIT = "98acc95"
# Stands for the compiler, and notes what each of its runs takes, and what it wrote.
TIMED = """#!/usr/bin/env bash
exec 3>&2
output=
for ((i = 1; i < $#; i++)); do [ "${{!i}}" = -o ] && output=${{@:i+1:1}}; done
TIMEFORMAT="%U %S ${{output//%/%%}}"
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
    targets = CASES[case][1]
    if not os.path.exists(os.path.join(tree, "examples/cpp/digits")):
        targets = [target for target in targets if target != "draw-digits"]  # a part of the tool, once
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    log, environment = configure(tree, case, folder)
    run(["cmake", "--build", os.path.join(folder, "build"), *(["--target", *targets] if targets else [])], tree,
        environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    compiled = sum_of(log)
    return {"c_and_cpp": compiled, "other": max(total - compiled, 0)}


def configure(tree, case, folder):
    """Once a folder. Returns the file that notes what each run of a compiler takes, and the environment to build in."""
    log = os.path.join(folder, "seconds")
    compilers = {"C": os.path.join(folder, "cc"), "CXX": os.path.join(folder, "c++")}
    configured = os.path.join(folder, "configured")
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    if not os.path.exists(configured):
        for language, path in compilers.items():
            write_program(path, TIMED.format(compiler=shutil.which(os.path.basename(path)), log=log))
        run(["cmake", "--preset", CASES[case][0], "-B", os.path.join(folder, "build"),
             *(f"-DCMAKE_{language}_COMPILER={path}" for language, path in compilers.items())], tree, environment)
        if os.path.exists(log):
            os.remove(log)  # what CMake tried compilers with
        write_program(configured, "")
    return log, environment


def estimate(tree, case, folder, every):
    """What `build` would return, by each `every`th object file of a whole build; `error` is the estimate's standard error
    (a simple random sample's, without replacement)."""
    log, environment = configure(tree, case, folder)
    listed = run(["ninja", "-C", os.path.join(folder, "build"), "-t", "targets", "all"], tree, environment)
    rules = dict(line.rsplit(": ", 1) for line in listed.splitlines() if ": " in line)
    steps = sorted(path for path, rule in rules.items() if rule.startswith(("C_COMPILER", "CXX_COMPILER")))
    headers, objects = ([path for path in steps if path.endswith(".gch") == wanted] for wanted in (True, False))
    sample = objects[every // 2::every]
    if not sample:
        raise measure.BenchError(f"--sample {every}: {tree} has but {len(objects)} object files")
    for targets in (headers, sample):
        if targets:
            run(["cmake", "--build", os.path.join(folder, "build"), "--target", *targets], tree, environment)
    # What the sample needs is made as well: programs that generate sources.
    taken = seconds_by_output(log)
    absent = [path for path in headers + sample if path not in taken]
    if absent:
        raise measure.BenchError(f"{log} has no run of a compiler for {absent[0]}, and {len(absent) - 1} more")
    precompiled, compiled = ([taken[path] for path in targets] for targets in (headers, sample))
    spread = statistics.stdev(compiled) if len(compiled) > 1 else 0
    return {"c_and_cpp": sum(precompiled) + sum(compiled) * len(objects) / len(sample), "other": 0, "sampled": len(sample),
            "objects": len(objects),
            "error": len(objects) * spread * ((1 - len(sample) / len(objects)) / len(sample)) ** 0.5}


def run(command, tree, environment):
    done = subprocess.run(command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise measure.BenchError(f"{' '.join(command)} in {tree}: {done.returncode}\n"
                                 f"{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def seconds_of(log):
    with open(log) as file:
        return [sum(map(float, line.split(maxsplit=2)[:2])) for line in file]


def seconds_by_output(log):
    with open(log) as file:
        outputs = [line.rstrip("\n").split(" ", 2)[2] for line in file]
    return dict(zip(outputs, seconds_of(log)))


def sum_of(log):
    return sum(seconds_of(log))


def reference(case, commit, every=None):
    """A commit's seconds, measured once a machine; estimated by a sample where `every` is given and none are known."""
    path = os.path.join(places.RESULTS, f"build-{commits.full_name(commit)}.json")
    known = {}
    if os.path.exists(path):
        with open(path) as file:
            known = json.load(file)
    name = case if every is None or case in known else f"{case}, each {every}th file"
    if name not in known:
        # Hours, with a sanitizer: what a break interrupts goes on from there, for a commit's files stay as they are.
        folder = os.path.join(places.RESULTS, f"build-{commits.full_name(commit)}-{case}-{every or 1}")
        os.makedirs(folder, exist_ok=True)
        tree = commits.checkout(commit)
        known[name] = build(tree, case, folder) if every is None else estimate(tree, case, folder, every)
        report.write(path, known)
        shutil.rmtree(folder)
    return known[name]


def main():
    parser = argparse.ArgumentParser(prog="script/bench build")
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help="default: all three")
    parser.add_argument("--against", default=COMMIT, metavar="COMMIT")
    parser.add_argument("--sample", type=int, metavar="N", help="compile each Nth file of COMMIT, and estimate its sum")
    args = parser.parse_args()
    if args.sample is not None and args.sample < 1:
        parser.error("--sample is at least 1")
    entries, missed = [], []
    try:
        for case in args.cases or CASES:
            print(f" {case}: {args.against}", flush=True)
            before = reference(case, args.against, args.sample)
            print(f" {case}: this tree", flush=True)
            with tempfile.TemporaryDirectory(prefix="tandem-build-") as folder:
                now = build(places.ROOT, case, folder)
            ratio, most = now["c_and_cpp"] / before["c_and_cpp"], CASES[case][2]
            entries.append({"case": case, "ours": now["c_and_cpp"], "peer": before["c_and_cpp"], "unit": "CPU s",
                            "ratio": ratio, "peer_name": args.against, "front_end": "cpp", "ranks": 1, "threads": 1,
                            "other": now["other"], "peer_other": before["other"]})
            if "error" in before:
                print(f" {case}: {args.against} by {before['sampled']} of {before['objects']} files: "
                      f"{before['c_and_cpp']:.0f} s, standard error {before['error']:.0f} s", flush=True)
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
