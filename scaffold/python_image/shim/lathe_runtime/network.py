"""Replaces the network modules: `http.client`, and with it `urllib.request`, sends through the host, and sockets raise an
exception.

Without the replacement, a socket would stop the run with a trap.
"""

import http.client
import socket
import urllib.request
from email.message import Message

import amigo_tool_scaffold.http

from . import exchanges, wire
from .exchanges import EgressRefused

SOCKETS = "a tool has no sockets: use urllib.request or http.client, which go through the host"


class RefusedSocket(socket.socket):
    def __new__(cls, *args, **kwargs):
        raise EgressRefused(SOCKETS)


def _refuse(*args, **kwargs):
    raise EgressRefused(SOCKETS)


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
    http.client.HTTPConnection.connect = wire.connect("http")
    http.client.HTTPSConnection.connect = wire.connect("https")
    opener = urllib.request.OpenerDirector()
    # The host names itself.
    opener.addheaders = []
    for handler in (
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
        urllib.request.DataHandler(),
    ):
        opener.add_handler(handler)
    urllib.request.install_opener(opener)
