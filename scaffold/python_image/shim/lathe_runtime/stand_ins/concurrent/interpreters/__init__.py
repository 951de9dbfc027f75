"""Stands in for `concurrent.interpreters`, which imports and makes no interpreter."""

from lathe_runtime.unavailable import refusal, refusing

_REASON = "a tool has one interpreter: the sandbox makes no others"


class InterpreterError(Exception):
    pass


class InterpreterNotFoundError(InterpreterError):
    pass


class ExecutionFailed(InterpreterError):
    pass


class NotShareableError(ValueError):
    pass


class QueueEmpty(Exception):
    pass


class QueueFull(Exception):
    pass


Interpreter = refusing("Interpreter", _REASON)
Queue = refusing("Queue", _REASON)
create = create_queue = get_current = get_main = refusal(_REASON)


def list_all():
    return []


def is_shareable(obj):
    return False
