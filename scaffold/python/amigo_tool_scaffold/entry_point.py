"""Checks the signature of a tool's entry point.

Every tool has the same six parameters in the same order, so that they can be passed by position or by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect import Signature

PARAMETERS = ("tool_input", "metadata", "config", "conversation", "send_status_event", "user_variables")
SIGNATURE = f"async def run_tool({', '.join(PARAMETERS)})"


class EntryPointError(Exception):
    """The entry point cannot be called as a tool.

    `code` is stable, `message` is for the author, and `file` and `line` are those of the function, if known.
    """

    code = "entry-point-signature"

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line


def unwrapped(function: Callable[..., object]) -> Callable[..., object]:
    """Follows `functools.wraps` down to the function that the author wrote."""
    while (inner := getattr(function, "__wrapped__", None)) is not None:
        function = inner
    return function


def check_entry_point(function: object, name: str = "run_tool") -> None:
    """Raises `EntryPointError` unless `function` has the six parameters and is not a generator."""
    from inspect import isasyncgenfunction, isfunction, isgeneratorfunction

    if not callable(function) or not isfunction(author := unwrapped(function)):
        raise EntryPointError(f"{name} must be a function, not {type(function).__name__}: write `{SIGNATURE}`")
    file, line = author.__code__.co_filename, author.__code__.co_firstlineno
    problem = _parameter_problem(author)
    if problem is not None:
        raise EntryPointError(f"{name} {problem}: write `{SIGNATURE}`", file, line)
    if isasyncgenfunction(author) or isgeneratorfunction(author):
        raise EntryPointError(f"{name} must return its result, but it is a generator: do not `yield`", file, line)


def _parameter_problem(function: Callable[..., object]) -> str | None:
    from inspect import Parameter

    parameters = _signature(function).parameters
    names = tuple(parameters)
    missing = [name for name in PARAMETERS if name not in parameters]
    unknown = [name for name in names if name not in PARAMETERS]
    if missing or unknown:
        return _count_problem(len(names), missing, unknown)
    if names != PARAMETERS:
        return f"must have its parameters in the order of the signature, not {', '.join(names)}"
    special = [name for name, found in parameters.items() if found.kind is not Parameter.POSITIONAL_OR_KEYWORD]
    if special:
        return f"must take {', '.join(special)} by position and by name (no `*`, `**` or `/`)"
    return None


def _signature(function: Callable[..., object]) -> Signature:
    """The signature. Annotations are not evaluated, since their names may be imported only under `TYPE_CHECKING`."""
    import inspect

    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, follow_wrapped=False, annotation_format=Format.FORWARDREF)
    return inspect.signature(function, follow_wrapped=False)


def _count_problem(count: int, missing: list[str], unknown: list[str]) -> str:
    parts = [f"must have exactly the {len(PARAMETERS)} parameters of a tool (it has {count})"]
    if missing:
        parts.append(f"missing: {', '.join(missing)}")
    if unknown:
        parts.append(f"unknown: {', '.join(unknown)}")
    return "; ".join(parts)
