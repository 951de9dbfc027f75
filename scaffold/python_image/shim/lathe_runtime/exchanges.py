"""Requests on their way through the host: started, waited for, taken."""

import time
import urllib.error

# Bytes, beyond those that the host sends.
BODY_MAX = 2 << 20

_http = None


class EgressRefused(urllib.error.URLError):
    """The host does not make this request, or does not pass on its answer. `code` says why."""

    def __init__(self, reason, code="denied"):
        super().__init__(reason)
        self.code = code


def install(http):
    global _http
    _http = http


def start(method, url, headers, body):
    # The host refuses what is too large; it need not see all of it for that.
    return _http.start(_http.Request(method, url, headers, body[: BODY_MAX + 1]))


def cancel(exchange):
    _http.cancel(exchange)


def wait(exchanges, seconds):
    """Waits for one of them, and returns those that have answers."""
    return _http.wait(exchanges, None if seconds is None else max(0, int(seconds * 1000 + 0.999)))


def finish(exchange):
    """Takes an answer: status, headers and body. Raises what became of the request otherwise."""
    from componentize_py_types import Err

    try:
        answer = _http.finish(exchange)
    except Err as error:
        raise _raised(error.value) from None
    return answer.status, answer.headers, answer.body


def send(method, url, headers, body, seconds=None):
    """A whole exchange, while nothing else goes on."""
    exchange = start(method, url, headers, body)
    if seconds is not None and not wait([exchange], seconds):
        cancel(exchange)
        raise TimeoutError("timed out")
    return finish(exchange)


async def send_async(method, url, headers, body, seconds=None):
    """A whole exchange; others go on meanwhile."""
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
    if code in ("unreachable", "tls", "protocol"):
        return urllib.error.URLError(error.message)
    return EgressRefused(error.message, code)
