"""Content that a tool adds to its result besides its output: texts, images, audio and resources.

    content.add_image(chart, "image/png")
    content.add_link("https://example.com/report.pdf", "report.pdf", mime_type="application/pdf")

The caller receives the blocks in their order. A tool that raises an exception keeps the blocks that it added before. A run
adds at most 32 blocks with 1 MiB in all; a block beyond that raises `ContentRefused`, as a malformed media type or URI does.

Under plain CPython, in an author's tests, `run` of `amigo_tool_scaffold.testing` returns the blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

BYTES_MAX = 1 << 20
"""Bytes of the contents of one block. The host refuses more; a block far above the limit would stop the run."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class Audio:
    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource with its contents: a text, or bytes."""

    uri: str
    contents: str | bytes
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A resource that the reader may fetch."""

    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None


Block = Text | Image | Audio | Resource | Link
Receiver = Callable[[Block], None]


class ContentRefused(ValueError):
    """The host refused a block. `code` is `too_many`, `too_large` or `invalid`."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def add_text(text: str) -> None:
    """Adds a text."""
    _add(Text(_text("text", text)), text)


def add_image(data: bytes | bytearray | memoryview, mime_type: str) -> None:
    """Adds an image with its media type, such as `image/png`."""
    whole = _bytes("data", data)
    _add(Image(whole, _text("mime_type", mime_type)), whole)


def add_audio(data: bytes | bytearray | memoryview, mime_type: str) -> None:
    """Adds audio with its media type, such as `audio/wav`."""
    whole = _bytes("data", data)
    _add(Audio(whole, _text("mime_type", mime_type)), whole)


def add_resource(uri: str, contents: str | bytes | bytearray | memoryview, mime_type: str | None = None) -> None:
    """Adds a resource with its contents, a text or bytes."""
    whole = _text("contents", contents) if isinstance(contents, str) else _bytes("contents", contents)
    _add(Resource(_text("uri", uri), whole, _optional("mime_type", mime_type)), whole)


def add_link(uri: str, name: str, *, description: str | None = None, mime_type: str | None = None) -> None:
    """Adds a link to a resource, which the reader may fetch."""
    description = _optional("description", description)
    block = Link(_text("uri", uri), _text("name", name), description, _optional("mime_type", mime_type))
    _add(block, description or "")


def _add(block: Block, contents: str | bytes) -> None:
    if len(contents) > BYTES_MAX:
        raise ContentRefused(f"the block has more than {BYTES_MAX} bytes, the limit of all blocks of a run", "too_large")
    _receiver(block)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} must be valid Unicode: {error.reason}") from None
    return str(value)


def _optional(name: str, value: object) -> str | None:
    return None if value is None else _text(name, value)


def _bytes(name: str, value: object) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise TypeError(f"{name} must be bytes, not {type(value).__name__}")
    return bytes(value)


def _drop(_: Block) -> None:
    """Receives the blocks of a tool that no test runner called."""


_receiver: Receiver = _drop


def receive(receiver: Receiver) -> Receiver:
    """Replaces the function that receives blocks, such as by the service's own, and returns the previous one."""
    global _receiver
    previous, _receiver = _receiver, receiver
    return previous
