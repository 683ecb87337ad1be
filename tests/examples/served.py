"""A server of the examples, for their tests."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request


class Server:
    def __init__(self, process, url):
        self.process, self.url = process, url

    def ask(self, rows):
        """The status, and the results or the message."""
        body = rows if isinstance(rows, bytes) else json.dumps(rows).encode()
        return self.fetch(urllib.request.Request(self.url, data=body))

    def fetch(self, request):
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def statistics(self):
        return self.fetch(self.url.replace("/predict", "/statistics"))[1]

    def resident(self):
        """Bytes of memory."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


@contextlib.contextmanager
def serving(program, *flags):
    """Ends the test where the server does not end well on SIGTERM."""
    command = [program, "--address", "127.0.0.1:0", *map(str, flags)]
    print("+", " ".join(map(str, command)), flush=True)
    # Java takes its heap at once, so that what grows is neither its collector's choice nor its objects.
    settings = {"OMP_NUM_THREADS": "1", "TANDEM_JAVA_OPTS": "-Xms64m -Xmx64m -XX:+AlwaysPreTouch"} | os.environ
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings)
    try:
        url = None
        for line in process.stdout:
            print(line, end="", flush=True)
            if url := re.search(r"http://\S+", line):
                break
        if not url:
            sys.exit(f"the server ended with {process.wait(60)}")
        reading = threading.Thread(target=process.stdout.read)
        reading.start()
        yield Server(process, url[0])
        process.send_signal(signal.SIGTERM)
        if code := process.wait(60):
            sys.exit(f"the server ended with {code} after SIGTERM")
        reading.join()
    finally:
        process.kill()
        process.wait()
