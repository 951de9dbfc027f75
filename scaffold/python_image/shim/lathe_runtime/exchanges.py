"""Requests through the host: start, wait, finish and cancel."""

import urllib.error
from http.client import IncompleteRead, RemoteDisconnected
from ssl import SSLError

# Maximum size of method, URL, headers and body of a request. The host would stop the run for a larger one.
REQUEST_MAX = 2 << 20

_http = None


class EgressRefused(urllib.error.URLError):
    """The host refused the request or its response. `code` is the reason."""

    def __init__(self, reason, code="denied"):
        super().__init__(reason)
        self.code = code


class PeerFailed(urllib.error.URLError, RemoteDisconnected, IncompleteRead):
    """The peer closed the connection before its response was whole, or its response is not HTTP.

    The host does not tell the part that it received, so this is each of the errors that libraries raise then.
    """

    line, partial, expected = "", b"", None


def install(http):
    global _http
    _http = http


def start(method, url, headers, body):
    """Starts a request. Raises `TypeError` for values that are neither text nor bytes, which would stop the run later."""
    method, url = _text("method", method), _text("url", url)
    headers = [(_text("a header's name", name), _text(f"header {name}", value)) for name, value in headers]
    if not isinstance(body, bytes):
        body = bytes(memoryview(body)) if isinstance(body, bytearray | memoryview) else _refused("body", body)
    size = len(method) + len(url) + len(body) + sum(len(name) + len(value) for name, value in headers)
    if size > REQUEST_MAX:
        raise EgressRefused(f"the request has {size} bytes; the limit is {REQUEST_MAX}", "request_too_large")
    return _http.start(_http.Request(method, url, headers, body))


def _text(what, value):
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if not isinstance(value, str):
        _refused(what, value)
    value.encode()  # raises if it is not valid Unicode
    return value


def _refused(what, value):
    raise TypeError(f"{what} must be text or bytes, not {type(value).__name__}")


def cancel(exchange):
    _http.cancel(exchange)


def wait(exchanges, seconds):
    """Waits until at least one request has completed. Returns the completed ones, or an empty list on timeout."""
    endless = seconds is None or seconds == float("inf")
    return _http.wait(exchanges, None if endless else max(0, int(seconds * 1000 + 0.999)))


def finish(exchange):
    """Returns status, headers and body of the response. Raises the error of a failed request."""
    from componentize_py_types import Err

    try:
        answer = _http.finish(exchange)
    except Err as error:
        raise _raised(error.value) from None
    return answer.status, answer.headers, answer.body


def send(method, url, headers, body, seconds=None):
    """Sends a request and waits for its response. Blocks the event loop."""
    exchange = start(method, url, headers, body)
    if not wait([exchange], seconds):
        cancel(exchange)
        raise TimeoutError("timed out")
    return finish(exchange)


async def send_async(method, url, headers, body, seconds=None):
    """Sends a request and awaits its response."""
    from . import loop

    exchange = start(method, url, headers, body)
    try:
        await loop.answered(exchange, seconds)
    except BaseException:
        cancel(exchange)
        raise
    return finish(exchange)


def _raised(error):
    code = error.code.name.lower()
    if code == "timeout":
        return urllib.error.URLError(TimeoutError(error.message))
    if code == "protocol":
        return PeerFailed(error.message)
    if code in ("unreachable", "tls"):
        return urllib.error.URLError((SSLError if code == "tls" else ConnectionError)(error.message))
    return EgressRefused(error.message, code)
