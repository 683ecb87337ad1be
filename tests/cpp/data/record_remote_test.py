"""Files on http:// and s3://, from a server of this test's own that fails in the ways servers do:
record_remote_test.py TANDEM OLD_CURL."""
import ctypes
import datetime
import email.utils
import hashlib
import hmac
import http.server
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

OLD_CURL, TANDEM = sys.argv.pop(), sys.argv.pop()
KEY, SECRET, TOKEN, REGION = "AKIDEXAMPLE", "secret/with+signs", "session-token", "eu-test-1"


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` by ranges. `trouble` is a list of what happens to the next requests, in order; a number says until
    when the server is busy, in seconds, and is sent as a date."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.files, self.trouble, self.requests, self.times, self.signed = {}, [], [], [], False
        self.headers, self.elsewhere = [], None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may have read enough
            super().handle_error(request, client_address)

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        server = self.server
        path = urllib.parse.unquote(self.path.partition("?")[0])
        with server.lock:
            server.requests.append((path, self.headers.get("Range")))
            server.times.append(time.monotonic())
            server.headers.append(dict(self.headers))
            trouble = server.trouble.pop(0) if server.trouble else None
        if server.signed and not self.signature_is_right():
            return self.answer(403)
        if trouble == "503":
            return self.answer(503, b"busy", [("Retry-After", "0")])
        if isinstance(trouble, int):
            return self.answer(503, b"busy", [("Retry-After", email.utils.formatdate(time.time() + trouble, usegmt=True))])
        if trouble == "drop":
            self.close_connection = True
            return self.connection.close()
        if trouble == "redirect":
            return self.answer(302, b"", [("Location", (server.elsewhere or server).url(self.path))])
        if trouble == "other":  # whoever reads on would mix two files
            server.files[path] = server.files[path][::-1]
        content = server.files.get(path)
        if content is None:
            return self.answer(404, b"no such file")
        version = '"' + hashlib.md5(content).hexdigest() + '"'
        if trouble == "whole":
            return self.answer(200, content, [("ETag", version)])
        begin, end = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        if begin >= len(content):
            return self.answer(416, b"", [("Content-Range", f"bytes */{len(content)}")])
        part = content[begin:end + 1]
        headers = [("Content-Range", f"bytes {begin}-{begin + len(part) - 1}/{len(content)}"), ("ETag", version)]
        if trouble == "truncate":
            self.send_response(206)
            for name, value in [*headers, ("Content-Length", str(len(part)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(part[:len(part) // 2])
            self.close_connection = True
            return
        self.answer(206, part, headers)

    def signature_is_right(self):
        """Signature version 4, as docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html has it."""
        fields = dict(part.strip().split("=", 1) for part in
                      self.headers.get("Authorization", "").removeprefix("AWS4-HMAC-SHA256 ").split(",") if "=" in part)
        names = fields.get("SignedHeaders", "").split(";")
        if not {"host", "x-amz-date"} <= set(names) or self.headers["x-amz-security-token"] != TOKEN:
            return False
        date = self.headers["x-amz-date"]
        sent = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs((datetime.datetime.now(datetime.timezone.utc) - sent).total_seconds()) > 600:
            return False
        scope = f"{date[:8]}/{REGION}/s3/aws4_request"
        canonical = "\n".join(["GET", self.path, "", *(f"{name}:{self.headers[name].strip()}" for name in names), "",
                               ";".join(names), self.headers.get("x-amz-content-sha256", "")])
        to_sign = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + SECRET).encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        return fields.get("Credential") == f"{KEY}/{scope}" and \
            fields.get("Signature") == hmac.new(key, to_sign.encode(), "sha256").hexdigest()


class Remote(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.cache = os.path.join(self.folder.name, "cache")
        # Records of 5 MB: each lies in several blocks of 4 MiB, among small ones.
        self.records = [bytes([65 + i]) * (5_000_000 if i % 2 else 100) for i in range(5)]
        local = os.path.join(self.folder.name, "local")
        text = os.path.join(self.folder.name, "text")
        with open(text, "wb") as file:
            file.write(b"\n".join(self.records))
        for version in ("1", "2"):
            self.check_ok(self.tandem("write", text, "-o", local, "--version", version, "--chunk-mb", "0.001"))
            with open(local, "rb") as file:
                self.server.files[f"/v{version}"] = file.read()

    def tandem(self, *arguments, **environment):
        settings = {name: value for name, value in os.environ.items()
                    if not name.startswith("AWS_") and not name.lower().endswith("_proxy")}
        return subprocess.run([TANDEM, "record", *arguments], capture_output=True, timeout=120,
                              env={**settings, "TANDEM_CACHE_DIR": self.cache, **environment})

    def check_ok(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_refused(self, done, *parts):
        self.assertEqual(done.returncode, 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr.decode())

    def check_records(self, path, **environment):
        shown = self.check_ok(self.tandem("cat", path, **environment))
        self.assertEqual(hashlib.md5(shown).hexdigest(), hashlib.md5(b"".join(r + b"\n" for r in self.records)).hexdigest())

    def test_both_versions_are_read_by_ranges(self):
        for name in ("/v1", "/v2"):
            self.check_records(self.server.url(name))
        self.assertTrue(all(asked for path, asked in self.server.requests if path in ("/v1", "/v2")))
        self.assertIn("all chunks are intact", self.check_ok(self.tandem("verify", self.server.url("/v2"))).decode())

    def test_what_was_fetched_is_kept_for_later_runs(self):
        self.check_records(self.server.url("/v2"))
        first = len(self.server.requests)
        self.check_records(self.server.url("/v2"))
        # The beginning is asked for again, to learn whether it is the same file.
        self.assertEqual([path for path, _ in self.server.requests[first:]], ["/v2"])
        self.assertEqual({os.path.splitext(name)[1] for name in os.listdir(self.cache)}, {".block"})

    def test_a_damaged_cache_is_fetched_again(self):
        self.check_records(self.server.url("/v2"))
        for name in os.listdir(self.cache):
            path = os.path.join(self.cache, name)
            with open(path, "r+b") as file:
                file.seek(os.path.getsize(path) // 2)
                file.write(b"\x00\x01\x02")
        self.check_records(self.server.url("/v2"))

    def test_another_file_of_that_name_is_not_taken_from_the_cache(self):
        self.check_records(self.server.url("/v2"))
        self.server.files["/v2"] = self.server.files["/v1"]
        self.check_records(self.server.url("/v2"))
        self.assertIn(b"RecordIO v1", self.check_ok(self.tandem("info", self.server.url("/v2"))))

    def test_a_cache_that_cannot_be_written_is_no_error(self):
        with open(self.cache, "w"):
            pass
        self.check_records(self.server.url("/v2"))

    def test_troubles_that_pass_are_tried_again(self):
        for trouble in ("503", "drop", "truncate"):
            for position in range(3):
                self.server.trouble = [None] * position + [trouble, trouble]
                empty = os.path.join(self.folder.name, f"{trouble}{position}")
                self.check_records(self.server.url("/v2"), TANDEM_CACHE_DIR=empty)
                self.assertEqual(self.server.trouble, [])

    def test_a_server_that_says_when_is_not_asked_before(self):
        # A date has whole seconds. Nobody waits for a day.
        for seconds, least, most in ((4, 3, 8), (86400, 10, 18), (-60, 0, 2)):
            self.server.trouble, self.server.times = [seconds], []
            self.check_records(self.server.url("/v2"), TANDEM_CACHE_DIR=os.path.join(self.folder.name, str(seconds)))
            waited = self.server.times[1] - self.server.times[0]
            self.assertGreaterEqual(waited, least - 0.1)
            self.assertLessEqual(waited, most)

    def test_redirects_are_followed(self):
        self.server.trouble = ["redirect"]
        self.check_records(self.server.url("/v2"))

    def test_keys_go_to_no_other_server(self):
        other = Server()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        other.files["/bucket/key"] = self.server.files["/bucket/key"] = self.server.files["/v2"]
        self.server.signed, self.server.elsewhere, self.server.trouble = True, other, ["redirect"]
        keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN,
                "AWS_REGION": REGION, "AWS_ENDPOINT_URL_S3": self.server.url("")}
        refused = self.tandem("cat", "s3://bucket/key", **keys)
        self.check_refused(refused, "s3://bucket/key", other.url(""), "AWS_REGION")
        self.assertEqual(other.headers, [])
        # Within one server it is followed, and signed again.
        self.server.elsewhere, self.server.trouble = None, ["redirect"]
        self.check_records("s3://bucket/key", **keys)
        # Without keys there is nothing to give away.
        self.server.signed, self.server.elsewhere, self.server.trouble = False, other, ["redirect"]
        self.check_records("s3://bucket/key", AWS_ENDPOINT_URL=self.server.url(""))
        self.assertTrue(other.headers)

    def test_messages_have_no_secrets(self):
        port = self.server.server_address[1]
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            dead = closed.getsockname()[1]
            self.server.files["/v9"] = b"\x04\x03\x02\x01 is no RecordIO"
            for number, path in ((port, "none"), (port, "v9"), (port, "{5..3}"), (dead, "v2"), (99999, "v2")):
                url = f"http://us3r:pa55word@127.0.0.1:{number}/{path}?X-Amz-Signature=5ecret&b=c"
                for command in ("cat", "verify", "info"):
                    done = self.tandem(command, url)
                    self.check_refused(done, f":{number}/{path}?...")
                    for secret in (b"us3r", b"pa55word", b"5ecret", b"b=c"):
                        self.assertNotIn(secret, done.stderr + done.stdout, command)
        self.server.files["/list.lst"] = b"no list"
        secret = f"http://us3r:pa55word@127.0.0.1:{port}"
        query = "?X-Amz-Signature=5ecret&b=c"
        damaged = bytearray(self.server.files["/v2"])
        damaged[300] ^= 1
        self.server.files["/damaged"] = bytes(damaged)
        good, out = f"{secret}/v2{query}", os.path.join(self.folder.name, "out")
        for words in (["verify", f"{secret}/damaged{query}"], ["cat", "--begin", "99", good],
                      ["cat", "--begin", "99", "@" + f"{secret}/files{query}"], ["repair", good, out],
                      ["convert", "--begin", "99", good, "-o", out], ["merge", good, f"{secret}/v1{query}", "-o", out],
                      ["import", good, "-o", out], ["import", f"{secret}/list.lst", "-o", out],
                      ["convert", good, "-o", good], ["cat", f"http:///us3r:pa55word@127.0.0.1:1/v2{query}"],
                      ["cat", f"http://us3r:pa55/word@127.0.0.1:1/v2{query}"]):
            self.server.files["/files"] = b"v2"
            done = self.tandem(*words)
            self.check_refused(done, "127.0.0.1:")
            for part in (b"us3r", b"pa55", b"word", b"5ecret", b"b=c"):
                self.assertNotIn(part, done.stderr + done.stdout, words)
        for command in ("info", "verify"):
            said = self.check_ok(self.tandem(command, good))
            self.assertIn(f"http://127.0.0.1:{port}/v2?...: ".encode(), said)
            self.assertNotIn(b"us3r", said)
            self.assertNotIn(b"5ecret", said)
        # What is asked of the server has all of them.
        self.assertIn("Basic dXMzcjpwYTU1d29yZA==", [headers.get("Authorization") for headers in self.server.headers])

    def test_what_libcurl_cannot_do_is_not_left_out(self):
        real = next(line.split()[-1] for line in self.maps_of_curl() if "libcurl.so.4" in line)
        old = {"LD_LIBRARY_PATH": os.path.dirname(OLD_CURL), "REAL_LIBCURL": real}
        self.check_records(self.server.url("/v2"), **old)  # which has another option for that
        requests = len(self.server.requests)
        keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL_S3": self.server.url("")}
        self.check_refused(self.tandem("cat", "s3://bucket/key", **old, **keys), "s3://bucket/key", "CURLOPT_AWS_SIGV4")
        self.assertEqual(len(self.server.requests), requests)  # nothing was asked for without a signature

    @staticmethod
    def maps_of_curl():
        ctypes.CDLL("libcurl.so.4")
        with open("/proc/self/maps") as maps:
            return maps.readlines()

    def test_names_in_the_cache_are_those_of_a_cryptographic_hash(self):
        url = self.server.url("/v2")
        self.check_records(url)
        content = self.server.files["/v2"]
        version = '"' + hashlib.md5(content).hexdigest() + '"'
        name = hashlib.sha256(f"{url}\0{version}\0{len(content)}".encode()).hexdigest()
        self.assertEqual({file.split("-")[0] for file in os.listdir(self.cache)}, {name})
        self.assertEqual(os.stat(self.cache).st_mode & 0o777, 0o700)

    def test_troubles_that_stay_are_errors(self):
        self.server.trouble = ["503"] * 100
        self.check_refused(self.tandem("cat", self.server.url("/v2")), self.server.url("/v2"), "503", "6 attempts")
        self.assertEqual(len(self.server.requests), 6)
        self.server.trouble = []
        self.check_refused(self.tandem("cat", self.server.url("/none")), "/none", "no such file")
        self.server.trouble = ["whole"]
        self.check_refused(self.tandem("cat", self.server.url("/v2")), "does not send parts")
        self.server.trouble = [None, "other"]
        self.check_refused(self.tandem("cat", self.server.url("/v2")), "another file")

    def test_small_files_may_come_whole(self):
        self.server.files["/small"] = b"one\ntwo\n"
        self.server.trouble = ["whole"]
        self.assertEqual(self.check_ok(self.tandem("cat", self.server.url("/small"))), b"one\ntwo\n")
        self.server.files["/empty"] = b""
        self.assertEqual(self.check_ok(self.tandem("cat", self.server.url("/empty"))), b"")

    def test_ranges_of_names_are_several_files(self):
        for i in range(3):
            self.server.files[f"/part-{i}.txt"] = b"%d" % i
        self.assertEqual(self.check_ok(self.tandem("cat", self.server.url("/part-{0..2}.txt"))), b"0\n1\n2\n")

    def test_a_sidecar_index_is_read_beside(self):
        # Only its own file's index: the header's time is of the host that wrote it, and does not count here.
        plain = os.path.join(self.folder.name, "indexed")
        with open(plain, "wb") as file:
            file.write(self.server.files["/v1"])
        self.check_ok(self.tandem("index", plain))
        with open(plain + ".idx", "rb") as file:
            self.server.files["/v1.idx"] = file.read()
        self.check_records(self.server.url("/v1"))
        self.assertIn("/v1.idx", [path for path, _ in self.server.requests])
        self.check_refused(self.tandem("index", self.server.url("/v1")), "not on this host")

    def test_s3_is_signed(self):
        self.server.signed = True
        self.server.files["/bucket/folder/a file+.rio"] = self.server.files["/v2"]
        keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN, "AWS_REGION": REGION,
                "AWS_ENDPOINT_URL_S3": self.server.url("")}
        self.check_records("s3://bucket/folder/a file+.rio", **keys)
        self.check_refused(self.tandem("cat", "s3://bucket/folder/a file+.rio", **{**keys, "AWS_SECRET_ACCESS_KEY": "x"}),
                           "403", "AWS_SECRET_ACCESS_KEY")
        self.check_refused(self.tandem("cat", "s3://bucket/folder/a file+.rio", **{**keys, "AWS_SECRET_ACCESS_KEY": ""}),
                           "without AWS_SECRET_ACCESS_KEY")
        self.check_refused(self.tandem("cat", "s3://bucket", **keys), "s3://BUCKET/KEY")

    def test_s3_without_keys_is_anonymous(self):
        self.server.files["/bucket/public"] = self.server.files["/v2"]
        self.check_records("s3://bucket/public", AWS_ENDPOINT_URL=self.server.url("/"))

    def test_the_cache_is_bounded(self):
        numbers = range(12)
        for i in numbers:
            # The first block of 4 MiB is fetched anew by each run, and the rest, 1 MB, is kept.
            self.server.files[f"/n{i}"] = struct.pack("<I", i) * ((4 << 20) // 4 + 250_000)
            self.check_ok(self.tandem("cat", "--format", "lines", self.server.url(f"/n{i}"), TANDEM_CACHE_BYTES="4000000"))
        total = sum(os.path.getsize(os.path.join(self.cache, name)) for name in os.listdir(self.cache))
        self.assertLessEqual(total, 4_000_000)
        self.assertGreater(total, 1_000_000)


unittest.main()
