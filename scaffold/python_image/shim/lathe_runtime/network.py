"""Replaces the network modules: `urllib.request` sends through the host, and sockets raise an exception.

Without the replacement, a socket would stop the run with a trap.
"""

import http.client
import io
import socket
import urllib.request
import urllib.response
from email.message import Message

import amigo_tool_scaffold.http

from . import exchanges
from .exchanges import EgressRefused

SOCKETS = "a tool has no sockets: use urllib.request, which goes through the host"


class RefusedSocket(socket.socket):
    def __new__(cls, *args, **kwargs):
        raise EgressRefused(SOCKETS)


def _refuse(*args, **kwargs):
    raise EgressRefused(SOCKETS)


class HTTPHandler(urllib.request.BaseHandler):
    """Handler of http and https URLs that sends through the host."""

    def http_open(self, request):
        url, seconds = request.full_url, request.timeout
        seconds = seconds if isinstance(seconds, int | float) else None
        headers = request.header_items()
        status, fields, body = exchanges.send(request.get_method(), url, headers, _body(request.data), seconds)
        answer = urllib.response.addinfourl(io.BytesIO(body), _message(fields), url, status)
        answer.msg = http.client.responses.get(status, "")
        return answer

    def http_request(self, request):
        """Sets the default content type of a POST, as urllib does."""
        if request.data is not None and not request.has_header("Content-type"):
            request.add_unredirected_header("Content-type", "application/x-www-form-urlencoded")
        return request

    https_open, https_request = http_open, http_request


class HTTPSHandler(HTTPHandler):
    """The handler of `urlopen(url, context=…)`. The host verifies certificates."""

    def __init__(self, debuglevel=None, context=None, check_hostname=None):
        pass


def _body(data):
    if data is None:
        return b""
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    return data.read() if hasattr(data, "read") else b"".join(data)


def _message(fields):
    message = Message()
    for name, value in fields:
        message[name] = value
    return message


async def _fetch(method, url, headers, body, seconds):
    status, fields, answer = await exchanges.send_async(method, url, headers, body, seconds)
    return status, _message(fields), answer


def install(host):
    exchanges.install(host)
    amigo_tool_scaffold.http.carry(_fetch)
    socket.socket = RefusedSocket
    socket.create_connection = socket.getaddrinfo = socket.gethostbyname = _refuse
    # For openers that the author builds.
    urllib.request.HTTPHandler, urllib.request.HTTPSHandler = HTTPHandler, HTTPSHandler
    opener = urllib.request.OpenerDirector()
    for handler in (
        HTTPHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
        urllib.request.DataHandler(),
    ):
        opener.add_handler(handler)
    urllib.request.install_opener(opener)
