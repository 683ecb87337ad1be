"""`tandem record` as a user types it: record_tool_test.py TANDEM."""
import os
import subprocess
import sys
import tempfile
import unittest

TANDEM = sys.argv.pop()


def tandem(*arguments):
    return subprocess.run([TANDEM, *arguments], capture_output=True, timeout=60)


class RecordTool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.digits = os.path.join(cls.scratch.name, "digits")
        cls.original = os.path.join(cls.scratch.name, "original")
        cls.check_ok(tandem("digits", cls.digits, "--train", "300", "--test", "10"))
        cls.images = cls.digits + "/train-images-idx3-ubyte.gz"
        cls.check_ok(tandem("record", "import-mnist", "--images", cls.images, "--labels",
                            cls.digits + "/train-labels-idx1-ubyte.gz", "--output", cls.original))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    @staticmethod
    def check_ok(done):
        if done.returncode != 0:
            raise AssertionError((done.args, done.returncode, done.stderr.decode()))
        return done.stdout.decode(errors="replace")

    def check_refused(self, done, *parts):
        self.assertEqual(done.returncode, 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr.decode())

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def damage(self, path, at):
        content = bytearray(self.read(path))
        content[at] ^= 0xFF
        with open(path, "wb") as file:
            file.write(content)

    def version_2(self, *options):
        path = self.path("v2")
        self.check_ok(tandem("record", "convert", self.original, "-o", path, "--chunk-mb", "0.02", *options))
        return path

    def test_version_2_and_back_gives_the_same_bytes(self):
        for options in ((), ("--compressor", "zstd", "--level", "9"), ("--alignment", "1")):
            back = self.path("back")
            self.check_ok(tandem("record", "convert", self.version_2(*options), "-o", back, "--version", "1"))
            self.assertEqual(self.read(back), self.read(self.original))

    def test_info_shows_version_metadata_and_chunks(self):
        path = self.version_2("--compressor", "zstd", "--metadata", "source=drawn", "--metadata", "split=a=b")
        shown = self.check_ok(tandem("record", "info", path))
        self.assertRegex(shown, r"RecordIO v2, 300 records in \d\d chunks\nsource: drawn\nsplit: a=b\nchunk 0 at byte 128: ")
        self.assertIn("compressor zstd", shown)
        self.assertIn("RecordIO v1, 300 records in 1 chunks", self.check_ok(tandem("record", "info", self.original)))

    def test_several_files_become_one(self):
        whole = self.path("whole")
        self.check_ok(tandem("record", "convert", self.original, self.version_2(), "-o", whole))
        self.assertIn("600 records", self.check_ok(tandem("record", "verify", whole)))

    def test_cat_writes_records_as_they_are(self):
        done = tandem("record", "cat", self.original, "--begin", "7", "--count", "2")
        self.assertEqual(len(done.stdout), 2 * (785 + 1))
        self.assertLess(done.stdout[0], 10)  # a label
        self.check_refused(tandem("record", "cat", self.original, "--begin", "301"), "300 records", "301")

    def test_damage_is_listed_and_repaired(self):
        path, repaired = self.version_2(), self.path("repaired")
        size = len(self.read(path))
        for at in (size // 4, size // 2):
            self.damage(path, at)
        damaged = tandem("record", "verify", path)
        self.check_refused(damaged, "2 of ", "chunks are damaged")
        self.assertEqual(damaged.stderr.decode().count("checksum"), 2)
        done = tandem("record", "repair", path, repaired)
        self.check_ok(done)
        self.assertEqual(done.stderr.decode().count(": lost bytes "), 2)
        self.assertRegex(done.stdout.decode(), r"\d\d\d records in \d+ chunks kept, 2 parts lost")
        self.assertIn("all chunks are intact", self.check_ok(tandem("record", "verify", repaired)))

    def test_mistakes_leave_no_file(self):
        output = self.path("output")
        for arguments, parts in (
                ((self.path("none"),), ("none", "No such file")),
                ((self.original, "--compressor", "snappy"), ("compressor 1", "v2")),
                ((self.original, "--version", "1", "--metadata", "a=b"), ("version 2",)),
                ((self.original, "--metadata", "a"), ("KEY=VALUE",)),
                ((self.images,), ("idx",))):
            self.check_refused(tandem("record", "convert", *arguments, "-o", output), *parts)
            self.assertEqual(os.listdir(self.folder.name), [])
        self.check_refused(tandem("record", "repair", self.images, output), "no whole chunk")
        self.assertEqual(os.listdir(self.folder.name), [])


unittest.main()
