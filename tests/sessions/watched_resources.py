"""Sessions of the official Python SDK, in each era of the protocol, that watch resources while another client changes them."""

import warnings

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ResourceUpdatedNotification

from gateway import expect
from python_sdk import MODES, PATIENCE

AGENT = "library"
ARTIFACT = {"title": "Sales", "artifact_type": "report", "content": "x", "content_type": "text/plain"}


class OtherClient:
    """Another client of the same user, which works over REST."""

    def __init__(self, server):
        self.server = server

    def send(self, method, path, body=None):
        return self.server.request(method, f"/api/v1/{path}", body)["data"]

    def save(self):
        """Saves an artifact, and returns the URI of its resource."""
        return f"artifact://{self.send('POST', 'artifacts', ARTIFACT)['artifact_id']}"

    def delete(self, uri):
        self.send("DELETE", f"artifacts/{uri.removeprefix('artifact://')}")

    def create_skill(self, name):
        """Creates a skill, and returns its id with the URI of its resource."""
        skill = self.send("POST", "skills", {"name": name, "content": "x"})["skill_id"]
        return skill, f"skill://{skill}/{name}/SKILL.md"

    def change_skill(self, skill):
        self.send("PUT", f"skills/{skill}", {"content": "y"})


class Watcher:
    """A client that watches resources by the means of its era."""

    def __init__(self, client, told):
        self.client, self.told = client, told

    async def sees(self, uri, change):
        """Watches a resource, and waits for the notification after a change."""
        with anyio.fail_after(PATIENCE):
            if MODES[self.client.protocol_version] == "legacy":
                await self.client.subscribe_resource(uri)
                await anyio.to_thread.run_sync(change)
                updated = await self.told.receive()
                await self.client.unsubscribe_resource(uri)
            else:
                async with self.client.listen(resource_subscriptions=[uri]) as subscription:
                    await anyio.to_thread.run_sync(change)
                    updated = (await anext(subscription)).uri
        expect(updated, uri, "the resource of the notification")


async def session(url, headers, version, other):
    told_in, told = anyio.create_memory_object_stream(10)

    async def on_message(message):
        if isinstance(message, ResourceUpdatedNotification):
            await told_in.send(message.params.uri)

    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=MODES[version], message_handler=on_message) as client:
            expect(client.protocol_version, version, "the version of the protocol")
            watcher, unwatched = Watcher(client, told), other.save()
            artifact = other.save()

            def delete_both():
                other.delete(unwatched)
                other.delete(artifact)

            await watcher.sees(artifact, delete_both)
            skill, uri = other.create_skill(f"refunds-{version}")
            await watcher.sees(uri, lambda: other.change_skill(skill))
            (content,) = (await client.read_resource(uri)).contents
            expect("y" in content.text, True, f"the changed text {content.text!r}")


def run(gateway):
    # The methods of the earlier era are deprecated.
    warnings.filterwarnings("ignore", "resources/(un)?subscribe is removed")
    server = gateway.server
    server.run("agent", "create", AGENT, "--type", "agent", "--description", "An agent with the Library.")
    server.run("agent", "deploy", AGENT)
    url = f"http://{server.address}{server.mcp_path(AGENT)}"
    for version in MODES:
        anyio.run(session, url, gateway.headers, version, OtherClient(server))
        print(f"watched resources with {version}: ok", flush=True)
