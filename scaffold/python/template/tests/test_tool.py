"""Runs the tool under plain CPython: `python -m pytest`."""

import pytest
from amigo_tool_scaffold.testing import run

from tool import run_tool


def test_greets_and_reports_progress() -> None:
    result = run(run_tool, {"name": "Ada", "times": 2})
    assert result.json() == {"greetings": ["Hello, Ada!", "Hello, Ada!"], "delivered": True}
    assert [event.progress for event in result.status_events] == [1, 2]


def test_takes_the_word_from_a_variable() -> None:
    result = run(run_tool, {"name": "Ada"}, envvars={"GREETING": "Welcome"})
    assert result.json()["greetings"] == ["Welcome, Ada!"]


def test_simulated_conversation_delivers_nothing() -> None:
    result = run(run_tool, {"name": "Ada"}, mode="conversation-simulation")
    assert result.json()["delivered"] is False


def test_refuses_no_greetings() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        run(run_tool, {"name": "Ada", "times": 0})

