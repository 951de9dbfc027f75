"""A change of the prompts that an agent shows, which the conformance suite asks for by a call of a tool."""

from itertools import count


class PromptChange:
    """Changes the description of a prompt."""

    def __init__(self, server, prompt):
        self.server, self.path, self.changes = server, f"/api/v1/prompts/{prompt}", count(1)

    def __call__(self):
        self.server.request("PATCH", self.path, {"description": f"Without arguments, changed {next(self.changes)} times."})
