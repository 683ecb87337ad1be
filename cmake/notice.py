"""What a package carries of others: each has a row in NOTICE, and its licence's text travels along.

    notice.py BUILD                   lists what a build links, compiles in and carries; exits 1 if NOTICE lacks any of it
    notice.py BUILD --copy FOLDER     and copies the texts of the licences below FOLDER (share/licenses)
    notice.py --self-test             shows that what is missing is found

Debian says whose a file is (dpkg), and Go which modules a program has. LibTorch's wheel has its licences beside it.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What script/package and cmake --install take along.
TARGETS = ["tandem_core", "libtandem.so", "tandem_tool", "mnist-cpp"]
GO_PROGRAMS = ["mnist-go"]
COMPILED = ("capi/", "cpp/", "examples/cpp/mnist/")
# The system's, on any system.
SYSTEM = re.compile(r"^(glibc|gcc-\d+|linux)$")
# Files of PyPI's wheels, as LibTorch's folder has them.
WHEELS = [("libcudart", "nvidia-cuda-runtime"), ("libcupti", "nvidia-cuda-cupti"), ("libgomp", "libgomp"), ("", "torch")]
TEXTS = re.compile(r"^(licen[cs]es?|copying|notice|patents)([-.].*)?$", re.I)


class Carried:
    """A thing of others: name, version, and the files and folders that have its licence's text."""

    def __init__(self, name, version, texts):
        self.name, self.version, self.texts = name, version, texts


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:4]))} …: {done.stderr.strip()}")
    return done.stdout


def libraries(build):
    found = [path for path in output("ninja", "-C", build, "-t", "inputs", *TARGETS).splitlines()
             if re.search(r"\.(a|so[.\d]*)$", path) and path.startswith("/")]
    shared = [path for path in found if ".so" in path]
    # and what these need in turn
    return found + re.findall(r" => (/\S+)", output("ldd", *shared)) if shared else found


def headers(build):
    found, ours = set(), False
    for line in output("ninja", "-C", build, "-t", "deps").splitlines():
        if line.startswith("    "):
            if ours:
                found.add(str((pathlib.Path(build) / line.strip()).resolve()))
        else:
            ours = line.startswith(COMPILED)
    return found


def debian_packages(paths):
    """{path: binary package} of those that Debian knows. It lists a file below /lib or /usr/lib, as the package has it."""
    spellings = {**{path: path for path in paths}, **{re.sub(r"^/usr(?=/lib)", "", path): path for path in paths}}
    owners, names = {}, sorted(spellings)
    for start in range(0, len(names), 500):
        # Exits 1 where it does not know one of them.
        text = subprocess.run(["dpkg", "-S", *names[start:start + 500]], capture_output=True, text=True).stdout
        for package, path in re.findall(r"^([^\s:,]+)[^\n]*?: (/.*)$", text, re.M):
            owners[spellings[path]] = package
    return owners


def carried_native(build):
    libtorch = pathlib.Path((pathlib.Path(build) / "lib/libtandem.libtorch").read_text().strip()).resolve()
    found, others = {}, []
    for real in sorted({pathlib.Path(path).resolve() for path in [*libraries(build), *headers(build)]}):
        if real.is_relative_to(libtorch.parent):
            name = next(name for prefix, name in WHEELS if real.name.startswith(prefix))
            texts = sorted(pathlib.Path("/usr/share/doc").glob("gcc-*-base/copyright"))[-1:] if name == "libgomp" else []
            found[name] = Carried(name, texts[0].parent.name.split("-")[1] if texts else "", texts)
        elif not real.is_relative_to(ROOT) and not real.is_relative_to(pathlib.Path(build).resolve()):
            others.append(str(real))
    owners = debian_packages(others)
    unknown = sorted(set(others) - set(owners))
    if unknown:
        sys.exit(f"of no Debian package, so nothing tells their licence: {' '.join(unknown[:5])}")
    packages = sorted(set(owners.values()))
    if packages:
        known = output("dpkg-query", "-W", "-f", "${binary:Package} ${source:Package} ${source:Upstream-Version}\\n", *packages)
        for binary, source, version in (line.split() for line in known.splitlines()):
            if not SYSTEM.match(source) and source not in found:
                text = pathlib.Path("/usr/share/doc") / binary.split(":")[0] / "copyright"
                found[source] = Carried(source, version, [text])
    return found


