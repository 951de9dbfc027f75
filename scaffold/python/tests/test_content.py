"""Content blocks and log messages, through the author's own test runner."""

from __future__ import annotations

from typing import Any

import pytest
from tools import tool_for

from amigo_tool_scaffold import content, log
from amigo_tool_scaffold.testing import run


def with_content(
    tool_input: object,
    metadata: object,
    config: object,
    conversation: object,
    send_status_event: object,
    user_variables: object,
) -> str:
    content.add_text("é")
    content.add_image(bytearray(b"\x00\xff"), "image/png")
    content.add_audio(memoryview(b"\x01"), "audio/wav")
    content.add_resource("report:1", "a,b", "text/csv")
    content.add_resource("report:2", b"\x00")
    content.add_link("https://example.com/a", "a", description="the report")
    log.warning({"rate": None}, logger="billing")
    log.send("emergency", "é")
    return "done"


def test_blocks_and_messages_are_returned_in_their_order() -> None:
    result = run(with_content)
    assert result.content == [
        content.Text("é"),
        content.Image(b"\x00\xff", "image/png"),
        content.Audio(b"\x01", "audio/wav"),
        content.Resource("report:1", "a,b", "text/csv"),
        content.Resource("report:2", b"\x00"),
        content.Link("https://example.com/a", "a", "the report"),
    ]
    assert result.logs == [log.LogMessage("warning", {"rate": None}, "billing"), log.LogMessage("emergency", "é")]
    assert run(tool_for(dict[str, int])).content == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: content.add_text(5), "text must be str, not int"),  # type: ignore[arg-type]
        (lambda: content.add_text("\ud800"), "text must be valid Unicode"),
        (lambda: content.add_image("a", "image/png"), "data must be bytes, not str"),  # type: ignore[arg-type]
        (lambda: content.add_link("a:b", None), "name must be str, not NoneType"),  # type: ignore[arg-type]
        (lambda: log.send("loud", 1), "level must be one of debug, info"),  # type: ignore[arg-type]
        (lambda: log.info(object()), "data must be a JSON value"),
        (lambda: log.info("\ud800"), "valid Unicode"),
        (lambda: log.error(1, logger=1), "logger must be str, not int"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_argument_is_named(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_block_far_above_the_limit_is_refused() -> None:
    with pytest.raises(content.ContentRefused) as refused:
        content.add_image(bytes(content.BYTES_MAX + 1), "image/png")
    assert refused.value.code == "too_large"
