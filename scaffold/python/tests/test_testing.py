"""The types that a tool receives, through the author's own test runner."""

from __future__ import annotations

import pytest
from tools import Order, tool_for

from amigo_tool_scaffold.config import Config, UndeclaredVariable
from amigo_tool_scaffold.conversation import Conversation
from amigo_tool_scaffold.convert import InputMismatch
from amigo_tool_scaffold.entry_point import EntryPointError
from amigo_tool_scaffold.metadata import Metadata
from amigo_tool_scaffold.result import NoResult
from amigo_tool_scaffold.status import SendStatusEvent, StatusEvent
from amigo_tool_scaffold.testing import run
from amigo_tool_scaffold.user_variables import UserVariables


async def everything(
    tool_input: dict[str, int],
    metadata: Metadata,
    config: Config,
    conversation: Conversation | None,
    send_status_event: SendStatusEvent,
    user_variables: UserVariables,
) -> dict[str, object]:
    send_status_event("started")
    await send_status_event("half way", 1, total=2, data={"seen": [1]})
    return {
        "sum": sum(tool_input.values()),
        "simulated": metadata.is_simulation,
        "variables": [config.envvars["URL"], config.secrets["KEY"]],
        "conversation": conversation.conversation_id if conversation else None,
        "user": [user_variables.nonsensitive["id"], user_variables.sensitive["token"]],
    }


def plain(
    tool_input: dict[str, int],
    metadata: Metadata,
    config: Config,
    conversation: Conversation | None,
    send_status_event: SendStatusEvent,
    user_variables: UserVariables,
) -> str:
    send_status_event("not awaited")
    return config.envvars["URL"]


def nothing(
    tool_input: object,
    metadata: object,
    config: object,
    conversation: object,
    send_status_event: object,
    user_variables: object,
) -> None:
    return None


def test_everything_arrives() -> None:
    result = run(
        everything,
        {"a": 1, "b": 2},
        envvars={"URL": "https://example.org"},
        secrets={"KEY": "s3cret"},
        mode="conversation-simulation",
        user_variables=UserVariables(nonsensitive={"id": "7"}, sensitive={"token": "t"}),
        conversation=Conversation("c1", "i1", "u1"),
    )
    assert result.json() == {
        "sum": 3,
        "simulated": True,
        "variables": ["https://example.org", "s3cret"],
        "conversation": "c1",
        "user": ["7", "t"],
    }
    assert result.status_events == [StatusEvent("started"), StatusEvent("half way", 1, 2, {"seen": [1]})]


def test_plain_function_answers_a_string_as_it_is() -> None:
    result = run(plain, envvars={"URL": "x"})
    assert (result.output, result.status_events) == ("x", [StatusEvent("not awaited")])


def test_undeclared_variable_names_the_key_to_change() -> None:
    with pytest.raises(UndeclaredVariable) as caught:
        run(plain)
    assert isinstance(caught.value, KeyError)
    assert str(caught.value) == "'URL' is not visible to this tool: list it under required_envvars in [tool.lathe] of pyproject.toml"
    with pytest.raises(UndeclaredVariable, match="required_secret_envvars"):
        Config({}, {}).secrets["KEY"]
    assert Config({}, {}).envvars.get("URL") is None


def test_values_stay_out_of_repr() -> None:
    config = Config({"URL": "https://example.org"}, {"KEY": "s3cret"})
    assert repr(config) == "Config(envvars=Variables(URL), secrets=Variables(KEY))"
    assert "hidden" not in repr(UserVariables(sensitive={"token": "hidden"}))


@pytest.mark.parametrize(
    ("arguments", "error", "expected"),
    [
        ({"message": 1}, TypeError, "message must be str, not int"),
        ({"message": "a", "progress": "1"}, TypeError, "progress must be a number"),
        ({"message": "a", "progress": True}, TypeError, "progress must be a number"),
        ({"message": "a", "total": float("inf")}, ValueError, "total must be a finite number"),
        ({"message": "a", "total": 10**400}, ValueError, "total must be a finite number"),
        ({"message": "a", "data": {1, 2}}, TypeError, "data must be a JSON value"),
        ({"message": "a", "data": float("nan")}, TypeError, "data must be a JSON value"),
        ({"message": "\ud800"}, ValueError, "valid Unicode"),
    ],
)
def test_bad_status_event(arguments: dict[str, object], error: type[Exception], expected: str) -> None:
    def reports(
        tool_input: object,
        metadata: object,
        config: object,
        conversation: object,
        send_status_event: SendStatusEvent,
        user_variables: object,
    ) -> str:
        send_status_event(**arguments)  # type: ignore[arg-type]
        return "sent"

    reports.__annotations__.clear()
    with pytest.raises(error, match=expected):
        run(reports)


def test_the_failures_of_the_service_are_the_failures_of_the_test() -> None:
    with pytest.raises(EntryPointError):
        run(lambda tool_input: tool_input)
    with pytest.raises(InputMismatch):
        run(tool_for(Order), {"number": "A1"})
    with pytest.raises(TypeError):
        run(tool_for(dict), {"not json": {1, 2}})
    with pytest.raises(NoResult):
        run(nothing)