def carried_go(build):
    found = {}
    for program in (pathlib.Path(build) / "bin" / name for name in GO_PROGRAMS):
        if not program.exists():
            continue
        lines = output("go", "version", "-m", program).splitlines()
        root, cache = output("go", "env", "GOROOT", "GOMODCACHE").splitlines()
        found["go"] = Carried("go", lines[0].split("go")[-1], [pathlib.Path(root) / "LICENSE"])
        for fields in (line.split() for line in lines):
            if fields[:1] != ["dep"] or len(fields) < 4:  # what is replaced is the checkout's own
                continue
            name, version = fields[1:3]
            folder = pathlib.Path(cache) / (re.sub("[A-Z]", lambda m: "!" + m[0].lower(), f"{name}@{version}"))
            found[name] = Carried(name, version.lstrip("v"), sorted(p for p in folder.glob("*") if TEXTS.match(p.name)))
    return found


def rows(notice):
    """Names of NOTICE's rows, which have a version, a licence and the place of its text."""
    return {m[1] for m in re.finditer(r"^    (\S+) +(\d\S*) +(\S.*?) +(share/licenses/\S+)$", notice, re.M)}


def missing(carried, notice):
    named = rows(notice)
    return [f"NOTICE has no row for {name} {thing.version} (name, version, licence, place of its text)"
            for name, thing in sorted(carried.items()) if name not in named]


def copy(carried, folder):
    for thing in carried.values():
        if thing.name in dict(map(reversed, WHEELS)) and not thing.texts:
            continue  # script/package copies what LibTorch's wheels have
        there = [text for text in thing.texts if text.exists()]
        if not there:
            sys.exit(f"the licence of {thing.name} is nowhere to be found; expected {thing.texts or 'one in its folder'}")
        into = folder / f"{thing.name.replace('/', '_')}-{thing.version}"
        into.mkdir(parents=True, exist_ok=True)
        for text in there:
            if text.is_dir():
                shutil.copytree(text, into / text.name, dirs_exist_ok=True)
            else:
                shutil.copyfile(text, into / text.name)
    common = folder / "common-licenses"
    for text in list(folder.rglob("copyright")):
        for name in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text.read_text(errors="replace")):
            if (source := pathlib.Path("/usr/share/common-licenses") / name).exists():
                common.mkdir(exist_ok=True)
                shutil.copyfile(source, common / name)


def self_test(notice):
    carried = {name: Carried(name, "1", []) for name in rows(notice)}
    if len(carried) < 20 or missing(carried, notice):
        sys.exit(f"NOTICE's own rows are not found: {sorted(carried)}")
    for name in carried:
        without = "\n".join(line for line in notice.splitlines() if line.split()[:1] != [name])
        if not any(name in line for line in missing(carried, without)):
            sys.exit(f"nobody notices that {name} is gone")
    with tempfile.TemporaryDirectory() as folder:
        nowhere = {"x": Carried("x", "1", [pathlib.Path(folder) / "copyright"])}
        try:
            copy(nowhere, pathlib.Path(folder) / "to")
        except SystemExit:
            return
        sys.exit("nobody notices that a licence has no text")


def main(arguments):
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    if arguments == ["--self-test"]:
        return self_test(notice)
    if len(arguments) not in (1, 3) or arguments[1:2] not in ([], ["--copy"]):
        sys.exit(__doc__)
    carried = {**carried_native(arguments[0]), **carried_go(arguments[0])}
    if lines := missing(carried, notice):
        sys.exit("\n".join(lines))
    if len(arguments) == 3:
        copy(carried, pathlib.Path(arguments[2]))
    print("\n".join(f"{name} {thing.version}" for name, thing in sorted(carried.items())))


if __name__ == "__main__":
    main(sys.argv[1:])
