"""Calls of other tools in an author's tests."""

import asyncio
from typing import Any

import pytest
from amigo_tool_scaffold.testing import run
from amigo_tool_scaffold.tools import ToolCallError, call_tool


async def forecasts(
    tool_input: object,
    metadata: object,
    config: object,
    conversation: object,
    send_status_event: object,
    user_variables: object,
) -> dict[str, Any]:
    one, two = await asyncio.gather(call_tool("weather", {"city": "Paris"}), call_tool("count"))
    return {"one": one.json(), "two": two.text}


def test_the_functions_of_a_test_answer() -> None:
    def weather(arguments: Any) -> dict[str, Any]:
        return {"asked": arguments}

    async def count(arguments: Any) -> str:
        return f"{len(arguments)} arguments"

    result = run(forecasts, {}, tools={"weather": weather, "count": count})
    assert result.json() == {"one": {"asked": {"city": "Paris"}}, "two": "0 arguments"}


def test_an_exception_of_a_tool_is_the_error_of_the_call() -> None:
    def weather(arguments: Any) -> str:
        raise LookupError("no such city")

    with pytest.raises(ToolCallError, match="no such city") as raised:
        run(forecasts, {}, tools={"weather": weather, "count": lambda arguments: "0"})
    assert (raised.value.code, raised.value.kind) == ("failed", "LookupError")


def test_a_tool_without_a_function_is_denied() -> None:
    with pytest.raises(ToolCallError, match="weather") as raised:
        run(forecasts, {})
    assert raised.value.code == "denied"


def test_arguments_are_json_values() -> None:
    async def wrong(
        tool_input: object,
        metadata: object,
        config: object,
        conversation: object,
        send_status_event: object,
        user_variables: object,
    ) -> str:
        return (await call_tool("weather", {"at": object()})).text

    with pytest.raises(TypeError):
        run(wrong, {}, tools={"weather": lambda arguments: "sunny"})
