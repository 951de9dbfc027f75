"""From returned value to output text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from amigo_tool_scaffold.result import NoResult, UnserialisableResult, serialise


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain text", "plain text"),
        ("", ""),
        ({"a": [1, 2.5, None, True], "b": "é"}, '{"a":[1,2.5,null,true],"b":"é"}'),
        ([], "[]"),
        (False, "false"),
        ((1, 2), "[1,2]"),
        ({1: "a"}, '{"1":"a"}'),
    ],
)
def test_serialised(value: object, expected: str) -> None:
    assert serialise(value) == expected


def test_nothing() -> None:
    with pytest.raises(NoResult, match="returns nothing"):
        serialise(None)


@dataclass
class Point:
    x: int


def circle() -> list[Any]:
    around: list[Any] = []
    around.append({"inside": around})
    return around


def deep() -> list[Any]:
    found: list[Any] = []
    for _ in range(100_000):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"items": [1, {"tags": {"a"}}]}, "result.items[1].tags (set) cannot be returned: JSON holds"),
        (b"bytes", "result (bytes)"),
        ({"rate": float("nan")}, "result.rate (float) cannot be returned: nan is not a JSON number"),
        ([float("-inf")], "result[0] (float)"),
        ({"a": {(1, 2): "b"}}, "result.a key (1, 2) (tuple)"),
        (circle(), "result[0].inside (list) cannot be returned: it contains itself"),
        (deep(), "result (list) cannot be returned: it is nested too deeply"),
        ("\ud800", "result (str) cannot be returned: it is not valid Unicode"),
        ({"a": "\ud800"}, "result.a (str) cannot be returned: it is not valid Unicode"),
        ([{"\ud800": 1}], "result[0] key '\\ud800' (str) cannot be returned: it is not valid Unicode"),
        ([{"a": {1: "x", "1": "y"}}], "result[0].a key '1' (str) cannot be returned: two keys have the JSON name '1'"),
        ({True: 1, "true": 2}, "two keys have the JSON name 'true'"),
        ({"a": [10**5000]}, "result.a[0] (int) cannot be returned: "),
        ({"a": Decimal("1.5")}, "result.a (Decimal) cannot be returned: JSON holds"),
        ({"a": datetime(2026, 1, 1)}, "result.a (datetime) cannot be returned: JSON holds"),
        ({"a": [Point(1)]}, "result.a[0] (Point) cannot be returned: JSON holds"),
    ],
)
def test_refused(value: object, expected: str) -> None:
    with pytest.raises(UnserialisableResult) as caught:
        serialise(value)
    assert expected in str(caught.value)
