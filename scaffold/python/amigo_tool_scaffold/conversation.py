"""The conversation that a run belongs to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conversation:
    """What `run_tool` receives as `conversation`, or `None` when nobody is talking (a direct invoke, a branch test)."""

    conversation_id: str
    interaction_id: str
    user_id: str
