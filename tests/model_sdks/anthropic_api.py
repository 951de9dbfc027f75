"""The messages of Anthropic with the types of its SDK: answers, checks of requests, and an application."""

import anthropic
from anthropic.types import (
    ErrorResponse,
    Message,
    MessageCreateParams,
    TextBlock,
    ToolResultBlockParam,
    ToolUseBlock,
    Usage,
    UserMessageParam,
)

from checks import accepted_name, expect, fits
from endpoint import KEY

API, PATH = "anthropic", "/v1/messages"
#: Headers of the requests of Lathe. The SDK sends a later version of the API, which has no other form for what Lathe sends, and the
#: key as a bearer.
HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01", "content-type": "application/json"}
STATUS_ERROR = anthropic.APIStatusError


def reply(text, calls=(), stop_reason=None):
    """An answer of 7 + 5 tokens, of which two are in a cache. Calls are pairs of a name and arguments."""
    uses = [
        ToolUseBlock(id=f"toolu_{number}", type="tool_use", name=name, input=arguments)
        for number, (name, arguments) in enumerate(calls)
    ]
    message = Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="small",
        content=[TextBlock(type="text", text=text), *uses] if text else uses,
        stop_reason=stop_reason or ("tool_use" if calls else "end_turn"),
        usage=Usage(input_tokens=5, cache_read_input_tokens=2, output_tokens=5),
    )
    return 200, {}, message.to_dict(exclude_none=True)


def cut_off(text, calls):
    """An answer that ended at its bound of tokens."""
    return reply(text, calls, "max_tokens")


def error(type_):
    body = {"type": "error", "error": {"type": type_, "message": f"an error of type {type_}"}, "request_id": "req_1"}
    return ErrorResponse.model_validate(body).to_dict()


def check(body):
    """Checks that the API takes a request: its type, its names, both sides by turns, and results right after their calls."""
    fits(MessageCreateParams, body)
    for tool in body.get("tools", []):
        accepted_name(tool["name"])
    open_calls = []
    for number, message in enumerate(body["messages"]):
        expect(message["role"], ("user", "assistant")[number % 2], "the sides by turns")
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
        found = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        expect(found, open_calls, "the results right after their calls")
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        for block in blocks:
            if block["type"] == "tool_use":
                accepted_name(block["name"])
            if block["type"] == "text":
                expect(block["text"].strip() != "", True, "the text of a block is not empty")
    expect(open_calls, [], "the calls without a result")


def results(body):
    """Returns all results of calls in a request."""
    blocks = [block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def check_definitions(_definitions):
    """The vendor has no other format."""


def client(url, **options):
    """A client that refuses answers that are not of the SDK's types."""
    return anthropic.Anthropic(base_url=url, api_key=KEY, _strict_response_validation=True, **options)


def ask(model, objective, further=(), **options):
    """Asks the model, with the messages that follow the objective."""
    messages = [UserMessageParam(role="user", content=objective), *further]
    return model.messages.create(model="small", max_tokens=1_000, messages=messages, **options)


def read(message):
    """Returns the parts of an answer."""
    usage = message.usage
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [(block.name, block.input) for block in message.content if block.type == "tool_use"],
        "reason": message.stop_reason,
        "tokens": usage.input_tokens + (usage.cache_read_input_tokens or 0) + usage.output_tokens,
    }


def application(url, tools, objective, call):
    """Asks the model until it answers without a call. `call` runs a tool. Returns the answer and the tokens."""
    messages, tokens = [], 0
    while True:
        message = ask(client(url), objective, messages, tools=tools)
        answer = read(message)
        tokens += answer["tokens"]
        if answer["reason"] != "tool_use":
            return answer["text"], tokens
        blocks = [result(call, block) for block in message.content if block.type == "tool_use"]
        messages += [message.to_param(), UserMessageParam(role="user", content=blocks)]


def result(call, block):
    text, is_error = call(block.name, block.input)
    return ToolResultBlockParam(type="tool_result", tool_use_id=block.id, content=text, is_error=is_error)
