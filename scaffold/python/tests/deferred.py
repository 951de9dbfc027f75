"""The same kinds of types with annotations as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NotRequired, Required, TypedDict

if TYPE_CHECKING:
    from decimal import Decimal

    from amigo_tool_scaffold.metadata import Metadata


class Address(TypedDict, total=False):
    street: Required[str]
    town: Annotated[str, "The town"]


class Person(TypedDict):
    name: str
    address: NotRequired[Address]


@dataclass
class Base:
    limit: ClassVar[int] = 3
    kind: Literal["a", "b"]


@dataclass
class Request(Base):
    people: list[Person] = field(default_factory=list)
    parent: Request | None = None


@dataclass
class Hidden:
    price: Decimal


async def run_tool(
    tool_input: Request,
    metadata: Metadata,
    config: object,
    conversation: object,
    send_status_event: object,
    user_variables: object,
) -> str:
    return repr(tool_input)


async def run_hidden(
    tool_input: Hidden,
    metadata: Metadata,
    config: object,
    conversation: object,
    send_status_event: object,
    user_variables: object,
) -> str:
    return repr(tool_input)
