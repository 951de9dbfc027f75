"""A session of the official Python SDK, in each era of the protocol."""

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, Implementation, ToolListChangedNotification

from gateway import expect

#: The mode of the SDK by the version of the protocol.
MODES = {"2025-11-25": "legacy", "2026-07-28": "auto"}
#: Seconds for which a session waits for a notification.
PATIENCE = 60
#: What the session leaves in the history. A question ends the attempt that asks it.
RECORDS = [
    ("add", None), ("add", "input_schema"), ("count", None), ("find", "LookupError"),
    ("choose", "input_required"), ("choose", None), ("edition", None), ("edition", None),
]


class Session:
    """One session, from the first message to the end."""

    def __init__(self, gateway, version):
        self.gateway, self.version = gateway, version
        self.name = f"python-sdk-{version}"
        self.sessions, self.ends, self.questions, self.changed = set(), [], [], anyio.Event()

    async def run(self):
        http = httpx2.AsyncClient(headers=self.gateway.headers, timeout=PATIENCE, event_hooks={"response": [self.on_response]})
        async with http:
            client = Client(
                streamable_http_client(self.gateway.url, http_client=http),
                mode=MODES[self.version],
                client_info=Implementation(name=self.name, version="1.0"),
                elicitation_callback=self.on_question,
                message_handler=self.on_message,
            )
            async with client:
                expect(client.protocol_version, self.version, "the version of the protocol")
                await self.lists(client)
                await self.calls(client)
                await self.asks(client)
                await self.changes(client)
            await self.has_ended(http)
        self.gateway.check_history(f"{self.name} 1.0", RECORDS)

    async def on_response(self, response):
        self.sessions.update(response.headers.get_list("mcp-session-id"))
        if response.request.method == "DELETE":
            self.ends.append(response.status_code)

    async def on_question(self, _context, params):
        self.questions.append(params.message)
        return ElicitResult(action="accept", content={"size": "M"})

    async def on_message(self, message):
        if isinstance(message, ToolListChangedNotification):
            self.changed.set()

    async def lists(self, client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        expect(set(tools) >= {"add", "count", "find", "choose", "edition"}, True, f"the tools {sorted(tools)}")
        expect(tools["add"].output_schema["required"], ["sum"], "the output schema")
        expect(tools["add"].description, "The tool add.", "the description")

    async def calls(self, client):
        added = await client.call_tool("add", {"left": 2, "right": 3})
        expect(added.structured_content, {"sum": 5}, "the structured result")
        refused = await client.call_tool("add", {"left": "two", "right": 3})
        expect((refused.is_error, "/left" in refused.content[0].text), (True, True), f"the refusal {refused}")
        steps = []

        async def on_progress(progress, total, message):
            steps.append((progress, total, message))

        counted = await client.call_tool("count", {}, progress_callback=on_progress)
        expect(counted.content[0].text, "counted", "the result")
        expect(steps, [(step, 3, f"step {step}") for step in (1, 2, 3)], "the progress")
        failed = await client.call_tool("find", {"order": "8812"})
        expect((failed.is_error, failed.content[0].text), (True, "LookupError: no order 8812"), "the failure")
        try:
            await client.call_tool("nothing", {})
        except MCPError as error:
            expect(error.error.code, -32602, "the error of an unknown tool")
        else:
            raise AssertionError("an unknown tool was called")

    async def asks(self, client):
        chosen = await client.call_tool("choose", {})
        expect(chosen.content[0].text, "accept M", "the answer")
        expect(self.questions, ["Which size?"], "the questions")

    async def changes(self, client):
        """Learns of a publication. Without a session, the client subscribes to changes first."""
        before = await self.edition(client)
        with anyio.fail_after(PATIENCE):
            if MODES[self.version] == "legacy":
                output = await anyio.to_thread.run_sync(self.gateway.publish)
                await self.changed.wait()
            else:
                async with client.listen(tools_list_changed=True) as subscription:
                    output = await anyio.to_thread.run_sync(self.gateway.publish)
                    await anext(subscription)
        after = await self.edition(client)
        expect((before[0] != after[0], after[1]), (True, output), f"the versions {before} and {after}")

    async def edition(self, client):
        """Returns the listed version of the tool `edition`, and its output."""
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "edition"]
        called = await client.call_tool("edition", {})
        return tool.meta["dev.lathe/version"], called.content[0].text

    async def has_ended(self, http):
        """A session of the earlier era is unknown after its end; the present era has none."""
        has_sessions = MODES[self.version] == "legacy"
        expect((len(self.sessions), self.ends), (1, [204]) if has_sessions else (0, []), "the sessions and their ends")
        for session in self.sessions:
            headers = {"mcp-session-id": session, "mcp-protocol-version": self.version, "accept": "application/json, text/event-stream"}
            ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            expect((await http.post(self.gateway.url, json=ping, headers=headers)).status_code, 404, "the status after the end")


def run(gateway):
    for version in MODES:
        anyio.run(Session(gateway, version).run)
        print(f"the Python SDK with {version}: ok", flush=True)
