"""Passes the log messages of a tool on to the host."""

import json

from amigo_tool_scaffold import log

# Maximum characters of a message; above the limit of the host, which is in bytes.
MESSAGE_MAX = 1 << 16

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_host = None


def install(host):
    global _host
    _host = host
    log.receive(_send)


def _send(message):
    from componentize_py_types import Err

    try:
        _host.send(_host.Level[message.level.upper()], message.logger, _encode(message.data)[:MESSAGE_MAX])
    except Err:
        pass  # a message beyond the limits of the host does not fail the run
