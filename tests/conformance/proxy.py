"""A loopback proxy that adds credentials to the requests of the conformance suite, which has none."""

import http.client
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

#: Headers that belong to one connection.
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


def start(server, path, token, actions):
    """Starts a proxy for an endpoint of a server and returns its URL. A call of a tool with an action takes it before it is forwarded."""

    class Forward(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self):
            length = int(self.headers.get("content-length", 0))
            body = self.rfile.read(length)
            if action := actions.get(called_tool(body)):
                action()
            upstream = http.client.HTTPConnection(server)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            upstream.request(self.command, path, body, {**headers, "Authorization": f"Bearer {token}"})
            answer = upstream.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            try:
                while chunk := answer.read1(65536):
                    self.wfile.write(chunk)
                    self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                pass
            finally:
                # Ends the request at the server when the client has gone away.
                upstream.close()
                self.close_connection = True

        do_GET = do_POST = do_DELETE = forward

        def log_message(self, *arguments):
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Forward)
    Thread(target=proxy.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{proxy.server_address[1]}/mcp"


def called_tool(body):
    """Returns the name of the tool that a message calls, or None."""
    try:
        message = json.loads(body)
        return message["params"]["name"] if message["method"] == "tools/call" else None
    except (ValueError, KeyError, TypeError):
        return None
