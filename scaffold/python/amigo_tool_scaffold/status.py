"""Status events, which a tool sends to its caller while it runs."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Generator
from dataclasses import dataclass
from typing import Protocol

from amigo_tool_scaffold.result import json_argument


@dataclass(frozen=True, slots=True)
class StatusEvent:
    """A status event: a text for people, the progress (`progress` of `total`, in any unit), and any JSON value."""

    message: str
    progress: float | None = None
    total: float | None = None
    data: object = None


class SendStatusEvent(Protocol):
    """The parameter `send_status_event` of `run_tool`.

    The call sends the event. Its result can be awaited and is already complete, so a plain `def run_tool` can send events
    too. Raises `TypeError` or `ValueError` for an event that JSON cannot represent.
    """

    def __call__(
        self, message: str, progress: float | None = None, total: float | None = None, data: object = None
    ) -> Awaitable[None]: ...


class Sent:
    """The result of `send_status_event`: an awaitable that is already complete and need not be awaited."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


SENT = Sent()


def checked_event(message: str, progress: float | None, total: float | None, data: object) -> StatusEvent:
    """Returns the event with these fields. Raises `TypeError` or `ValueError` with the name of an invalid argument."""
    if not isinstance(message, str):
        raise TypeError(f"send_status_event: message must be str, not {type(message).__name__}")
    _check_number("progress", progress)
    _check_number("total", total)
    try:
        message.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"send_status_event: message must be valid Unicode: {error.reason}") from None
    json_argument("send_status_event: ", "data", data)
    return StatusEvent(message, progress, total, data)


def _check_number(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"send_status_event: {name} must be a number, not {type(value).__name__}")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ValueError(f"send_status_event: {name} must be a finite number that fits into 64 bits")
