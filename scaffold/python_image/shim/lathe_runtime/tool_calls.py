"""Calls of other tools through the host."""

from amigo_tool_scaffold import tools

from . import exchanges, loop

# Characters of the arguments of a call. The host refuses as many bytes, and would stop the run for a much larger text.
ARGUMENTS_MAX = 256 << 10

_host = None


def install(host):
    global _host
    _host = host
    tools.carry(_call)


async def _call(name, arguments, seconds):
    from componentize_py_types import Err

    if max(len(name), len(arguments)) > ARGUMENTS_MAX:
        raise tools.ToolCallError(f"the name or the arguments have more than {ARGUMENTS_MAX} bytes", "invalid_arguments")
    exchange = _host.start(name, arguments)
    try:
        await loop.answered(exchange, seconds)
    except BaseException:
        exchanges.cancel(exchange)
        raise
    try:
        return _host.finish(exchange)
    except Err as error:
        code = error.value.code.name.lower()
        raise tools.ToolCallError(error.value.message, code, error.value.kind) from None
