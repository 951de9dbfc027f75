"""Calls of other tools of the organisation.

    forecast = await call_tool("weather", {"city": "Paris"})
    one, two = await asyncio.gather(call_tool("first", {}), call_tool("second", {}))

A project declares the tools that it calls, with the versions that it accepts: `calls = { weather = ">=1.2,<2" }`. Each call is
a run of its own with a record. It has the rights, the invocation mode and the user variables of the run that makes it.

Under plain CPython, in an author's tests, the functions answer that `run` of `amigo_tool_scaffold.testing` gets as `tools`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amigo_tool_scaffold.result import json_argument

Carrier = Callable[[str, str, "float | None"], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The output of a tool: a text, or any other value as JSON."""

    text: str

    def json(self) -> Any:
        """The output decoded as JSON. Raises `ValueError` when it is not JSON."""
        return json.loads(self.text)


class ToolCallError(Exception):
    """A call without an output. `code` is `denied`, `invalid_arguments`, `budget` or `failed`; `kind` is the type of the
    exception that a failed tool raised."""

    def __init__(self, message: str, code: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.kind = kind


async def call_tool(
    name: str, arguments: Mapping[str, Any] | None = None, *, timeout: float | None = None
) -> ToolOutput:
    """Runs a tool with these arguments and returns its output. `timeout` is in seconds; after it, the run is cancelled and
    `TimeoutError` is raised."""
    if not isinstance(name, str):
        raise TypeError(f"name must be str, not {type(name).__name__}")
    text = json_argument("call_tool: ", "arguments", dict(arguments or {}))
    return ToolOutput(await _carrier(name, text, timeout))


async def _refuse(name: str, arguments: str, timeout: float | None) -> str:
    raise ToolCallError(f"no test answers calls of {name}: give `run` its `tools`", "denied")


_carrier: Carrier = _refuse


def carry(carrier: Carrier) -> Carrier:
    """Replaces the function that runs tools, such as by the service's own, and returns the previous one."""
    global _carrier
    previous, _carrier = _carrier, carrier
    return previous
