"""An agent with two tools on a server of its own."""

from projects import PROJECTS

AGENT, NAMES = "office", ("add", "find")


class Office:
    """The agent, as an application uses it."""

    def __init__(self, server):
        self.server = server
        server.run("agent", "create", AGENT, "--type", "agent", "--description", "Adds numbers and finds orders.")
        server.push({name: PROJECTS[name] for name in NAMES})
        for name in NAMES:
            server.create(name, f"The tool {name}.")
            server.run("agent", "assign", AGENT, name)
        server.run("agent", "deploy", AGENT)
        self.agent_id = server.json("agent", "show", AGENT)["id"]
        conversation = server.rest("POST", f"/agent/{self.agent_id}/conversation", {})
        place = f"/conversation/{conversation['id']}/turn"
        self.turn = f"{place}/{server.rest('POST', place, {})['id']}"

    def definitions(self, form):
        """Returns the tools of the agent as a model API takes them."""
        tools = self.server.rest("GET", f"/agent/{self.agent_id}/tools?format={form}")["tools"]
        return [tool for tool in tools if self.name(tool) in NAMES]

    @staticmethod
    def name(tool):
        return tool.get("function", tool)["name"]

    def call(self, tool, arguments):
        """Runs a tool in a turn. Returns the text for the model, and whether it is an error."""
        body = {"tool": tool, "inputs": [{"input_parameters": arguments}]}
        (result,) = self.server.rest("POST", f"{self.turn}/invoke", body)["invocation_results"]
        if result["succeeded"]:
            return result["output"], False
        return f"{result['exception_type']}: {result['exception_message']}", True

    def execute(self, objective, **options):
        """Runs the agent to its end. Returns the run with its trace."""
        body = {"agent": AGENT, "objective": objective, "tools": [*NAMES, "__complete__"], **options}
        run = self.server.request("POST", "/agents/execute", body)
        return self.server.request("GET", f"/agents/{run['agent_run_id']}/status?include_trace=true")
