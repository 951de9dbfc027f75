"""Input types for the tests, with annotations as values (no `from __future__ import annotations`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, Required, TypedDict, Union

OrderNumber = NewType("OrderNumber", str)


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Line:
    """One line
    of an order."""

    article: str
    count: int = 1


@dataclass
class Order:
    number: Annotated[OrderNumber, "The order's number"]
    lines: list[Line]
    priority: Priority = Priority.LOW
    note: Optional[str] = None
    weight: Union[float, None] = None
    labels: dict[str, str] = field(default_factory=dict)
    place: tuple[float, float] | None = None
    codes: tuple[int, ...] = ()
    kind: Literal["gift", 1, True] = "gift"
    extra: Any = None
    tags: Sequence[str] = ()
    amounts: Mapping[str, float | int] = field(default_factory=dict)
    computed: int = field(default=0, init=False)


@dataclass
class Tree:
    name: str
    children: list["Tree"] = field(default_factory=list)


@dataclass
class Forest:
    oldest: Tree
    trees: list[Tree]


class Address(TypedDict):
    """Where it goes."""

    street: str
    town: Annotated[NotRequired[str], "The town"]


class Partial(TypedDict, total=False):
    street: Required[str]
    town: str


def tool_for(annotation: object) -> Callable[..., object]:
    """A `run_tool` whose `tool_input` has this annotation."""

    def run_tool(
        tool_input: object,
        metadata: object,
        config: object,
        conversation: object,
        send_status_event: object,
        user_variables: object,
    ) -> object:
        return tool_input

    run_tool.__annotations__["tool_input"] = annotation
    return run_tool
