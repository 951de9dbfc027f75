"""From annotation to JSON Schema."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from datetime import datetime
from typing import Any

import pytest
from deferred import run_hidden
from deferred import run_tool as deferred_tool
from tools import Address, Forest, Order, Partial, Tree, tool_for

from amigo_tool_scaffold.schema import DIALECT, input_schema


def schema(annotation: object) -> dict[str, Any]:
    found = input_schema(tool_for(annotation))
    assert found.pop("$schema") == DIALECT
    return found


def test_dataclass() -> None:
    assert schema(Order) == {
        "type": "object",
        "properties": {
            "number": {"type": "string", "description": "The order's number"},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
            "priority": {"enum": ["low", "high"], "type": "string", "default": "low"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "weight": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "place": {
                "anyOf": [
                    {
                        "type": "array",
                        "items": False,
                        "minItems": 2,
                        "maxItems": 2,
                        "prefixItems": [{"type": "number"}, {"type": "number"}],
                    },
                    {"type": "null"},
                ],
                "default": None,
            },
            "codes": {"type": "array", "items": {"type": "integer"}},
            "kind": {"enum": ["gift", 1, True], "default": "gift"},
            "extra": {"default": None},
            "tags": {"type": "array", "items": {"type": "string"}},
            "amounts": {
                "type": "object",
                "additionalProperties": {"anyOf": [{"type": "number"}, {"type": "integer"}]},
            },
        },
        "required": ["number", "lines"],
        "additionalProperties": False,
        "$defs": {
            "Line": {
                "type": "object",
                "properties": {"article": {"type": "string"}, "count": {"type": "integer", "default": 1}},
                "required": ["article"],
                "additionalProperties": False,
                "description": "One line of an order.",
            }
        },
    }


@pytest.mark.parametrize("annotation", [Address, Partial])
def test_typed_dict_required_keys(annotation: object) -> None:
    assert schema(annotation)["required"] == ["street"]


def test_typed_dict_descriptions() -> None:
    found = schema(Address)
    assert found["description"] == "Where it goes."
    assert found["properties"]["town"] == {"type": "string", "description": "The town"}


def test_recursive_types_refer_to_themselves() -> None:
    assert schema(Tree)["properties"]["children"]["items"] == {"$ref": "#"}
    found = schema(Forest)
    assert found["properties"]["oldest"] == {"$ref": "#/$defs/Tree"}
    assert found["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}


def test_annotations_as_text() -> None:
    found = input_schema(deferred_tool)
    assert list(found["properties"]) == ["kind", "people", "parent"]
    assert found["required"] == ["kind"]
    assert found["properties"]["parent"]["anyOf"][0] == {"$ref": "#"}
    assert found["$defs"]["Person"]["required"] == ["name"]
    assert found["$defs"]["Address"]["required"] == ["street"]
    assert found["$defs"]["Address"]["properties"]["town"]["description"] == "The town"


@pytest.mark.parametrize("annotation", [dict, dict[str, Any], Any, object, "dict"])
def test_open_object(annotation: object) -> None:
    assert schema(annotation) == {"type": "object"}


def test_no_annotation_is_an_open_object() -> None:
    def run_tool(tool_input):  # type: ignore[no-untyped-def]
        return tool_input

    assert input_schema(run_tool) == {"$schema": DIALECT, "type": "object"}


def test_dict_of_something() -> None:
    assert schema(dict[str, int]) == {"type": "object", "additionalProperties": {"type": "integer"}}


def test_two_records_of_one_name_stay_apart() -> None:
    from deferred import Address as Other

    @dataclass
    class Both:
        first: Address
        second: Other

    Both.__annotations__ = {"first": Address, "second": Other}
    assert list(schema(Both)["$defs"]) == ["Address", "Address_2"]


@dataclass
class Dated:
    at: list[datetime]


@dataclass
class WithSet:
    names: set[str]


@dataclass
class IntKeys:
    names: dict[int, str]


@dataclass
class WithInitVar:
    name: InitVar[str]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("1 +", "tool_input: the annotation is not a type"),
        ("tuple.Missing", "tool_input: the annotation names something unknown"),
        (Dated, r"Dated.at\[\]: datetime has no JSON form here: use str, int"),
        (WithSet, r"WithSet.names: set\[str\] has no JSON form"),
        (IntKeys, r"IntKeys.names: dict\[int, str\] must have str keys"),
        (WithInitVar, r"WithInitVar.name: InitVar is not supported"),
        (int, "tool_input: must be a dataclass, a TypedDict or a dict, not int"),
        ("Missing", "tool_input: the annotation names something unknown .*'Missing'"),
        (list["Missing"], "tool_input: the annotation names something unknown"),  # type: ignore[name-defined]  # noqa: F821
    ],
)
def test_refused(annotation: object, expected: str) -> None:
    with pytest.raises(TypeError, match=expected):
        input_schema(tool_for(annotation))


def test_name_that_exists_only_for_the_type_checker() -> None:
    with pytest.raises(TypeError, match="Hidden: the annotation names something unknown .*'Decimal'"):
        input_schema(run_hidden)
