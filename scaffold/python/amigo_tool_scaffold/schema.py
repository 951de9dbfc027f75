"""The JSON Schema (2020-12) of a tool's input, derived from the annotation of `tool_input`.

Records become objects without additional properties. Nested records are under `$defs`, so that they can be recursive.
Descriptions come from `Annotated[X, "text"]` and from docstrings of classes. Fields with a default are not required.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from enum import Enum
from typing import Any, cast

from amigo_tool_scaffold.shapes import Field, Shape, fields_of, input_shape

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def input_schema(run_tool: Callable[..., object]) -> Schema:
    """Derives the schema of `tool_input`. A dict, or no annotation, accepts any object.

    Raises `TypeError` with the location (`Order.lines`) for an annotation that has no JSON form.
    """
    try:
        writer = _Writer(input_shape(run_tool))
        schema = {"$schema": DIALECT, **writer.root()}
    except RecursionError:
        raise TypeError("tool_input: a type contains itself with no dataclass or TypedDict in between") from None
    if writer.definitions:
        schema["$defs"] = writer.definitions
    return schema


class _Writer:
    """Writes a schema and collects its nested records."""

    def __init__(self, root: Shape) -> None:
        self._root = root
        self._references: dict[type, str] = {}
        self.definitions: dict[str, Schema] = {}

    def root(self) -> Schema:
        if self._root.type is None:
            return self.write(self._root)
        self._references[self._root.type] = "#"
        return _described(self._object(self._root.type), self._root.description)

    def write(self, shape: Shape) -> Schema:
        return _described(_WRITERS[shape.kind](self, shape), shape.description)

    def record(self, shape: Shape) -> Schema:
        record = cast(type, shape.type)
        if record not in self._references:
            name = self._free_name(record.__name__)
            self._references[record] = f"#/$defs/{name}"
            self.definitions[name] = {}
            self.definitions[name] = self._object(record)
        return {"$ref": self._references[record]}

    def _object(self, record: type) -> Schema:
        fields = fields_of(record)
        schema: Schema = {
            "type": "object",
            "properties": {field.name: self._property(field) for field in fields},
            "required": [field.name for field in fields if field.required],
            "additionalProperties": False,
        }
        return _described(schema, _own_docstring(record))

    def _property(self, field: Field) -> Schema:
        schema = self.write(field.shape)
        default = field.default.value if isinstance(field.default, Enum) else field.default
        if default is not MISSING and _is_json_scalar(default):
            schema["default"] = default
        return schema

    def _free_name(self, name: str) -> str:
        candidate, number = name, 2
        while candidate in self.definitions:
            candidate, number = f"{name}_{number}", number + 1
        return candidate


def _described(schema: Schema, description: str | None) -> Schema:
    if description:
        schema["description"] = description
    return schema


def _own_docstring(record: type) -> str | None:
    """The docstring as one paragraph; `None` if it is the signature that `dataclass` generates."""
    text = record.__dict__.get("__doc__")
    if not isinstance(text, str) or text.startswith(f"{record.__name__}("):
        return None
    return " ".join(text.split())


def _is_json_scalar(value: object) -> bool:
    if isinstance(value, float):
        return value - value == 0.0
    return value is None or type(value) in (str, int, bool)


def _choice(values: tuple[object, ...]) -> Schema:
    schema: Schema = {"enum": list(values)}
    if all(isinstance(value, str) for value in values):
        schema["type"] = "string"
    return schema


def _enum(_: _Writer, shape: Shape) -> Schema:
    return _choice(tuple(member.value for member in cast(type[Enum], shape.type)))


def _list(writer: _Writer, shape: Shape) -> Schema:
    items = writer.write(shape.items[0])
    return {"type": "array", "items": items} if items else {"type": "array"}


def _tuple(writer: _Writer, shape: Shape) -> Schema:
    places = [writer.write(item) for item in shape.items]
    schema: Schema = {"type": "array", "items": False, "minItems": len(places), "maxItems": len(places)}
    if places:
        schema["prefixItems"] = places
    return schema


def _map(writer: _Writer, shape: Shape) -> Schema:
    values = writer.write(shape.items[0])
    return {"type": "object", "additionalProperties": values} if values else {"type": "object"}


def _union(writer: _Writer, shape: Shape) -> Schema:
    return {"anyOf": [writer.write(item) for item in shape.items]}


_WRITERS: dict[str, Callable[[_Writer, Shape], Schema]] = {
    "any": lambda _, shape: {},
    "null": lambda _, shape: {"type": "null"},
    "boolean": lambda _, shape: {"type": "boolean"},
    "integer": lambda _, shape: {"type": "integer"},
    "number": lambda _, shape: {"type": "number"},
    "string": lambda _, shape: {"type": "string"},
    "literal": lambda _, shape: _choice(shape.items),
    "enum": _enum,
    "list": _list,
    "tuple": _tuple,
    "map": _map,
    "union": _union,
    "record": lambda writer, shape: writer.record(shape),
}
