"""A gateway with the tools of the sessions, and its history."""

from threading import Lock

from projects import PROJECTS, edition

AGENT = "office"


def expect(found, expected, what):
    """Ends the session when a value is not the expected one."""
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, and not {expected!r}")


class Gateway:
    """A gateway that is deployed on a server."""

    def __init__(self, server):
        self.server, self.editions, self.lock = server, 1, Lock()
        server.run("agent", "create", AGENT, "--type", "mcp_gateway", "--description", "The tools of the sessions.")
        server.push(PROJECTS)
        for name in PROJECTS:
            server.create(name, f"The tool {name}.")
            server.run("agent", "assign", AGENT, name)
        server.run("agent", "deploy", AGENT)
        self.agent_id = server.json("agent", "show", AGENT)["id"]
        tools = server.rest("GET", "/tool")["tools"]
        self.names = {tool["id"]: tool["name"] for tool in tools}
        self.url = f"http://{server.address}{server.mcp_path(AGENT)}"
        self.headers = {"Authorization": f"Bearer {server.key}"}

    def publish(self):
        """Publishes another version of the tool `edition`, and returns its output."""
        with self.lock:
            self.editions += 1
            self.server.push({"edition": edition(self.editions)})
            self.server.publish("edition")
            return f"edition {self.editions}"

    def definitions(self, form):
        """Returns the tools as a model API takes them."""
        return self.server.rest("GET", f"/agent/{self.agent_id}/tools?format={form}")["tools"]

    def check_history(self, client, expected):
        """Compares the records of a client, oldest first: the name of the tool, and the exception that ended the run or None."""
        listed = self.server.json("history", "list", "--agent", AGENT, "--client", client, "--limit", "20")
        records = list(reversed(listed["tool_invocations"]))
        for record in records:
            expect(record["origin"], "mcp", "the origin of a record")
            expect(record["agent_call"]["agent_id"], self.agent_id, "the agent of a record")
            expect(record["agent_call"]["client"], client, "the client of a record")
        found = [(self.names[record["tool_id"]], record["invocation_status"].get("exception_type")) for record in records]
        expect(found, expected, f"the history of {client}")
