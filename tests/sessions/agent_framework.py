"""Agents of pydantic-ai with the tools of the gateway. Their model is a script, so that nothing is sent anywhere else."""

import asyncio
import json
import warnings

from mcp.types import Implementation
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDefinition
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import ExternalToolset

from gateway import expect

CLIENT = "pydantic-ai"
TURNS = [("add", {"left": 2, "right": 3}), ("find", {"order": "8812"}), ("choose", {})]
RECORDS = [("add", None), ("find", "LookupError"), ("choose", "input_required"), ("choose", None)]


class Script:
    """A model that calls one tool in each turn, and keeps what it sees."""

    def __init__(self, turns):
        self.turns, self.tools, self.results = turns, {}, []

    def __call__(self, messages, info):
        self.tools = {tool.name: tool for tool in info.function_tools}
        parts = [part for message in messages for part in message.parts]
        self.results = [part.content for part in parts if isinstance(part, (ToolReturnPart, RetryPromptPart))]
        if len(self.results) < len(self.turns):
            return ModelResponse(parts=[ToolCallPart(*self.turns[len(self.results)])])
        return ModelResponse(parts=[TextPart("done")])


async def answer(message, _type, _params, _context):
    return {"size": "M"} if message == "Which size?" else None


async def by_mcp(gateway):
    """The model calls tools of the MCP endpoint. The next turn sees each result, and each failure."""
    information = Implementation(name=CLIENT, version="1.0")
    tools = MCPToolset(gateway.url, headers=gateway.headers, client_info=information, elicitation_handler=answer)
    script = Script(TURNS)
    done = await Agent(FunctionModel(script), toolsets=[tools]).run("How much is two and three?")
    expect(done.output, "done", "the output of the agent")
    sum_of_both, failure, size = script.results
    expect(sum_of_both, {"sum": 5}, "the structured value in the second turn")
    expect("LookupError: no order 8812" in str(failure), True, f"the failure {failure!r} in the third turn")
    expect(size, "accept M", "the answer in the fourth turn")
    gateway.check_history(f"{CLIENT} 1.0", RECORDS)
    return script.tools


async def by_definitions(gateway):
    """The definitions of OpenAI become tools of the application, which runs the calls in a turn of a conversation."""
    functions = [definition["function"] for definition in gateway.definitions("openai")]
    tools = [
        ToolDefinition(
            name=function["name"],
            parameters_json_schema=function["parameters"],
            description=function["description"],
            strict=function.get("strict"),
        )
        for function in functions
    ]
    script = Script(TURNS[:1])
    agent = Agent(FunctionModel(script), toolsets=[ExternalToolset(tools)], output_type=[str, DeferredToolRequests])
    asked = await agent.run("How much is two and three?")
    (call,) = asked.output.calls
    output = await asyncio.to_thread(in_a_turn, gateway, call.tool_name, call.args_as_dict())
    results = DeferredToolResults(calls={call.tool_call_id: json.loads(output)})
    done = await agent.run(message_history=asked.all_messages(), deferred_tool_results=results)
    expect((done.output, script.results), ("done", [{"sum": 5}]), "the end of the agent's run")
    return script.tools


def in_a_turn(gateway, tool, arguments):
    """Runs a tool that a turn presents, and returns its output."""
    conversation = gateway.server.rest("POST", f"/agent/{gateway.agent_id}/conversation", {})
    place = f"/conversation/{conversation['id']}"
    turn = gateway.server.rest("POST", f"{place}/turn", {})
    body = {"tool": tool, "inputs": [{"input_parameters": arguments}]}
    (result,) = gateway.server.rest("POST", f"{place}/turn/{turn['id']}/invoke", body)["invocation_results"]
    return result["output"]


def run(gateway):
    # Without a session, the answer is in the next attempt of the call, and not in a response to a request of the server.
    warnings.filterwarnings("ignore", "`elicitation_handler` will never be called")
    seen, defined = asyncio.run(by_mcp(gateway)), asyncio.run(by_definitions(gateway))
    expect(sorted(defined), sorted(seen), "the tools by both ways")
    expect(defined["add"].parameters_json_schema, seen["add"].parameters_json_schema, "the schema by both ways")
    print("an agent of pydantic-ai: ok", flush=True)
