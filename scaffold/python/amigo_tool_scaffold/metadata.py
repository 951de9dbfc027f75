"""Metadata of the run: tool, version, mode and deadline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

InvocationMode = Literal["regular", "conversation-simulation"]
"""`regular` may change external systems; a simulation must not."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The parameter `metadata` of `run_tool`.

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
