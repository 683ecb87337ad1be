"""A language more is a folder more, and mistakes in its files are named: languages_test"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATOR = "capi/generator"


class Languages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for part in (GENERATOR, "capi/include"):
            shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))

    def generate(self, *arguments):
        return subprocess.run([sys.executable, "-B", str(self.root / GENERATOR / "generate.py"), *arguments],
                              capture_output=True, text=True)

    def add(self, text):
        folder = self.root / GENERATOR / "languages/basic"
        folder.mkdir()
        (folder / "__init__.py").write_text(text, encoding="utf-8")

    def test_one_more(self):
        self.add("TITLE = 'Basic'\n"
                 "NOTES = [('basic', 'REM made\\n')]\n"
                 "def at_build(api):\n    return {'names.bas': '\\n'.join(f.name for f in api.header.functions)}\n"
                 "def in_checkout(api):\n    return {'basic/operators.bas': NOTES[0][1] + api.bound[0].op.key}\n"
                 "def operator_names(api):\n    return {b.op.key: b.op.key.replace('.', '$') for b in api.bound}\n")
        self.assertEqual(self.generate("build", "basic", str(self.root / "out")).returncode, 0)
        self.assertIn("tdm_all_reduce", (self.root / "out/names.bas").read_text(encoding="utf-8").splitlines())
        old = self.root / "basic/gone.bas"
        old.parent.mkdir()
        old.write_text("REM made\n", encoding="utf-8")
        mine = self.root / "basic/mine.bas"
        mine.write_text("PRINT\n", encoding="utf-8")
        stale = self.generate("check", str(self.root))
        self.assertEqual(stale.returncode, 1)
        self.assertIn("basic/operators.bas", stale.stderr)
        self.assertIn("basic/gone.bas", stale.stderr)
        written = self.generate("write", str(self.root))
        self.assertEqual((written.returncode, written.stderr), (0, ""))
        self.assertEqual((old.exists(), mine.exists()), (False, True))
        self.assertIn("Basic", (self.root / "docs/operators.md").read_text(encoding="utf-8"))
        self.assertEqual(self.generate("check", str(self.root)).returncode, 0)

    def test_names_stay(self):
        names = self.root / GENERATOR / "languages/cpp/operators.txt"
        text = names.read_text(encoding="utf-8")
        names.write_text(text.replace("ops::abs\n", "ops::absolutely\n", 1), encoding="utf-8")
        self.assertNotEqual(text, names.read_text(encoding="utf-8"))
        said = self.generate("check", str(self.root))
        self.assertEqual(said.returncode, 1)
        self.assertIn("abs ops::absolutely, would be ops::abs", said.stderr)

    def test_messages_of_what_is_not_there(self):
        with open(self.root / GENERATOR / "languages/go/messages.txt", "a", encoding="utf-8") as file:
            file.write("tdm_never Never\n")
        said = self.generate("check", str(self.root))
        self.assertEqual(said.returncode, 1)
        self.assertIn("tandem.h has no tdm_never", said.stderr)


if __name__ == "__main__":
    unittest.main()
