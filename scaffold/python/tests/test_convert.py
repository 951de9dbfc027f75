"""From JSON to the annotated instance."""

from __future__ import annotations

from typing import Any

import pytest
from deferred import Request
from deferred import run_tool as deferred_tool
from tools import Address, Line, Order, Priority, Tree, tool_for

from amigo_tool_scaffold.convert import InputMismatch, convert_input


def convert(annotation: object, value: dict[str, Any]) -> Any:
    return convert_input(tool_for(annotation), value)


def order(**changes: Any) -> dict[str, Any]:
    return {"number": "A1", "lines": [], **changes}


def test_dataclass() -> None:
    made = convert(
        Order,
        order(lines=[{"article": "pen", "count": 2.0}], priority="high", weight=1, place=[1, 2.5], codes=[1], labels={"a": "b"}),
    )
    assert made.lines == [Line("pen", 2)]
    assert type(made.lines[0].count) is int
    assert made.priority is Priority.HIGH
    assert (made.weight, type(made.weight)) == (1.0, float)
    assert made.place == (1.0, 2.5)
    assert made.codes == (1,)
    assert made.labels == {"a": "b"}
    assert (made.note, made.computed) == (None, 0)


def test_a_union_leaves_an_exact_value_alone() -> None:
    amounts = convert(Order, order(amounts={"a": 1, "b": 1.0})).amounts
    assert [type(amount) for amount in amounts.values()] == [int, float]


def test_typed_dict_stays_a_dict_without_absent_keys() -> None:
    assert convert(Address, {"street": "High Street"}) == {"street": "High Street"}


def test_recursion_and_annotations_as_text() -> None:
    assert convert(Tree, {"name": "a", "children": [{"name": "b"}]}) == Tree("a", [Tree("b")])
    made = convert_input(deferred_tool, {"kind": "a", "people": [{"name": "Ada"}], "parent": {"kind": "b"}})
    assert made == Request("a", [{"name": "Ada"}], Request("b"))


def test_open_object_comes_as_it_is() -> None:
    assert convert(dict, {"a": [1, None]}) == {"a": [1, None]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"lines": []}, "tool_input.number: is required"),
        (order(colour="red"), "tool_input.colour: is unknown; the fields are number, lines"),
        (order(number=1), "tool_input.number: must be text, not int"),
        (order(lines={}), "tool_input.lines: must be a list, not dict"),
        (order(lines=[{"article": "pen"}, 3]), "tool_input.lines[1]: must be an object, not int"),
        (order(lines=[{"article": "pen", "count": True}]), "tool_input.lines[0].count: must be an integer, not bool"),
        (order(lines=[{"article": "pen", "count": 1.5}]), "tool_input.lines[0].count: must be an integer, not float"),
        (order(priority="middle"), "tool_input.priority: must be one of 'low', 'high'"),
        (order(kind=2), "tool_input.kind: must be one of 'gift', 1, True"),
        (order(kind=False), "tool_input.kind: must be one of"),
        (order(weight="1"), "tool_input.weight: matches none of the 2 allowed types"),
        (order(weight=10**400), "is too large for a float"),
        (order(place=[1]), "must have 2 items, not 1"),
        (order(labels={"a": 1}), "tool_input.labels.a: must be text, not int"),
    ],
)
def test_refused(value: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputMismatch) as caught:
        convert(Order, value)
    assert expected in str(caught.value)
