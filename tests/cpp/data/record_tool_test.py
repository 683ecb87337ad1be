"""`tandem record` as a user types it: record_tool_test.py TANDEM DRAW_DIGITS."""
import io
import os
import pty
import re
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest

DRAW_DIGITS = sys.argv.pop()
TANDEM = sys.argv.pop()


def tandem(*arguments):
    return subprocess.run([TANDEM, *arguments], capture_output=True, timeout=60)


class RecordTool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.digits = os.path.join(cls.scratch.name, "digits")
        cls.original = os.path.join(cls.scratch.name, "original")
        subprocess.run([DRAW_DIGITS, cls.digits, "--train", "300", "--test", "10"], check=True, timeout=60)
        cls.images = cls.digits + "/train-images-idx3-ubyte.gz"
        cls.labels = cls.digits + "/train-labels-idx1-ubyte.gz"
        cls.check_ok(tandem("record", "import", cls.images, cls.labels, "-o", cls.original, "--version", "1"))

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

    def as_version_1(self, *files):
        """As RecordIO of one version and layout, so that the bytes can be compared."""
        path = self.path("as-records")
        self.check_ok(tandem("record", "convert", *files, "-o", path, "--version", "1"))
        return self.read(path)

    def test_what_is_converted_reads_back(self):
        magic = struct.pack("<I", 0xced7230a)
        blobs = [b"", b"a", magic, b"ab" + magic, b"abcd" + magic + magic + b"e", bytes(range(256)) * 9]
        files = []
        for i, blob in enumerate(blobs):
            files.append(self.path(f"blob-{i}"))
            with open(files[-1], "wb") as file:
                file.write(blob)
        whole = self.path("whole")
        self.check_ok(tandem("record", "write", "--whole", *files, "-o", whole))
        for name in ("tfrecord", "dmlc"):
            there = self.path(name)
            said = self.check_ok(tandem("record", "convert", whole, "-o", there, "--to", name))
            self.assertIn("6 records", said)
            self.assertEqual(self.as_version_1(there), self.as_version_1(whole), name)
        part = self.path("part")
        self.check_ok(tandem("record", "convert", whole, "-o", part, "--to", "tfrecord", "--begin", "1", "--count", "2"))
        self.assertEqual(len(self.read(part)), 2 * 16 + 5)

    def test_lines_are_converted(self):
        for name, text in (("lines", "one\n\n three\n"), ("csv", 'a,"b\nc"\n1,2\n'), ("ndjson", '{"a": 1}\n[2]\n')):
            source, there = self.path("source"), self.path("there")
            with open(source, "w") as file:
                file.write(text)
            self.check_ok(tandem("record", "convert", "--format", name, source, "-o", self.path("kept")))
            self.check_ok(tandem("record", "convert", self.path("kept"), "-o", there, "--to", name))
            self.assertEqual(self.read(there), text.encode(), name)
        for bad, reason in ((b"a\nb", "end of a line"), (b"a\r", "carriage return"), (b"\xef\xbb\xbfa", "byte order mark")):
            with open(source, "wb") as file:
                file.write(bad)
            self.check_ok(tandem("record", "write", "--whole", source, "-o", self.path("one")))
            self.check_refused(tandem("record", "convert", self.path("one"), "-o", self.path("no"), "--to", "lines"),
                               self.path("no"), "record 0", reason)
            self.assertFalse(os.path.exists(self.path("no")))

    def test_tars_are_converted(self):
        source, there = self.path("source.tar"), self.path("there.tar")
        members = {"a/1.jpg": b"x" * 700, "a/1.cls": b"7", "a/2.seg.png": b"", "b" * 150 + ".txt": b"long", "none": b"!"}
        with tarfile.open(source, "w") as tar:
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        self.check_ok(tandem("record", "convert", source, "-o", self.path("kept")))
        self.check_ok(tandem("record", "convert", self.path("kept"), "-o", there, "--to", "tar"))
        with tarfile.open(there) as tar:
            self.assertEqual({info.name: tar.extractfile(info).read() for info in tar}, members)
        self.assertEqual(self.as_version_1(there), self.as_version_1(source))
        self.check_refused(tandem("record", "convert", self.original, "-o", self.path("no"), "--to", "tar"), "record 0",
                           "MessagePack")
        self.check_refused(tandem("record", "convert", source, source, "-o", self.path("no"), "--to", "idx"), "only read")
        self.check_refused(tandem("record", "convert", source, "-o", self.path("no"), "--to", "tar", "--level", "3"),
                           "--level is of RecordIO")

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

    def one_record(self, content):
        """A file of it."""
        self.check_ok(tandem("record", "write", "--whole", self.write("content", content), "-o", self.path("one")))
        return self.path("one")

    def test_tars_hold_what_reads_back_as_the_same_alone(self):
        text = lambda text: bytes([0xa0 + len(text)]) + text
        sample = lambda key, *endings: (bytes([0x81 + len(endings)]) + text(b"__key__") + text(key) +
                                        b"".join(text(ending) + b"\xc4\x01x" for ending in endings))
        there = self.path("there.tar")
        for good in (sample(b"a.b/__c", b"jpg", b"", b".d", b"e.f"), sample(b"__c__", b"jpg")):
            source = self.one_record(good)
            self.check_ok(tandem("record", "convert", source, "-o", there, "--to", "tar"))
            self.assertEqual(self.as_version_1(there), self.as_version_1(source))
        for bad, reason in ((sample(b"", b"jpg"), "no file's name"), (sample(b"a/", b"jpg"), "no file's name"),
                            (sample(b"a/b.c", b"jpg"), "dot"), (sample(b".a", b"jpg"), "dot"),
                            (sample(b"a\0b", b"jpg"), "zero byte"), (sample(b"a", b"j\0g"), "zero byte"),
                            (sample(b"a", b"b/c"), "slash"), (sample(b"a", b"JPG"), "lower case"),
                            (sample(b"a", b"jpg", b"cls", b"jpg"), "two files 'jpg'"),
                            (sample(b"b/__a__", b""), "notes"), (sample(b"__a", b"b__"), "notes")):
            refused = tandem("record", "convert", self.one_record(bad), "-o", self.path("no"), "--to", "tar")
            self.check_refused(refused, self.path("no") + " cannot hold record 0", reason)
            self.assertFalse(os.path.exists(self.path("no")))

    def test_dmlc_is_not_written_beside_an_index_of_other_records(self):
        there = self.path("a.rec")
        index = self.write("a.idx", b"0\t0\n")
        self.check_refused(tandem("record", "convert", self.original, "-o", there, "--to", "dmlc"), index, "move it away")
        self.assertEqual(os.listdir(self.folder.name), ["a.idx"])
        os.remove(index)
        self.check_ok(tandem("record", "convert", self.original, "-o", there, "--to", "dmlc"))
        self.assertEqual(self.as_version_1(there), self.as_version_1(self.original))

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

    def chunks(self, path):
        """Where they begin."""
        return [int(at) for at in re.findall(r"chunk \d+ at byte (\d+)", self.check_ok(tandem("record", "info", path)))]

    def test_all_damage_is_listed_where_a_file_does_not_open(self):
        v1 = self.path("v1")
        self.check_ok(tandem("record", "convert", self.original, "-o", v1, "--version", "1", "--chunk-mb", "0.029"))
        at = self.chunks(v1)
        self.assertEqual(len(at), 8)
        for place in (at[1] + 100, at[3], at[7] + 100):
            self.damage(v1, place)
        done = tandem("record", "verify", v1)
        self.check_refused(done, f"damaged: bytes {at[1]} to {at[2] - 1}: its checksum",
                           f"damaged: bytes {at[3]} to {at[4] - 1}: its magic number",
                           f"damaged: bytes {at[7]} to {len(self.read(v1)) - 1}: its checksum",
                           f"chunk 3 at byte {at[3]} is damaged", "record repair")
        self.assertEqual(done.stderr.count(b"damaged: bytes"), 3)
        v2 = self.version_2()
        at = self.chunks(v2)
        for place in (at[2] + 1000, at[5], len(self.read(v2)) - 50):
            self.damage(v2, place)
        done = tandem("record", "verify", v2, self.original)
        self.check_refused(done, f"damaged: bytes {at[2]} to {at[3] - 1}, records ",
                           f"damaged: bytes {at[5]} to {at[6] - 1}, records ", "its trailer's checksum",
                           "1 of 2 files are damaged")
        self.assertEqual(done.stderr.count(b"damaged: bytes"), 2)

    def test_what_copies_chunks_takes_no_more_memory_for_one_than_it_may(self):
        content = self.write("zeros", b"\0" * 100_000)
        for options in (("--compressor", "zstd"), ("--version", "1", "--compressor", "gzip")):
            path, copy = self.path("packed"), self.path("copy")
            self.check_ok(tandem("record", "write", "--whole", content, content, "-o", path, *options))
            for command in (("repair", path, copy), ("merge", path, "-o", copy)):
                self.check_refused(tandem("record", *command, "--most-chunk-mb", "0.1"), path, "chunk 0",
                                   "most_chunk_bytes, 104857", "--most-chunk-mb")
                self.assertFalse(os.path.exists(copy))
                self.assertIn("2 records", self.check_ok(tandem("record", *command)))
                os.remove(copy)
            with open(path, "ab") as file:
                file.write(b"x" * 30)  # so that it does not open
            self.check_refused(tandem("record", "verify", path, "--most-chunk-mb", "0.1"), "most_chunk_bytes, 104857",
                               "damaged")

    def test_an_empty_file_is_repaired(self):
        for version in ("1", "2"):
            empty, repaired = self.path("empty"), self.path("repaired")
            self.check_ok(tandem("record", "write", "--whole", self.write("x", b""), "-o", self.path("one")))
            self.check_ok(tandem("record", "convert", self.path("one"), "-o", empty, "--count", "0", "--version", version))
            self.assertIn("0 records in 0 chunks kept, 0 parts lost",
                          self.check_ok(tandem("record", "repair", empty, repaired)))
            self.assertEqual(self.read(repaired), self.read(empty))

    def test_mistakes_leave_no_file(self):
        output = self.path("output")
        for arguments, parts in (
                ((self.path("none"),), ("none", "No such file")),
                ((self.original, "--compressor", "snappy"), ("compressor 1", "v2")),
                ((self.original, "--version", "1", "--metadata", "a=b"), ("version 2",)),
                ((self.original, "--metadata", "a"), ("KEY=VALUE",)),
                ((self.path("*"),), ("no file is like",)),
                ((self.images, "--format", "tfrecord"), ("train-images", "record 0")),
                ((self.images, "--format", "mnist"), ("pairs",))):
            self.check_refused(tandem("record", "convert", *arguments, "-o", output), *parts)
            self.assertEqual(os.listdir(self.folder.name), [])
        self.check_refused(tandem("record", "repair", self.images, output), "no whole chunk")
        self.assertEqual(os.listdir(self.folder.name), [])

    def records(self, *arguments):
        """What `cat` shows, by lines."""
        done = tandem("record", "cat", *arguments)
        self.check_ok(done)
        return done.stdout.split(b"\n")[:-1]

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_mnist_pairs_are_found_whatever_their_order(self):
        for pair in ((self.images, self.labels), (self.labels, self.images)):
            output = self.path("imported")
            self.check_ok(tandem("record", "import", *pair, "-o", output, "--version", "1"))
            self.assertEqual(self.read(output), self.read(self.original))
        part = self.path("part")
        self.check_ok(tandem("record", "convert", "--format", "mnist", self.images, self.labels, "-o", part, "--version",
                             "1", "--begin", "5", "--count", "3"))
        self.assertEqual(self.read(part)[20:], self.read(self.original)[20 + 5 * 789:20 + 8 * 789])
        self.check_refused(tandem("record", "import", self.images, "-o", part), "give two")
        self.check_refused(tandem("record", "import", self.images, self.images, "-o", part), "IDX labels")

    def test_lines_and_files_become_records(self):
        text, output = self.write("a.txt", b"one\n\ntwo\r\nthree"), self.path("lines")
        self.check_ok(tandem("record", "write", text, "-o", output))
        self.assertEqual(self.records(output), [b"one", b"", b"two", b"three"])
        done = subprocess.run([TANDEM, "record", "write", "-o", output], input=b"x\ny\r\n\nz", capture_output=True,
                              timeout=60)
        self.assertIn("4 records", self.check_ok(done))
        self.assertEqual(self.records(output), [b"x", b"y", b"", b"z"])
        self.write("b.txt", b"whole")
        self.check_ok(tandem("record", "write", "--whole", self.path("?.txt"), "-o", output))
        self.assertEqual(b"\n".join(self.records(output)), b"one\n\ntwo\r\nthree\nwhole")
        self.check_refused(tandem("record", "write", "--whole", "-o", output), "no file is given")

    def test_pipes_and_devices_are_no_input(self):
        pipe, output = self.path("pipe"), self.path("output")
        os.mkfifo(pipe)
        for arguments in (("write", pipe), ("write", "--whole", pipe), ("convert", pipe), ("import", pipe),
                          ("write", "/dev/null"), ("convert", "--format", "lines", "/dev/null")):
            self.check_refused(tandem("record", *arguments, "-o", output), "cannot read " + arguments[-1],
                               "a device" if arguments[-1] == "/dev/null" else "a pipe", "to a file first",
                               "`tandem record write` without a file")
        self.check_refused(tandem("record", "repair", pipe, output), "a pipe")
        done = subprocess.run([TANDEM, "record", "write", "/dev/stdin", "-o", output], input=b"a\n", capture_output=True,
                              timeout=60)
        self.check_refused(done, "cannot read /dev/stdin: it is a pipe")
        self.assertEqual(os.listdir(self.folder.name), ["pipe"])
        with open(self.write("lines", b"a\nb\n")) as lines:  # this one has a size
            done = subprocess.run([TANDEM, "record", "write", "/dev/stdin", "-o", output], stdin=lines,
                                  capture_output=True, timeout=60)
        self.assertIn("2 records", self.check_ok(done))

    def test_pipes_and_devices_are_no_output(self):
        pipe, null, out = self.path("pipe"), self.path("null"), self.path("out")
        os.mkfifo(pipe)
        os.symlink("/dev/null", null)
        os.symlink("/proc/self/fd/1", out)  # as /dev/stdout is
        os.mkdir(self.path("folder"))
        before = sorted(os.listdir(self.folder.name))
        for output, kind in ((pipe, "a pipe"), (null, "a device"), (out, "a pipe"), (self.path("folder"), "a folder")):
            for options in ((), ("--to", "lines")):
                self.check_refused(tandem("record", "convert", self.original, "-o", output, *options),
                                   f"cannot create {output}: it is {kind}", "give the name of a file")
        with open(self.path("file"), "wb") as file:
            done = subprocess.run([TANDEM, "record", "convert", self.original, "-o", out], stdout=file,
                                  stderr=subprocess.PIPE, timeout=60)
        self.check_refused(done, "a link to what the process has open")
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
        self.assertEqual((os.readlink(null), os.readlink(out)), ("/dev/null", "/proc/self/fd/1"))
        os.remove(self.path("file"))
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_an_index_is_written_beside(self):
        self.check_ok(tandem("record", "convert", self.original, "-o", self.path("v1"), "--version", "1"))
        self.assertIn("v1.idx: 1 chunks", self.check_ok(tandem("record", "index", self.path("v1"))))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["v1", "v1.idx"])
        self.assertIn("has its index inside", self.check_ok(tandem("record", "index", self.version_2())))

    def test_split_files_merge_into_the_whole(self):
        whole = self.version_2("--metadata", "a=b", "--compressor", "zstd")
        shown = self.check_ok(tandem("record", "split", whole, "-o", self.path("part.rio"), "--parts", "7", "--metadata",
                                     "only=here", "--chunk-mb", "0.02"))
        self.assertEqual(shown.count("\n"), 7)
        self.assertRegex(shown, r"part-00000\.rio: 43 records\n(.|\n)*part-00006\.rio: 42 records")
        merged = self.path("merged")
        self.assertIn("300 records", self.check_ok(tandem("record", "merge", self.path("part-{00000..00006}.rio"), "-o", merged)))
        self.assertEqual(self.records(merged), self.records(whole))
        self.assertIn("a: b\nonly: here\n", self.check_ok(tandem("record", "info", merged)))
        self.assertEqual(self.check_ok(tandem("record", "split", whole, "-o", self.path("r"), "--records", "299"))
                         .replace(self.folder.name + "/", ""), "r-00000: 299 records\nr-00001: 1 records\n")
        self.check_refused(tandem("record", "split", whole, "-o", self.path("r")), "--parts")
        self.check_refused(tandem("record", "merge", whole, self.original, "-o", merged), "tandem record convert")

    def test_split_keeps_its_inputs(self):
        self.check_ok(tandem("record", "split", self.original, "-o", self.path("train.rio"), "--parts", "4"))
        before = {name: self.read(self.path(name)) for name in os.listdir(self.folder.name)}
        self.assertEqual(len(before), 4)
        inputs = self.path("train-{00000..00003}.rio")
        for parts in ("1", "4", "8"):
            self.check_refused(tandem("record", "split", inputs, "-o", self.path("train.rio"), "--parts", parts),
                               "train-00000.rio", "which is read")
        os.symlink(self.path("train-00003.rio"), self.path("link"))
        self.check_refused(tandem("record", "split", self.path("link"), "-o", self.folder.name + "/./train.rio", "--parts",
                                  "9"), "train-00003.rio", "which is read")
        os.remove(self.path("link"))
        self.assertEqual({name: self.read(self.path(name)) for name in os.listdir(self.folder.name)}, before)

    def test_split_leaves_no_files_of_another_beside_its_own(self):
        split = lambda *options: tandem("record", "split", self.original, "-o", self.path("a.rio"), *options)
        self.check_ok(split("--parts", "4"))
        for name in ("a-1.rio", "a-0000x.rio", "a-000009.rio", "a-00009.txt", "b-00009.rio"):
            self.write(name, b"")
        before = {name: self.read(self.path(name)) for name in os.listdir(self.folder.name)}
        self.check_refused(split("--parts", "2"), self.path("a-00002.rio"), "only 2", "move it away")
        self.check_refused(split("--records", "150"), self.path("a-00002.rio"))
        self.assertEqual({name: self.read(self.path(name)) for name in os.listdir(self.folder.name)}, before)
        self.check_ok(split("--parts", "4"))
        self.check_ok(split("--parts", "5"))

    def test_split_takes_any_number_of_records(self):
        for count in (2**63 - 1, 300):
            shown = self.check_ok(tandem("record", "split", self.original, "-o", self.path("a"), "--records", str(count)))
            self.assertEqual(shown, self.path("a-00000") + ": 300 records\n")

    def test_merging_version_1_copies_chunks_as_they_are(self):
        gzip, plain, merged = self.path("gzip"), self.path("plain"), self.path("merged")
        self.check_ok(tandem("record", "convert", self.original, "-o", gzip, "--version", "1", "--compressor", "gzip"))
        self.check_ok(tandem("record", "convert", self.original, "-o", plain, "--version", "1"))
        self.check_ok(tandem("record", "merge", gzip, plain, "-o", merged))
        self.assertEqual(self.read(merged), self.read(gzip) + self.read(plain))
        self.damage(gzip, 100)
        self.check_refused(tandem("record", "merge", gzip, plain, "-o", merged), "gzip", "chunk 0")
        self.assertEqual(len(self.read(merged)), len(self.read(gzip)) + len(self.read(plain)))  # as it was

    def test_shuffle_keeps_every_record(self):
        records = {}
        for source in (self.version_2(), self.path("compressed")):
            if not os.path.exists(source):
                self.check_ok(tandem("record", "convert", self.original, "-o", source, "--compressor", "zstd"))
            for seed in ("1", "1", "2"):
                output = self.path("shuffled")
                self.check_ok(tandem("record", "shuffle", source, "-o", output, "--seed", seed))
                content = self.content(output)
                self.assertEqual(sorted(content), sorted(self.content(self.original)))
                self.assertNotEqual(content, self.content(self.original))
                self.assertEqual(records.setdefault(seed, content), content)
        self.assertNotEqual(records["1"], records["2"])
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["compressed", "shuffled", "v2"])

    def content(self, path):
        """Records of 785 bytes each."""
        done = tandem("record", "cat", path)
        self.check_ok(done)
        self.assertEqual(len(done.stdout) % 786, 0)
        return [done.stdout[i:i + 785] for i in range(0, len(done.stdout), 786)]

    def test_tars_of_others_become_records(self):
        for name, format in (("pax", tarfile.PAX_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("ustar", tarfile.USTAR_FORMAT)):
            path = self.path(name + ".tar")
            with tarfile.open(path, "w", format=format) as tar:
                folder = "d" * 90 + "/" + ("e" * 60 if name == "ustar" else "\u00e9" * 90)
                for number in range(3):
                    for ending, content in (("jpg", b"image %d" % number), ("cls", b"%d" % number)):
                        info = tarfile.TarInfo(f"{folder}/{number}.{ending}")
                        info.size, info.mtime = len(content), 123.5
                        tar.addfile(info, io.BytesIO(content))
            self.assertIn("tar, 3 records", self.check_ok(tandem("record", "info", path)))
            self.assertIn("3 records", self.check_ok(tandem("record", "verify", path)))
            records = self.records(path)
            self.assertEqual(len(records), 3)
            for number, record in enumerate(records):
                key = f"{folder}/{number}".encode()
                self.assertTrue(record.startswith(b"\x83\xa7__key__"), record)
                self.assertIn(key, record)
                self.assertTrue(record.endswith(b"\xa3jpg\xc4\x07image %d\xa3cls\xc4\x01%d" % (number, number)), record)

    def test_folders_and_tars_of_images_have_labels(self):
        for name in ("dog/1.jpg", "cat/b/2.PNG", "cat/1.jpeg", "cat/notes.txt"):
            self.write("images/" + name, name.encode())
        with tarfile.open(self.path("images.tar"), "w") as tar:
            tar.add(self.path("images"), arcname=".")
        expected = [b"\x83\xa5image\xc4" + bytes([len(name)]) + name + b"\xa5label" + bytes([label]) + b"\xa4name" +
                    bytes([0xa0 + len(name)]) + name
                    for name, label in ((b"cat/1.jpeg", 0), (b"cat/b/2.PNG", 0), (b"dog/1.jpg", 1))]
        for source in ("images", "images.tar"):
            output = self.path("records")
            self.assertIn("3 records of 2 classes", self.check_ok(tandem("record", "import", self.path(source), "-o", output)))
            self.assertEqual(b"\n".join(self.records(output)), b"\n".join(expected))
            self.assertIn('classes: ["cat","dog"]', self.check_ok(tandem("record", "info", output)))
        self.write("images/stray.jpg", b"x")
        self.check_refused(tandem("record", "import", self.path("images"), "-o", self.path("no")), "stray.jpg", "CLASS/NAME")
        os.mkdir(self.path("nothing"))
        self.check_refused(tandem("record", "import", self.path("nothing"), "-o", self.path("no")), "no images")
        self.assertFalse(os.path.exists(self.path("no")))

    def test_links_have_the_names_that_they_are_under(self):
        for name in ("pool/a.jpg", "pool/b.jpg", "store/x/1.jpg", "store/y/1.jpg"):
            self.write(name, name.encode() + b"!")  # 10 bytes would have the end of a line as their length
        for link, target in (("files/cat/1.jpg", "pool/a.jpg"), ("files/dog/1.jpg", "pool/b.jpg"),
                             ("folders/cat", "store/x"), ("folders/dog", "store/y")):
            os.makedirs(os.path.dirname(self.path(link)), exist_ok=True)
            os.symlink(self.path(target), self.path(link))
        output = self.path("records")
        for folder in ("files", "folders", "folders/", "./folders"):
            said = self.check_ok(tandem("record", "import", self.folder.name + "/" + folder, "-o", output))
            self.assertIn("2 records of 2 classes", said)
            self.assertIn('classes: ["cat","dog"]', self.check_ok(tandem("record", "info", output)))
            one, two = self.records(output)
            self.assertTrue(one.endswith(b"\xa5label\x00\xa4name\xa9cat/1.jpg"), one)
            self.assertTrue(two.endswith(b"\xa5label\x01\xa4name\xa9dog/1.jpg"), two)
        os.symlink(self.path("nowhere"), self.path("files/dog/2.jpg"))
        self.check_refused(tandem("record", "import", self.path("files"), "-o", output), "files/dog/2.jpg", "No such file")
        self.assertEqual(len(self.records(output)), 2)

    def test_lists_of_mxnet_name_images_and_labels(self):
        self.write("root/a.jpg", b"A")
        listed, output = self.write("root/l.lst", b"0\t3\ta.jpg\n1\t0.5\t2\ta.jpg\n"), self.path("records")
        self.check_ok(tandem("record", "import", listed, "-o", output))
        one, two = self.records(output)
        self.assertEqual(one, b"\x83\xa5image\xc4\x01A\xa5label\x03\xa4name\xa5a.jpg")
        self.assertIn(b"\xa5label\x92\xcb" + struct.pack(">d", 0.5) + b"\x02", two)
        moved = self.write("l.lst", self.read(listed))
        self.check_refused(tandem("record", "import", moved, "-o", output), "a.jpg", "No such file")
        self.check_ok(tandem("record", "import", moved, "--root", self.path("root"), "-o", output))

    def test_lists_of_mxnet_do_not_lead_out_of_their_folder(self):
        secret, output = self.write("secret", b"S"), self.path("records")
        self.write("root/sub/a..jpg", b"A")
        for path in ("../secret", "sub/../../secret", "sub/../sub/a..jpg", "..", secret):
            listed = self.write("root/l.lst", b"0\t3\tsub/a..jpg\n1\t3\t" + path.encode() + b"\n")
            self.check_refused(tandem("record", "import", listed, "-o", output), "l.lst: line 2", path, "--root")
            self.assertFalse(os.path.exists(output))
        self.check_ok(tandem("record", "import", self.write("root/l.lst", b"0\t3\tsub/a..jpg\n"), "-o", output))

    def test_verify_names_all_that_is_damaged_in_any_format(self):
        crc = tandem_crc32c
        record = lambda text: (struct.pack("<Q", len(text)) + crc(struct.pack("<Q", len(text))) + text + crc(text))
        path = self.write("t", record(b"one") + record(b"two") + record(b"three"))
        self.assertIn("3 records, 11 bytes: all records are intact", self.check_ok(tandem("record", "verify", path)))
        for at in (12, 19 + 12):
            self.damage(path, at)
        damaged = tandem("record", "verify", path, "--threads", "3")
        self.check_refused(damaged, "2 of 3 records are damaged")
        self.assertRegex(damaged.stderr.decode(), "record 0 at byte 0 is damaged(.|\n)*record 1 at byte 19 is damaged")
        both = tandem("record", "verify", path, self.original)
        self.check_refused(both, "1 of 2 files are damaged")
        self.assertIn("300 records", both.stdout.decode())

    def test_progress_is_drawn_on_terminals_only(self):
        source = self.version_2()
        controller, terminal = pty.openpty()
        with subprocess.Popen([TANDEM, "record", "verify", source], stdout=subprocess.DEVNULL, stderr=terminal) as process:
            os.close(terminal)
            shown = b""
            try:
                while part := os.read(controller, 4096):
                    shown += part
            except OSError:  # the other side is closed
                pass
        os.close(controller)
        self.assertRegex(shown, rb"v2 \[[# ]{30}\] +\d+ %")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)
        self.assertEqual(tandem("record", "verify", source).stderr, b"")


def tandem_crc32c(data):
    """TFRecord's masked CRC-32C, as four bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


unittest.main()
