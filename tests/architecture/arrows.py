"""Checks which way dependencies point: front ends → capi → cpp → LibTorch, and the arrows between cpp's rooms.

    arrows.py CHECKOUT         lists every include that points the wrong way, and exits 1 if there is one
    arrows.py --self-test      shows that a wrong arrow is found
"""
import pathlib
import re
import sys
import tempfile

# room of cpp/src → the rooms it may use (docs/design.md, "Rooms"); all may use BASE, which uses none
BASE = "base"
ROOMS = {
    BASE: set(), "memory": set(), "data": set(), "nn": set(), "optim": set(), "jit": {"weights"}, "summary": set(), "trace": set(),
    "models": {"nn"}, "weights": {"optim"}, "checkpoint": {"comm", "weights"}, "exported": {"nn", "weights"},
    "comm": {"memory", "trace"}, "nccl": {"comm"}, "metrics": set(), "ddp": {"comm", "memory", "metrics", "nn", "optim", "trace"},
    "profiler": {"comm", "trace"}, "pipeline": {"checkpoint", "comm", "ddp", "exported", "nn", "optim", "trace", "weights"}, "rpc": {"comm", "jit", "metrics", "optim", "trace"},
    "parameter_server": {"checkpoint", "jit", "optim", "rpc"}, "membership": set(), "elastic": {"comm", "data", "checkpoint", "membership", "metrics", "optim", "weights"},
    "etcd": {"membership"}, "launch": {"etcd", "membership", "metrics", "comm", "data", "summary", "trace"},
}
# The tool offers the commands of these rooms; a public header without a source of its name belongs to none.
NO_ROOM = ""
BASES_OWN = re.compile(r"^(base/|tandem/error\.h$)")
# Opens libtandem at run time, as a front end does, to see whether it works; of tandem.h it has the types.
OPENS_LIBTANDEM = "launch/doctor"
LIBTORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
OURS = ("cpp/src", "cpp/include", "capi/include", "capi/src")
SOURCES = {".h", ".hpp", ".c", ".cc", ".cpp", ".i", ".go"}


def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def room_of_header(root, name):
    for room in ROOMS:
        if list((root / "cpp/src" / room).rglob(f"{pathlib.Path(name).stem}.cpp")):
            return room
    return NO_ROOM


def wrong_arrows(root):
    def files(folder):
        return (p for p in sorted((root / folder).rglob("*")) if p.suffix in SOURCES)

    for path in files("cpp/src"):
        room = path.relative_to(root / "cpp/src").parts[0]
        if room not in ROOMS:
            continue
        for name in includes(path):
            is_doctors = path.relative_to(root / "cpp/src").as_posix().startswith(OPENS_LIBTANDEM + "/")
            if name.startswith("core/") or (name == "tandem/tandem.h" and not is_doctors):
                yield path, name, "cpp does not know the C ABI"
            target = name.split("/")[0] if "/" in name else ""  # <memory> is no room
            if name.startswith("tandem/"):
                target = room_of_header(root, name)
            if target in ROOMS and target not in (room, BASE) and target not in ROOMS[room]:
                yield path, name, f"{room} may not use {target}"
            elif room == BASE and LIBTORCH.match(name):
                yield path, name, "base may not use LibTorch"
            elif room == BASE and not BASES_OWN.match(name) and any((root / f / name).is_file() for f in OURS):
                yield path, name, "base knows nothing of ours but tandem/error.h"
    for path in files("capi/include"):
        for name in includes(path):
            if LIBTORCH.match(name):
                yield path, name, "a public header of the C ABI includes LibTorch"
    for folder in ("go", "swig"):
        for path in files(folder):
            for name in includes(path):
                if LIBTORCH.match(name) or (root / "cpp/include" / name).exists() or name.startswith(("core/", "library/")):
                    yield path, name, f"{folder} knows only tandem.h"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        good = {"cpp/src/ddp/a.cpp": '#include "comm/b.h"\n', "cpp/src/comm/b.h": "#include <torch/torch.h>\n#include <memory>\n",
                "cpp/src/data/reader.cpp": '#include "base/a.h"\n', "cpp/src/base/a.h": '#include "base/b.h"\n#include <memory>\n',
                "cpp/src/base/b.h": '#include "tandem/error.h"\n', "cpp/include/tandem/error.h": "", "cpp/src/options.h": "", "cpp/src/memory/m.h": "",
                "cpp/src/launch/doctor/l.h": '#include "tandem/tandem.h"\n',
                "cpp/include/tandem/reader.h": "", "go/c/x.h": '#include "tandem.h"\n'}
        bad = {"cpp/src/base/h.h": '#include "comm/b.h"\n', "cpp/src/base/i.h": "#include <c10/util/Half.h>\n",
               "cpp/src/base/j.h": '#include "options.h"\n', "cpp/src/base/k.cpp": '#include "tandem/reader.h"\n',
               "cpp/src/comm/c.cpp": '#include "ddp/a.h"\n', "cpp/src/nn/d.cpp": '#include "tandem/reader.h"\n',
               "capi/include/tandem/e.h": "#include <c10/util/Exception.h>\n", "swig/f.hpp": '#include "tandem/reader.h"\n',
               "cpp/src/optim/g.cpp": '#include "tandem/tandem.h"\n'}
        for name, text in {**good, **bad}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = {str(p.relative_to(root)) for p, _, _ in wrong_arrows(root)}
        if found != set(bad):
            sys.exit(f"expected {sorted(bad)}, found {sorted(found)}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2:
        root = pathlib.Path(sys.argv[1])
        wrong = [f"{p.relative_to(root)}: includes {n}: {why}" for p, n, why in wrong_arrows(root)]
        print("\n".join(wrong) or "every arrow points the right way")
        sys.exit(1 if wrong else 0)
    else:
        sys.exit(__doc__)
