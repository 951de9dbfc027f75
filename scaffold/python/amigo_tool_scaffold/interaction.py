"""Questions of a running tool to the person or the client behind its call.

    answer = await request_input("name", Form("What is your name?", {"name": {"type": "string"}}, required=["name"]))
    if answer.accepted:
        return f"Hello, {answer.content['name']}"

A run does not wait for an answer. A question without an answer ends the run; when the client has answered, the tool runs
again from its start, and the question returns the answer at once. So a tool asks before it does what must not be done twice,
and asks the same questions in each run: a question whose text differs is asked anew.

Under plain CPython, in an author's tests, `run` of `amigo_tool_scaffold.testing` takes the answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from amigo_tool_scaffold.result import json_argument


@dataclass(frozen=True, slots=True)
class Form:
    """A form for the person. `properties` are JSON Schemas of texts, numbers, booleans and choices, by field name."""

    message: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Visit:
    """A page that the person visits, such as one where they sign in. The tool does not learn what they enter there."""

    message: str
    url: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """A request to the model of the client. `more` has other parameters, such as `systemPrompt`."""

    messages: Sequence[Mapping[str, Any]] | str
    max_tokens: int
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Roots:
    """A request for the directories that the client works in."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person did, and the fields of the form if they accepted it."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


@dataclass(frozen=True, slots=True)
class Sampled:
    """What the model of the client wrote. `content` is one block of MCP, or several."""

    role: str
    content: Any
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """The texts of the content."""
        blocks = self.content if isinstance(self.content, list) else [self.content]
        return "".join(block.get("text", "") for block in blocks if isinstance(block, dict))


@dataclass(frozen=True, slots=True)
class Root:
    """A directory or file of the client."""

    uri: str
    name: str | None = None


Question = Form | Visit | Sampling | Roots
Result = Answer | Sampled | list[Root]
Asker = Callable[[list[tuple[str, str]]], list[str]]


class InputRefused(Exception):
    """The host refused the questions. `code` is `invalid`, `too_many` or `too_large`."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class InputUnavailable(InputRefused):
    """Nobody can answer: the call has no client, or its client did not declare the ability."""

    def __init__(self, message: str, code: str = "unavailable") -> None:
        super().__init__(message, code)


async def request_input(key: str, question: Question) -> Any:
    """Asks one question. Returns an `Answer` of a person, `Sampled` of a model, or a list of `Root`.

    `key` names the question within the call: 1 to 64 of `A-Z a-z 0-9 _ . -`.
    """
    return (await request_inputs({key: question}))[key]


async def request_inputs(questions: Mapping[str, Question]) -> dict[str, Any]:
    """Asks several questions at once, and returns their results by key."""
    requests = [(_key(key), _body(question)) for key, question in questions.items()]
    results = _asker(requests) if requests else []
    pairs = zip(questions.items(), results, strict=True)
    return {key: _result(question, json.loads(result)) for (key, question), result in pairs}


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"key must be str, not {type(key).__name__}")
    return key


def _body(question: Question) -> str:
    method, params = _request(question)
    return json_argument("", "question", {"method": method, "params": params})


def _request(question: Question) -> tuple[str, dict[str, Any]]:
    match question:
        case Form(message, properties, required):
            schema = {"type": "object", "properties": dict(properties), "required": list(required)}
            if not required:
                del schema["required"]
            return "elicitation/create", {"mode": "form", "message": message, "requestedSchema": schema}
        case Visit(message, url):
            return "elicitation/create", {"mode": "url", "message": message, "url": url}
        case Sampling(messages, max_tokens, more):
            if isinstance(messages, str):
                messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
            return "sampling/createMessage", {**more, "messages": list(messages), "maxTokens": max_tokens}
        case Roots():
            return "roots/list", {}
    raise TypeError(f"a question must be Form, Visit, Sampling or Roots, not {type(question).__name__}")


def _result(question: Question, found: Any) -> Result:
    match question:
        case Sampling():
            return Sampled(found["role"], found["content"], found["model"], found.get("stopReason"))
        case Roots():
            return [Root(root["uri"], root.get("name")) for root in found["roots"]]
    return Answer(found["action"], found.get("content") or {})


def _nobody(_: list[tuple[str, str]]) -> list[str]:
    raise InputUnavailable("nobody can answer questions of this run")


_asker: Asker = _nobody


def answered_by(asker: Asker) -> Asker:
    """Replaces the function that asks, such as by the service's own, and returns the previous one."""
    global _asker
    previous, _asker = _asker, asker
    return previous
