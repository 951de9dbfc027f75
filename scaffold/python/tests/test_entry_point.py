"""The check of the six parameters."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from amigo_tool_scaffold.entry_point import EntryPointError, check_entry_point


async def good(
    tool_input: Any, metadata: Any, config: Any, conversation: Any, send_status_event: Any, user_variables: Any
) -> str:
    return ""


async def five(tool_input: Any, metadata: Any, config: Any, conversation: Any, send_status_event: Any) -> str:
    return ""


async def renamed(
    tool_input: Any, metadata: Any, config: Any, conversation: Any, send_status_event: Any, variables: Any
) -> str:
    return ""


async def disordered(
    metadata: Any, tool_input: Any, config: Any, conversation: Any, send_status_event: Any, user_variables: Any
) -> str:
    return ""


async def keyword_only(
    tool_input: Any, metadata: Any, config: Any, conversation: Any, send_status_event: Any, *, user_variables: Any
) -> str:
    return ""


async def catch_all(*arguments: Any, **named: Any) -> str:
    return ""


async def yields(
    tool_input: Any, metadata: Any, config: Any, conversation: Any, send_status_event: Any, user_variables: Any
) -> AsyncIterator[str]:
    yield ""


class Callable_:
    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (five, "must have exactly the 6 parameters of a tool (it has 5); missing: user_variables: write `async def run_tool("),
        (renamed, "must have exactly the 6 parameters of a tool (it has 6); missing: user_variables; unknown: variables"),
        (disordered, "in the order of the signature, not metadata, tool_input"),
        (keyword_only, "must take user_variables by position and by name"),
        (catch_all, "unknown: arguments, named"),
        (yields, "it is a generator"),
        (Callable_(), "must be a function, not Callable_"),
        ("text", "must be a function, not str"),
    ],
)
def test_refused(function: object, expected: str) -> None:
    with pytest.raises(EntryPointError) as caught:
        check_entry_point(function)
    assert expected in caught.value.message
    assert caught.value.code == "entry-point-signature"


def test_says_where_the_function_stands() -> None:
    with pytest.raises(EntryPointError) as caught:
        check_entry_point(five)
    assert caught.value.file == __file__
    assert caught.value.line == five.__code__.co_firstlineno


def test_accepts_the_six_parameters_and_a_decorator_around_them() -> None:
    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*arguments: Any, **named: Any) -> Any:
            return function(*arguments, **named)

        return wrapper

    check_entry_point(good)
    check_entry_point(decorated(good))
    with pytest.raises(EntryPointError):
        check_entry_point(decorated(five))
