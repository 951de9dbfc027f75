"""HTTP/1.1 messages as client libraries write and read them.

A library that believes to have a connection writes the bytes of a request, which become a request of the host, and reads
the bytes of the response. So everything else in it works as with a connection: framing, decoding, redirects, cookies.
"""

import io
import socket
from http.client import responses
from urllib.parse import urlsplit

from . import exchanges

# Headers of the connection that a library believes to have.
CONNECTION = {"connection", "expect", "transfer-encoding"}

PROXIES = "a tool has no proxies: the host sends its requests directly; remove the proxy"


def kept(headers, url, body):
    """The headers without those of the connection, and without those that the host sets to the same values."""
    same = {"host": urlsplit(url).netloc.rpartition("@")[2].lower(), "content-length": str(len(body))}
    fields = ((name, value, name.lower()) for name, value in headers if name.lower() not in CONNECTION)
    return [(name, value) for name, value, lower in fields if lower not in same or value.strip().lower() != same[lower]]


class Requests:
    """Divides written bytes into requests."""

    def __init__(self):
        self._bytes = bytearray()

    def write(self, data):
        self._bytes += data

    def take(self, is_over=False):
        """The next request as method, target, headers and body; `None` while its end is missing.

        `is_over` tells that nothing more will be written.
        """
        end = self._bytes.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *lines = self._bytes[:end].decode("latin-1").replace("\r\n\t", " ").replace("\r\n ", " ").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        fields = {name.lower(): value for name, value in headers}
        if fields.get("transfer-encoding", "").lower() == "chunked":
            # The host sends the length of the body.
            headers = [(name, value) for name, value in headers if name.lower() != "content-length"]
            body, after = _unchunked(self._bytes, end + 4)
        else:
            after = end + 4 + int(fields.get("content-length") or 0)
            body = bytes(self._bytes[end + 4 : after]) if len(self._bytes) >= after else None
        if body is None:
            if not is_over:
                return None
            body, after = bytes(self._bytes[end + 4 :]), len(self._bytes)
        del self._bytes[:after]
        return method, target, headers, body


def _unchunked(data, place):
    """The body in chunks that begins at a place, and the place after it. `None` while its end is missing."""
    body = bytearray()
    while (end := data.find(b"\r\n", place)) >= 0:
        size = int(bytes(data[place:end]).partition(b";")[0], 16)
        place = end + 2 + size + 2
        if size == 0:
            # Trailers end with an empty line.
            end = data.find(b"\r\n\r\n", end)
            return (None, 0) if end < 0 else (bytes(body), end + 4)
        if len(data) < place:
            break
        body += data[end + 2 : place - 2]
    return None, 0


def url(scheme, host, port, target):
    """The URL of a request on a connection. Raises for a request that asks a proxy to pass it on."""
    if not target.startswith("/") and target != "*":
        raise exchanges.EgressRefused(PROXIES)
    # As `http.client` writes the header `Host`.
    host = host if host.isascii() else host.encode("idna").decode()
    is_address = ":" in host and "@" not in host and not host.startswith("[")
    host = f"[{host}]" if is_address else host
    is_usual = port in (None, {"http": 80, "https": 443}[scheme])
    return f"{scheme}://{host}{'' if is_usual else f':{port}'}{'/' if target == '*' else target}"


def response(status, fields, body):
    """The bytes of a response."""
    lines = [f"HTTP/1.1 {status} {responses.get(status, '')}", *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body


class Socket:
    """The connection of `http.client`."""

    def __init__(self, scheme, host, port, seconds):
        self._origin = scheme, host, port
        self._seconds = seconds
        self._requests = Requests()

    def sendall(self, data):
        self._requests.write(data)

    def makefile(self, *args, **kwargs):
        """Sends the request that was written, and returns a reader of its response."""
        method, target, headers, body = self._requests.take(is_over=True)
        seconds = self._seconds if isinstance(self._seconds, int | float) else socket.getdefaulttimeout()
        whole = url(*self._origin, target)
        answer = exchanges.send(method, whole, kept(headers, whole, body), body, seconds)
        return io.BufferedReader(io.BytesIO(response(*answer)))

    def settimeout(self, seconds):
        self._seconds = seconds

    def gettimeout(self):
        return self._seconds

    def setsockopt(self, *option):
        """Accepts an option without effect."""

    def getsockopt(self, *option):
        return 0

    def fileno(self):
        return -1

    def shutdown(self, how=None):
        pass

    close = shutdown


def connect(scheme):
    """The method `connect` of connections of `http.client`."""

    def connect(self):
        if getattr(self, "_tunnel_host", None):
            raise exchanges.EgressRefused(PROXIES)
        self.sock = Socket(scheme, self.host, self.port, self.timeout)

    return connect
