"""Calls of other tools in an author's tests."""

import asyncio

import pytest
from amigo_tool_scaffold.testing import run
from amigo_tool_scaffold.tools import ToolCallError, call_tool


async def forecasts(tool_input: dict, metadata, config, conversation, send_status_event, user_variables):
    one, two = await asyncio.gather(call_tool("weather", {"city": "Paris"}), call_tool("count"))
    return {"one": one.json(), "two": two.text}


def test_the_functions_of_a_test_answer():
    def weather(arguments):
        return {"asked": arguments}

    async def count(arguments):
        return f"{len(arguments)} arguments"

    result = run(forecasts, {}, tools={"weather": weather, "count": count})
    assert result.json() == {"one": {"asked": {"city": "Paris"}}, "two": "0 arguments"}


def test_an_exception_of_a_tool_is_the_error_of_the_call():
    def weather(arguments):
        raise LookupError("no such city")

    with pytest.raises(ToolCallError, match="no such city") as raised:
        run(forecasts, {}, tools={"weather": weather, "count": lambda arguments: "0"})
    assert (raised.value.code, raised.value.kind) == ("failed", "LookupError")


def test_a_tool_without_a_function_is_denied():
    with pytest.raises(ToolCallError, match="weather") as raised:
        run(forecasts, {})
    assert raised.value.code == "denied"


def test_arguments_are_json_values():
    async def wrong(tool_input: dict, metadata, config, conversation, send_status_event, user_variables):
        return (await call_tool("weather", {"at": object()})).text

    with pytest.raises(TypeError):
        run(wrong, {}, tools={"weather": lambda arguments: "sunny"})
