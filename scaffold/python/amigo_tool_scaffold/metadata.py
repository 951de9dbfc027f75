"""Facts about the run: which tool, which version, in which mode, until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

InvocationMode = Literal["regular", "conversation-simulation"]
"""`regular` acts on the world. `conversation-simulation` must leave the world as it was."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What `run_tool` receives as `metadata`.

    Ids are 24 lower-case hexadecimal characters, `version` is `major.minor.patch`, and `deadline_ms` is the Unix time
    in milliseconds at which the run is stopped.
    """

    invocation_mode: InvocationMode
    invocation_id: str
    tool_id: str
    tool_name: str
    version: str
    organization: str
    deadline_ms: int

    @property
    def is_simulation(self) -> bool:
        """Whether this run belongs to a simulated conversation."""
        return self.invocation_mode == "conversation-simulation"
