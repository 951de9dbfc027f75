import asyncio
from typing import Any

import pytest
from amigo_tool_scaffold.interaction import (
    Answer,
    Form,
    InputUnavailable,
    Result,
    Root,
    Roots,
    Sampled,
    Sampling,
    Visit,
    answered_by,
    request_input,
    request_inputs,
)
from amigo_tool_scaffold.testing import run


async def greet(
    tool_input: object,
    metadata: object,
    config: object,
    conversation: object,
    send_status_event: object,
    user_variables: object,
) -> str:
    answer = await request_input("name", Form("Your name?", {"name": {"type": "string"}}, required=["name"]))
    return f"Hello, {answer.content['name']}" if answer.accepted else answer.action


async def ask_all(
    tool_input: object,
    metadata: object,
    config: object,
    conversation: object,
    send_status_event: object,
    user_variables: object,
) -> list[str]:
    found = await request_inputs({"poem": Sampling("A poem", 10), "roots": Roots(), "page": Visit("Sign in", "https://a")})
    return [found["poem"].text, found["roots"][0].uri, found["page"].action]


def test_a_test_answers_by_key() -> None:
    assert run(greet, answers={"name": Answer("accept", {"name": "Ada"})}).output == "Hello, Ada"
    assert run(greet, answers={"name": Answer("decline")}).output == "decline"
    sampled = Sampled("assistant", [{"type": "text", "text": "Roses"}], "m")
    answers: dict[str, Result] = {"poem": sampled, "roots": [Root("file:///a")], "page": Answer("cancel")}
    assert run(ask_all, answers=answers).json() == ["Roses", "file:///a", "cancel"]


def test_a_question_without_an_answer_is_unavailable() -> None:
    with pytest.raises(InputUnavailable) as refused:
        run(greet)
    assert refused.value.code == "unavailable"


def test_requests_have_the_shape_of_the_protocol() -> None:
    asked: list[tuple[str, str]] = []

    def ask(requests: list[tuple[str, str]]) -> list[str]:
        asked.extend(requests)
        return ['{"action": "accept", "content": {"name": "Ada"}}' for _ in requests]

    previous = answered_by(ask)
    try:
        answer = asyncio.run(request_input("name", Form("Name?", {"name": {"type": "string"}})))
    finally:
        answered_by(previous)
    assert answer == Answer("accept", {"name": "Ada"})
    assert asked == [
        (
            "name",
            '{"method": "elicitation/create", "params": {"mode": "form", "message": "Name?",'
            ' "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}}',
        )
    ]


@pytest.mark.parametrize("question", [None, "text", Form("a", {"b": object()})])
def test_malformed_questions_are_refused(question: Any) -> None:
    async def tool(
        tool_input: object,
        metadata: object,
        config: object,
        conversation: object,
        send_status_event: object,
        user_variables: object,
    ) -> None:
        await request_input("key", question)

    with pytest.raises(TypeError):
        run(tool)
