"""Converts the JSON object of a call to the annotated type of `tool_input`.

The rules are those of the derived schema: `1.0` is an integer, `true` is not, nothing else is coerced, unknown and
missing fields are errors. The same rules apply to a tool with its own schema file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, cast

from amigo_tool_scaffold.shapes import Field, Shape, fields_of, input_shape


class InputMismatch(ValueError):
    """The input does not have the annotated type. `path` is the location, such as `tool_input.lines[2].price`."""

    code = "input-mismatch"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def convert_input(run_tool: Callable[..., object], input_parameters: Mapping[str, object]) -> Any:
    """Builds `tool_input` for `run_tool`. Raises `InputMismatch`, or `TypeError` for an unsupported annotation."""
    return convert(input_parameters, input_shape(run_tool), "tool_input")


def convert(value: Any, shape: Shape, path: str) -> Any:
    """Converts one decoded JSON value."""
    return _CONVERTERS[shape.kind](value, shape, path)


def _scalar(name: str, *accepted: type) -> Callable[[Any, Shape, str], Any]:
    def converter(value: Any, _: Shape, path: str) -> Any:
        if type(value) in accepted:
            return value
        raise _expected(name, value, path)

    return converter


def _integer(value: Any, _: Shape, path: str) -> int:
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    raise _expected("an integer", value, path)


def _number(value: Any, _: Shape, path: str) -> float:
    if type(value) not in (int, float):
        raise _expected("a number", value, path)
    try:
        return float(value)
    except OverflowError:
        raise InputMismatch(path, "is too large for a float") from None


def _literal(value: Any, shape: Shape, path: str) -> Any:
    for choice in shape.items:
        if _same_json(choice, value):
            return choice
    raise InputMismatch(path, f"must be one of {_choices(shape.items)}")


def _enum(value: Any, shape: Shape, path: str) -> Enum:
    members = tuple(cast(type[Enum], shape.type))
    for member in members:
        if _same_json(member.value, value):
            return member
    raise InputMismatch(path, f"must be one of {_choices(tuple(member.value for member in members))}")


def _list(value: Any, shape: Shape, path: str) -> Any:
    if not isinstance(value, list | tuple):
        raise _expected("a list", value, path)
    made = [convert(item, shape.items[0], f"{path}[{index}]") for index, item in enumerate(value)]
    return tuple(made) if shape.type is tuple else made


def _tuple(value: Any, shape: Shape, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _expected("a list", value, path)
    if len(value) != len(shape.items):
        raise InputMismatch(path, f"must have {len(shape.items)} items, not {len(value)}")
    places = zip(value, shape.items, strict=True)
    return tuple(convert(item, part, f"{path}[{place}]") for place, (item, part) in enumerate(places))


def _map(value: Any, shape: Shape, path: str) -> dict[str, Any]:
    items = _object(value, path)
    return {name: convert(item, shape.items[0], f"{path}.{name}") for name, item in items.items()}


def _union(value: Any, shape: Shape, path: str) -> Any:
    """Prefers the member that does not change the value (`1.0` for `int | float`), then takes the first that matches."""
    exact = _EXACT.get(type(value))
    if any(item.kind == exact for item in shape.items):
        return value
    reasons: list[str] = []
    for item in shape.items:
        try:
            return convert(value, item, path)
        except InputMismatch as mismatch:
            reasons.append(str(mismatch))
    raise InputMismatch(path, f"matches none of the {len(shape.items)} allowed types ({'; '.join(reasons)})")


def _record(value: Any, shape: Shape, path: str) -> Any:
    record = cast(type, shape.type)
    given, fields = _object(value, path), fields_of(record)
    _refuse_unknown(given, fields, path)
    made: dict[str, Any] = {}
    for field in fields:
        if field.name in given:
            made[field.name] = convert(given[field.name], field.shape, f"{path}.{field.name}")
        elif field.required:
            raise InputMismatch(f"{path}.{field.name}", "is required")
    return record(**made)


def _refuse_unknown(given: Mapping[str, Any], fields: tuple[Field, ...], path: str) -> None:
    known = {field.name for field in fields}
    for name in given:
        if name not in known:
            raise InputMismatch(f"{path}.{name}", f"is unknown; the fields are {', '.join(field.name for field in fields)}")


def _object(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _expected("an object", value, path)
    return value


def _same_json(left: object, right: object) -> bool:
    """Equality of JSON values: `1` equals `1.0`, and neither equals `true`."""
    return left == right and (type(left) is bool) == (type(right) is bool)


def _choices(values: tuple[object, ...]) -> str:
    return ", ".join(repr(value) for value in values)


def _expected(what: str, value: object, path: str) -> InputMismatch:
    return InputMismatch(path, f"must be {what}, not {type(value).__name__}")


_EXACT: dict[type, str] = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string"}
_CONVERTERS: dict[str, Callable[[Any, Shape, str], Any]] = {
    "any": lambda value, _, path: value,
    "null": _scalar("null", type(None)),
    "boolean": _scalar("true or false", bool),
    "integer": _integer,
    "number": _number,
    "string": _scalar("text", str),
    "literal": _literal,
    "enum": _enum,
    "list": _list,
    "tuple": _tuple,
    "map": _map,
    "union": _union,
    "record": _record,
}
