"""The chat completions of OpenAI with the types of its SDK: answers, checks of requests, and an application."""

import json

import openai
from openai.types import CompletionUsage
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionMessage,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionToolMessageParam,
    ChatCompletionUserMessageParam,
    CompletionCreateParams,
)
from openai.types.chat.chat_completion import Choice
from openai.types.chat.chat_completion_message_function_tool_call import Function
from openai.types.responses import FunctionToolParam
from openai.types.shared import ErrorObject

from checks import accepted_name, expect, fits
from endpoint import KEY

API, PATH = "openai", "/v1/chat/completions"
#: Headers of the requests of Lathe. The SDK sends the same.
HEADERS = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
STATUS_ERROR = openai.APIStatusError


def reply(text, calls=(), finish_reason=None):
    """An answer of 7 + 5 tokens. Calls are pairs of a name and arguments."""
    uses = [
        ChatCompletionMessageFunctionToolCall(
            id=f"call_{number}", type="function", function=Function(name=name, arguments=json.dumps(arguments))
        )
        for number, (name, arguments) in enumerate(calls)
    ]
    message = ChatCompletionMessage(role="assistant", content=text, tool_calls=uses or None)
    reason = finish_reason or ("tool_calls" if calls else "stop")
    completion = ChatCompletion(
        id="chatcmpl-1",
        choices=[Choice(index=0, finish_reason=reason, message=message)],
        created=1_795_000_000,
        model="small",
        object="chat.completion",
        usage=CompletionUsage(prompt_tokens=7, completion_tokens=5, total_tokens=12),
    )
    return 200, {}, completion.to_dict(exclude_none=True)


def cut_off(text, calls):
    """An answer that ended at its bound of tokens."""
    return reply(text, calls, "length")


def error(type_):
    return {"error": ErrorObject(message=f"an error of type {type_}", type=type_).to_dict(exclude_unset=False)}


def check(body):
    """Checks that the API takes a request: its type, its names, and a result for each call before the next answer."""
    fits(CompletionCreateParams, body)
    for tool in body.get("tools", []):
        accepted_name(tool["function"]["name"])
    open_calls = []
    for message in body["messages"]:
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
            continue
        expect(open_calls, [], "the calls without a result")
        open_calls = [call["id"] for call in message.get("tool_calls", [])]
        for call in message.get("tool_calls", []):
            accepted_name(call["function"]["name"])
            expect(type(json.loads(call["function"]["arguments"])), dict, "the type of the arguments")
    expect(open_calls, [], "the calls without a result")


def results(body):
    """Returns the results of the last calls in a request."""
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def check_definitions(definitions):
    """Checks tools in the other format of the vendor. Those of this API are checked in requests."""
    for tool in definitions("openai-responses"):
        fits(FunctionToolParam, tool)
        accepted_name(tool["name"])


def client(url, **options):
    """A client that refuses answers that are not of the SDK's types."""
    return openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, _strict_response_validation=True, **options)


def ask(model, objective, further=(), **options):
    """Asks the model, with the messages that follow the objective."""
    messages = [ChatCompletionUserMessageParam(role="user", content=objective), *further]
    return model.chat.completions.create(model="small", messages=messages, **options)


def read(completion):
    """Returns the parts of an answer."""
    (choice,) = completion.choices
    calls = [(use.function.name, json.loads(use.function.arguments)) for use in choice.message.tool_calls or ()]
    return {
        "text": choice.message.content,
        "calls": calls,
        "reason": choice.finish_reason,
        "tokens": completion.usage.total_tokens,
    }


def application(url, tools, objective, call):
    """Asks the model until it answers without a call. `call` runs a tool. Returns the answer and the tokens."""
    messages, tokens = [], 0
    while True:
        completion = ask(client(url), objective, messages, tools=tools)
        (choice,) = completion.choices
        tokens += completion.usage.total_tokens
        if choice.finish_reason != "tool_calls":
            return choice.message.content, tokens
        messages.append(choice.message)
        for use in choice.message.tool_calls:
            text, _ = call(use.function.name, json.loads(use.function.arguments))
            messages.append(ChatCompletionToolMessageParam(role="tool", tool_call_id=use.id, content=text))
