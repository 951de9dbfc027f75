"""One run: loads the bundle, builds the arguments, calls the entry point and serialises the result."""

import json
import traceback

from amigo_tool_scaffold.config import Config
from amigo_tool_scaffold.conversation import Conversation
from amigo_tool_scaffold.convert import convert_input
from amigo_tool_scaffold.metadata import Metadata
from amigo_tool_scaffold.result import serialise
from amigo_tool_scaffold.status import SENT, checked_event
from amigo_tool_scaffold.user_variables import UserVariables

from . import bundle, loop

# Prefixes of the files of the image and of the standard library. Their frames are left out of stack traces.
NOT_THE_AUTHORS = ("/0/", "/world/", "/bundled/", "/python/", "<frozen ")

# Maximum characters of an output; above the limit of the host, which is in bytes.
OUTPUT_MAX = 1 << 20

# Maximum characters of a status event, a message and a trace; above the limits of the host, which are in bytes.
EVENT_MAX = 1 << 16
MESSAGE_MAX = 1 << 15
TRACE_MAX = 1 << 17

# Created once: `json.dumps` with options creates an encoder in each call.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

_running = None

# Called at the beginning of each run if the image is a snapshot with packages.
renew = None


def _sender(send):
    from componentize_py_types import Err

    def send_status_event(message, progress=None, total=None, data=None):
        checked_event(message, progress, total, data)
        event = {"message": message, "progress": progress, "total": total, "data": data}
        try:
            send(_encode(event)[:EVENT_MAX])
        except Err:
            pass  # the host counts refused events; they do not fail the run
        return SENT

    return send_status_event


def run_tool(data, context, send):
    """Runs one invocation and returns the output as a string."""
    global _running
    if renew is not None:
        renew()
    _running = bundle.loads(data)
    _running.install()
    module, name = _running.entry
    function = _running.load(module)
    for part in name.split("."):
        function = getattr(function, part)
    conversation = json.loads(context.conversation)
    answer = function(
        _input(function, json.loads(context.tool_input)),
        Metadata(**json.loads(context.metadata)),
        Config(**json.loads(context.config)),
        Conversation(**conversation) if conversation else None,
        _sender(send),
        UserVariables(**json.loads(context.user_variables)),
    )
    if hasattr(answer, "__await__"):
        answer = loop.run(_finish(answer))
    output = serialise(answer)
    # The host refuses the output by its length, for which the beginning is enough.
    return output if len(output) <= OUTPUT_MAX else output[: OUTPUT_MAX + 1]


def _input(function, value):
    """Converts the input, unless the function has no annotations: it receives the dict unchanged."""
    lazy = getattr(function, "__annotate__", None) is not None
    if lazy or hasattr(function, "__wrapped__") or function.__annotations__:
        return convert_input(function, value)
    return value


async def _finish(awaitable):
    return await awaitable


def describe(error):
    """Returns type, message and lines of the stack trace, without the frames of the image."""
    if _running is not None:
        _running.show_sources()
    try:
        message = str(error)
    except BaseException:
        message = "the exception has no readable message"
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__") and "." not in name:
        name = kind.__name__
    try:
        trace = traceback.TracebackException.from_exception(error, compact=True)
        _keep_authors_frames(trace)
        lines = _shortened("".join(trace.format()).splitlines())
    except BaseException:
        lines = [f"{name}: {message}"[:TRACE_MAX]]
    name, message = name[:MESSAGE_MAX], message[:MESSAGE_MAX]
    return _sendable(name), _sendable(message), [_sendable(line) for line in lines]


def _shortened(lines):
    """Shortens a stack trace. The rest is still above the host's limit, so that the host truncates it."""
    kept, left = [], TRACE_MAX
    for line in lines:
        if left <= 0:
            break
        kept.append(line[:left])
        left -= len(line)
    return kept


def _sendable(text):
    """Escapes lone surrogates, which UTF-8 cannot encode and which would stop the interpreter."""
    return text.encode("utf-8", "backslashreplace").decode()


def _keep_authors_frames(trace):
    if trace is None:
        return
    trace.stack[:] = [f for f in trace.stack if not f.filename.startswith(NOT_THE_AUTHORS)]
    _keep_authors_frames(trace.__cause__)
    _keep_authors_frames(trace.__context__)
    for inner in trace.exceptions or ():
        _keep_authors_frames(inner)
