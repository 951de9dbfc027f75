"""Log messages with a level.

    log.warning("the rate is missing; 1.0 is used", logger="billing")
    log.debug({"rows": 12})

A message becomes a line of the printed text of the run, such as `[warning] billing: …`, and a listener of the run receives
it. `data` is any JSON value of at most 8 KiB. A message beyond the limits is dropped and does not fail the run.

Under plain CPython, in an author's tests, `run` of `amigo_tool_scaffold.testing` returns the messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from amigo_tool_scaffold.result import json_argument

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The levels of syslog, lowest first."""

LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class LogMessage:
    """A log message, and the name of its logger."""

    level: Level
    data: object
    logger: str | None = None


Receiver = Callable[[LogMessage], None]

# Created once: `json.dumps` with options creates an encoder in each call.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def send(level: Level, data: object, *, logger: str | None = None) -> None:
    """Sends a message. Raises `TypeError` or `ValueError` for one that JSON cannot represent."""
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")
    if logger is not None and not isinstance(logger, str):
        raise TypeError(f"logger must be str, not {type(logger).__name__}")
    json_argument("", "logger", logger)
    json_argument("", "data", data)
    _receiver(LogMessage(level, data, logger))


def debug(data: object, *, logger: str | None = None) -> None:
    """Sends a message for developers."""
    send("debug", data, logger=logger)


def info(data: object, *, logger: str | None = None) -> None:
    """Sends a message about the normal course of the run."""
    send("info", data, logger=logger)


def warning(data: object, *, logger: str | None = None) -> None:
    """Sends a message about something unexpected that did not stop the run."""
    send("warning", data, logger=logger)


def error(data: object, *, logger: str | None = None) -> None:
    """Sends a message about a failure."""
    send("error", data, logger=logger)


def _print(message: LogMessage) -> None:
    """Prints a message of a tool that no test runner called."""
    logger = f"{message.logger}: " if message.logger is not None else ""
    data = message.data if isinstance(message.data, str) else _encode(message.data)
    print(f"[{message.level}] {logger}{data}")


_receiver: Receiver = _print


def receive(receiver: Receiver) -> Receiver:
    """Replaces the function that receives messages, such as by the service's own, and returns the previous one."""
    global _receiver
    previous, _receiver = _receiver, receiver
    return previous
