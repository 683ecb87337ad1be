"""Python that embeds Go: a process that has a LibTorch already, and loads a shared library that uses gotorch.

Environment: EMBEDDED, that library; STAND_IN, a library with the name of LibTorch's and nothing in it; LIBTORCH, the
folder of the LibTorch that libtandem is to find; TORCH_PYTHON, a Python with a torch of that version, or a path that is
not there.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBTORCH = pathlib.Path(os.environ["LIBTORCH"])
# Loads the given libraries as Python's torch does, for all to see; then calls Go and tells which copies are mapped.
PROGRAM = """
import ctypes, os, sys
for path in sys.argv[1:]:
    if path == "torch":
        import torch
        assert torch.ones(2, 2).sum().item() == 4
    else:
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
embedded = ctypes.CDLL(os.environ["EMBEDDED"])
embedded.embedded_sum.restype = ctypes.c_void_p
embedded.embedded_free.argtypes = [ctypes.c_void_p]
text = embedded.embedded_sum()
print(ctypes.string_at(text).decode())
embedded.embedded_free(text)
if sys.argv[1:] == ["torch"]:
    assert torch.ones(2, 3).sum().item() == 6
for path in sorted({line.split()[-1] for line in open("/proc/self/maps") if "/libtorch_cpu.so" in line}):
    print(path)
"""


def run(*loaded, python=sys.executable, **environment):
    """What Go said, and the copies of libtorch_cpu.so that were mapped at the end."""
    kept = {name: value for name, value in os.environ.items() if name != "TANDEM_LIBTORCH"}
    ended = subprocess.run([python, "-c", PROGRAM, *map(str, loaded)], env={**kept, **environment}, capture_output=True,
                           text=True, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said, *mapped = ended.stdout.splitlines()
    return said, mapped


class Embedded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.library = str((LIBTORCH / "lib/libtorch_cpu.so").resolve())

    def copy(self, name):
        """Another LibTorch, as far as its name and place go."""
        path = self.folder / name / "lib/libtorch_cpu.so"
        path.parent.mkdir(parents=True)
        shutil.copy(os.environ["STAND_IN"], path)
        return path

    def test_nothing_is_loaded(self):
        said, mapped = run()
        self.assertRegex(said, r"^\d+\.\d+\.\d+ 6$")
        self.assertEqual(mapped, [self.library])

    def test_the_same_copy_is_used(self):
        said, mapped = run(self.library, TANDEM_LIBTORCH=str(LIBTORCH))
        self.assertRegex(said, r"^\d+\.\d+\.\d+ 6$")
        self.assertEqual(mapped, [self.library])

    def test_a_copy_that_is_there_is_taken(self):
        said, mapped = run(self.library)  # and not the one that libtandem would find, were it another
        self.assertRegex(said, r"^\d+\.\d+\.\d+ 6$")
        self.assertEqual(mapped, [self.library])

    def test_another_copy_is_refused(self):
        other = self.copy("other")
        said, mapped = run(other, TANDEM_LIBTORCH=str(LIBTORCH))
        for part in ("error:", str(other), self.library, "two copies", "TANDEM_LIBTORCH", str(other.parents[1])):
            self.assertIn(part, said)
        self.assertEqual(mapped, [str(other)])

    def test_another_version_is_refused(self):
        other = self.copy("other")
        (other.parents[1] / "version.py").write_text("__version__ = '1.13.1'\n", encoding="utf-8")
        said, mapped = run(other)
        for part in ("error:", "1.13.1", str(other.parents[1]), "loaded before Tandem", "has cores for"):
            self.assertIn(part, said)
        self.assertEqual(mapped, [str(other)])

    def test_two_copies_are_refused(self):
        first, second = self.copy("first"), self.copy("second")
        for wanted in ({}, {"TANDEM_LIBTORCH": str(LIBTORCH)}):
            said, mapped = run(first, second, **wanted)
            for part in ("error:", "two copies", str(first), str(second)):
                self.assertIn(part, said)
            self.assertEqual(mapped, [str(first), str(second)])

    @unittest.skipUnless(os.path.exists(os.environ["TORCH_PYTHON"]), "script/bench has installed no Python with torch")
    def test_pythons_torch(self):
        python = os.environ["TORCH_PYTHON"]
        said, mapped = run("torch", python=python)
        self.assertRegex(said, r"^\d+\.\d+\.\d+ 6$")
        self.assertEqual(len(mapped), 1)
        self.assertIn("site-packages", mapped[0])
        said, mapped = run("torch", python=python, TANDEM_LIBTORCH=str(LIBTORCH))
        for part in ("error:", "two copies", mapped[0], self.library):
            self.assertIn(part, said)
        self.assertEqual(len(mapped), 1)


if __name__ == "__main__":
    unittest.main()
