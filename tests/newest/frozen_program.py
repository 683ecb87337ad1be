"""A built program runs on another LibTorch when the libraries under it are replaced: frozen_program.py PROGRAM BUILD NEWEST

PROGRAM is of BUILD, and linked with its libtandem. It runs with that one, beside which stand the cores of both builds,
and with NEWEST's; TANDEM_LIBTORCH chooses. NEWEST is the build folder of the preset of that name.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def libtorch(build):
    return pathlib.Path((build / "lib/libtandem.libtorch").read_text(encoding="utf-8").strip())


def version(root):
    return re.search(r"\d+\.\d+\.\d+", (root / "version.py").read_text(encoding="utf-8")).group()


def main(program, build, newest):
    core = next(newest.glob("lib/libtandem_core-torch*.so"), None)
    if not core:
        sys.exit(f"{newest} has no core: run the test newest.libtorch first, which builds it")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        both, files = folder / "both", folder / "files"
        both.mkdir()
        files.mkdir()
        # libtandem looks beside the file that it is, wherever links lead; cores may be links.
        shutil.copy(build / "lib/libtandem.so.0", both / "libtandem.so.0")
        for one in (*build.glob("lib/libtandem_core-torch*.so"), core):
            (both / one.name).symlink_to(one)
        for library, root in ((both, libtorch(build)), (both, libtorch(newest)), (newest / "lib", libtorch(newest))):
            ended = subprocess.run([program, str(files), version(root)], capture_output=True, text=True,
                                   env={**os.environ, "LD_LIBRARY_PATH": str(library), "TANDEM_LIBTORCH": str(root)})
            if ended.returncode:
                sys.exit(f"{program} with {library} on LibTorch {version(root)}: {ended.returncode}\n{ended.stderr}")
            print(f"ran with the libraries in {library} on LibTorch {version(root)}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))
