"""Runs a tool under plain CPython, for its author's tests.

    result = run(run_tool, {"name": "Ada"}, envvars={"GREETING": "Hello"})
    assert result.output == "Hello, Ada"

The signature check, input conversion, status events and serialisation are those of the service. There are no limits, no
sandbox and no check of declared variables. Exceptions of `run_tool` reach the test.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from amigo_tool_scaffold import content, interaction, log
from amigo_tool_scaffold.config import Config
from amigo_tool_scaffold.conversation import Conversation
from amigo_tool_scaffold.convert import convert_input
from amigo_tool_scaffold.entry_point import check_entry_point
from amigo_tool_scaffold.metadata import InvocationMode, Metadata
from amigo_tool_scaffold.result import serialise
from amigo_tool_scaffold.status import SENT, Sent, StatusEvent, checked_event
from amigo_tool_scaffold.tools import ToolCallError, carry
from amigo_tool_scaffold.user_variables import UserVariables

TEST_ID = "0" * 24
"""The value of every id in a test run."""

DEADLINE_MS = 30_000
"""Time until the deadline of a test run, which is not enforced."""


@dataclass(frozen=True, slots=True)
class Result:
    """The output text of a run, and its status events, content blocks and log messages in their order."""

    output: str
    status_events: list[StatusEvent] = field(default_factory=list)
    content: list[content.Block] = field(default_factory=list)
    logs: list[log.LogMessage] = field(default_factory=list)

    def json(self) -> Any:
        """The output decoded as JSON. Raises `ValueError` when it is not JSON."""
        return json.loads(self.output)


def run(
    run_tool: Callable[..., object],
    tool_input: Mapping[str, object] | None = None,
    *,
    envvars: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    mode: InvocationMode = "regular",
    user_variables: UserVariables | None = None,
    conversation: Conversation | None = None,
    tools: Mapping[str, Callable[[Any], Any]] | None = None,
    answers: Mapping[str, interaction.Result] | None = None,
) -> Result:
    """Calls an `async` or plain `run_tool` once, outside any running event loop. `answers` are results of its questions by key;
    a question without one raises `InputUnavailable`.

    Raises `EntryPointError`, `InputMismatch`, `NoResult` or `UnserialisableResult` where the run would fail with that
    exception in the service. The functions in `tools`, async or plain, answer the calls of the tools of these names.
    """
    check_entry_point(run_tool)
    result = Result("")
    with _received(result), _answered(answers or {}), _called(tools or {}):
        returned = run_tool(
            tool_input=convert_input(run_tool, _as_json(tool_input or {})),
            metadata=_metadata(mode),
            config=Config(envvars or {}, secrets or {}),
            conversation=conversation,
            send_status_event=_recorder(result.status_events),
            user_variables=user_variables or UserVariables(),
        )
        value = asyncio.run(_wait_for(returned)) if isinstance(returned, Awaitable) else returned
    return replace(result, output=serialise(value))


@contextmanager
def _received(result: Result) -> Iterator[None]:
    """Adds the content blocks and the log messages of a run to its result."""
    receivers = content.receive(result.content.append), log.receive(result.logs.append)
    try:
        yield
    finally:
        content.receive(receivers[0])
        log.receive(receivers[1])


@contextmanager
def _called(tools: Mapping[str, Callable[[Any], Any]]) -> Iterator[None]:
    """Answers the calls of other tools with the functions of the test."""

    async def call(name: str, arguments: str, timeout: float | None) -> str:
        if name not in tools:
            raise ToolCallError(f"no test answers calls of {name}: give `run` its `tools`", "denied")
        try:
            returned = tools[name](json.loads(arguments))
            value = await returned if isinstance(returned, Awaitable) else returned
        except Exception as error:
            raise ToolCallError(str(error), "failed", type(error).__name__) from error
        return serialise(value)

    previous = carry(call)
    try:
        yield
    finally:
        carry(previous)


@contextmanager
def _answered(answers: Mapping[str, interaction.Result]) -> Iterator[None]:
    """Answers the questions of a run."""

    def ask(requests: list[tuple[str, str]]) -> list[str]:
        missing = [key for key, _ in requests if key not in answers]
        if missing:
            raise interaction.InputUnavailable(f"the test has no answer to {', '.join(missing)}")
        return [json.dumps(_wire(answers[key])) for key, _ in requests]

    asker = interaction.answered_by(ask)
    try:
        yield
    finally:
        interaction.answered_by(asker)


def _wire(result: interaction.Result) -> dict[str, Any]:
    match result:
        case interaction.Answer(action, fields):
            return {"action": action, "content": fields}
        case interaction.Sampled(role, said, model, stop_reason):
            return {"role": role, "content": said, "model": model, "stopReason": stop_reason}
    return {"roots": [{"uri": root.uri, "name": root.name} for root in result]}


def _recorder(sent: list[StatusEvent]) -> Callable[..., Sent]:
    def send_status_event(
        message: str, progress: float | None = None, total: float | None = None, data: object = None
    ) -> Sent:
        sent.append(checked_event(message, progress, total, data))
        return SENT

    return send_status_event


def _metadata(mode: InvocationMode) -> Metadata:
    return Metadata(
        invocation_mode=mode,
        invocation_id=TEST_ID,
        tool_id=TEST_ID,
        tool_name="tool_under_test",
        version="0.0.0",
        organization="test",
        deadline_ms=int(time.time() * 1000) + DEADLINE_MS,
    )


def _as_json(tool_input: Mapping[str, object]) -> Any:
    """Encodes and decodes the input, so that tests can only pass JSON values."""
    return json.loads(json.dumps(dict(tool_input), allow_nan=False))


async def _wait_for(returned: Awaitable[object]) -> object:
    return await returned
