"""A server that fails on purpose, as the steps of a case say, and keeps what it receives."""

import json
import socket
import struct
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cases import Answer

SUCCESS = {"success": True, "data": {"memory_id": "m", "content": "c"}}


class FailingServer(ThreadingHTTPServer):
    """The first segment of a path is the number of the case."""

    def __init__(self, cases):
        super().__init__(("127.0.0.1", 0), Handler)
        self.cases, self.received = cases, defaultdict(list)
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def shutdown_request(self, request):
        # No orderly end: the handler says how the connection ends.
        self.close_request(request)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        number = int(self.path.split("/")[1])
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        attempts = self.server.received[number]
        attempts.append((dict(self.headers), body))
        steps = self.server.cases[number].steps
        step = steps[min(len(attempts), len(steps)) - 1]
        if isinstance(step, str):
            self.close_connection = True
            getattr(self, step)()
        else:
            self.answer(Answer(step) if isinstance(step, int) else step)

    do_PUT = do_DELETE = do_POST = do_PATCH = do_GET

    def close(self):
        self.connection.shutdown(socket.SHUT_RDWR)

    def reset(self):
        # A close without lingering sends a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def head(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-le")
        self.close()

    def cut(self):
        self.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"success": ')
        self.close()

    def garbage(self):
        self.wfile.write(b"this is not HTTP\r\n\r\n")
        self.close()

    def answer(self, answer):
        failure = {"code": f"code_{answer.status}", "status": answer.status, "message": f"message {answer.status}"}
        body = answer.body or (SUCCESS if answer.status == 200 else {"success": False, "error": failure})
        text = json.dumps(body).encode()
        self.send_response(answer.status)
        for name, value in {**answer.headers, "content-type": "application/json", "content-length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def closed_port():
    """Returns a port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
