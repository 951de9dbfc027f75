"""The conversation that a run belongs to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conversation:
    """The parameter `conversation` of `run_tool`. It is `None` in runs without a conversation, such as branch tests."""

    conversation_id: str
    interaction_id: str
    user_id: str
