"""Passes the questions of a tool on to the host."""

from amigo_tool_scaffold import interaction

_host = None


def install(host):
    global _host
    _host = host
    interaction.answered_by(_ask)


def _ask(requests):
    from componentize_py_types import Err

    try:
        return _host.request_input([_host.Request(key, body) for key, body in requests])
    except Err as error:
        code = error.value.code.name.lower()
        refused = interaction.InputUnavailable if code == "unavailable" else interaction.InputRefused
        raise refused(error.value.message, code) from None
