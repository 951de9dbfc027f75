"""A change of the tools of a gateway, which the conformance suite asks for by a call of a tool."""

from threading import Lock


class ToolChange:
    """Removes a tool from a gateway, and adds it again at the next call. Both are deployments."""

    def __init__(self, server, gateway, tool):
        self.server, self.lock, self.is_assigned = server, Lock(), True
        self.agent = f"/agent/{server.json('agent', 'show', gateway)['id']}"
        self.tool_id = server.json("tool", "show", tool)["id"]

    def __call__(self):
        with self.lock:
            if self.is_assigned:
                self.server.rest("DELETE", f"{self.agent}/assignment/{self.tool_id}")
            else:
                assignment = {"tool_id": self.tool_id, "version_constraint": ">=0"}
                self.server.rest("POST", f"{self.agent}/assignment", assignment)
            self.server.rest("POST", f"{self.agent}/deploy")
            self.is_assigned = not self.is_assigned
