"""Another commit of this repository, as a tree of its own below build/bench/commits, to be measured beside this one."""
import os
import shutil
import subprocess

from . import measure, places


def full_name(commit):
    done = subprocess.run(["git", "rev-parse", "--verify", commit + "^{commit}"], cwd=places.ROOT, capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise measure.BenchError(f"there is no commit {commit!r} here: {done.stderr.strip()}")
    return done.stdout.strip()


def pins(tree):
    """What its builds fetch, in what versions."""
    with open(os.path.join(tree, "script", "versions")) as file:
        return sorted(line.strip() for line in file if "=" in line and not line.startswith("#"))


def checkout(commit):
    """The folder of its files, with what its own script/bootstrap installs: it may need packages that this tree does
    not. It shares this tree's build/deps where both fetch the same."""
    name = full_name(commit)
    folder = os.path.join(places.RESULTS, "commits", name)
    if not os.path.isdir(folder):
        new = folder + ".new"
        shutil.rmtree(new, ignore_errors=True)
        os.makedirs(os.path.join(new, "build"))
        archive = subprocess.run(["git", "archive", name], cwd=places.ROOT, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", new], input=archive.stdout, check=True)
        if pins(new) == pins(places.ROOT):
            os.symlink(os.path.join(places.ROOT, "build", "deps"), os.path.join(new, "build", "deps"))
        os.rename(new, folder)
    done = subprocess.run(["script/bootstrap"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise measure.BenchError(f"script/bootstrap failed in {folder}: {(done.stdout + done.stderr)[-1000:]}")
    return folder


def release_build(commit, progress):
    """Where the benchmark programs of a commit are, built as script/bench builds this tree's."""
    folder = checkout(commit)
    progress(f" building {commit} in {os.path.relpath(folder, places.ROOT)}")
    log = os.path.join(folder, "build", "release.log")
    with open(log, "w") as output:
        for command in (["cmake", "--preset", "release"],
                        ["cmake", "--build", "--preset", "release", "--target", "bench_programs"]):
            if subprocess.run(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT).returncode != 0:
                raise measure.BenchError(f"{' '.join(command)} failed in {folder}; its output is in {log}")
    return os.path.join(folder, "build", "release")
