"""An endpoint of a model on loopback. Its answers are written with the response types of a vendor's SDK."""

import json
import sys
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic

KEY = "sesame"


class Endpoint:
    """Gives one answer of a script after the other. It refuses requests that are not of the SDK's request type."""

    def __init__(self, vendor):
        self.vendor, self.script, self.requests, self.times, self.problems = vendor, deque(), [], [], []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def begin(self, replies):
        """Starts a script."""
        self.script = deque(replies)
        self.requests.clear()
        self.times.clear()

    def end(self):
        """Checks that each request was valid, and that the script has been read to its end."""
        if self.problems or self.script:
            raise AssertionError(f"{len(self.script)} answers are left; {self.problems}")
        return list(self.requests)

    def answer(self, path, headers, body):
        """Returns the status, further headers and the body of an answer."""
        self.times.append(monotonic())
        self.requests.append((headers, body))
        try:
            assert path == self.vendor.PATH, f"the path {path}"
            self.vendor.check(body)
            return self.script.popleft()
        except Exception as problem:
            self.problems.append(f"{problem!r} in {json.dumps(body)}")
            print(self.problems[-1], file=sys.stderr)
            return 400, {}, self.vendor.error("invalid_request_error")


def handler(endpoint):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, more, answer = endpoint.answer(self.path, headers, body)
            text = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", "content-length": len(text), **more}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    return Handler
