"""Outbound HTTP through the host; sockets refused with a Python exception.

`urllib.request` works over the host's `http` interface. A raw socket has
nowhere to go, and must fail as an exception and not as a trap.
"""

import io
import socket
import urllib.error
import urllib.request
import urllib.response
from email.message import Message


class EgressRefused(urllib.error.URLError):
    """The host does not let this tool make this connection."""


SOCKETS = "a tool has no sockets: use urllib.request, which goes through the host"


class RefusedSocket(socket.socket):
    def __new__(cls, *args, **kwargs):
        raise EgressRefused(SOCKETS)


def _refuse(*args, **kwargs):
    raise EgressRefused(SOCKETS)


class _HostHandler(urllib.request.BaseHandler):
    """Opens http and https URLs through the host."""

    def __init__(self, http):
        self.http = http

    def http_open(self, request):
        from componentize_py_types import Err

        headers = [(k, v) for k, v in request.header_items()]
        body = request.data or b""
        if not isinstance(body, bytes):
            body = b"".join(body)
        try:
            answer = self.http.send(
                self.http.Request(request.get_method(), request.full_url, headers, body)
            )
        except Err as error:
            reason = error.value
            if isinstance(reason, self.http.HttpError_Denied):
                raise EgressRefused(reason.value) from None
            raise urllib.error.URLError(reason.value) from None
        fields = Message()
        for name, value in answer.headers:
            fields[name] = value
        return urllib.response.addinfourl(
            io.BytesIO(answer.body), fields, request.full_url, answer.status
        )

    https_open = http_open


def install(http):
    socket.socket = RefusedSocket
    socket.create_connection = socket.getaddrinfo = socket.gethostbyname = _refuse
    opener = urllib.request.OpenerDirector()
    for handler in (
        _HostHandler(http),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
        urllib.request.DataHandler(),
    ):
        opener.add_handler(handler)
    urllib.request.install_opener(opener)
