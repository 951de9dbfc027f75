"""Reads annotations as JSON types, for both the schema and the conversion of inputs.

A `Shape` is shallow: `fields_of` reads the fields of a record when they are needed, so that records can be recursive.
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from dataclasses import MISSING, InitVar
from dataclasses import fields as dataclass_fields
from enum import Enum

from amigo_tool_scaffold.entry_point import unwrapped

Kind = typing.Literal[
    "any", "null", "boolean", "integer", "number", "string", "literal", "enum", "list", "tuple", "map", "union", "record"
]

_SCALARS: dict[object, Kind] = {
    typing.Any: "any",
    object: "any",
    None: "null",
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
}
_SEQUENCES = (list, Sequence, MutableSequence)
_MAPPINGS = (dict, Mapping, MutableMapping)
_WRAPPERS = {typing.Required, typing.NotRequired, typing.Final, getattr(typing, "ReadOnly", typing.Required)}
_SUPPORTED = (
    "str, int, float, bool, None, Any, Literal, Enum, Optional, Union, list, tuple, dict[str, X], "
    "a dataclass or a TypedDict"
)


class Shape:
    """A JSON type. `type` is the class of an enum or record. `items` are the shapes of the parts, or a literal's values.

    A `list` or `map` has one item shape. A `tuple` has one per position.
    """

    __slots__ = ("description", "items", "kind", "type")

    def __init__(self, kind: Kind, type: type | None = None, items: tuple[typing.Any, ...] = ()) -> None:
        self.kind = kind
        self.type = type
        self.items = items
        self.description: str | None = None


class Field:
    """A field of a record. `default` is `MISSING` without a default, or with a default factory."""

    __slots__ = ("default", "name", "required", "shape")

    def __init__(self, name: str, shape: Shape, required: bool, default: object) -> None:
        self.name = name
        self.shape = shape
        self.required = required
        self.default = default


_ANY = Shape("any")
_fields: dict[type, tuple[Field, ...]] = {}


def input_shape(run_tool: Callable[..., object]) -> Shape:
    """Reads the annotation of `tool_input`: a record, or a map for a dict and without an annotation.

    Raises `TypeError` for any other annotation, and for one that uses an undefined name.
    """
    function = unwrapped(run_tool)
    annotation = _annotation_of(function, "tool_input")
    if annotation is MISSING:
        return Shape("map", items=(_ANY,))
    holder = types.SimpleNamespace(__annotations__={"tool_input": annotation})
    shape = shape_of(_resolved(holder, "tool_input", function.__globals__)["tool_input"], "tool_input")
    if shape.kind == "any":
        return Shape("map", items=(_ANY,))
    if shape.kind not in ("record", "map"):
        raise TypeError(f"tool_input: must be a dataclass, a TypedDict or a dict, not {_name_of(annotation)}")
    return shape


def shape_of(annotation: typing.Any, path: str) -> Shape:
    """Reads an annotation. `path` is its location in errors. Raises `TypeError` if it has no JSON form."""
    annotation, description = _peeled(annotation)
    shape = _plain_shape(annotation, path)
    shape.description = description
    return shape


def fields_of(record: type) -> tuple[Field, ...]:
    """Reads the fields of a dataclass or TypedDict in order. Cached per class."""
    found = _fields.get(record)
    if found is None:
        read = _dataclass_fields if hasattr(record, "__dataclass_fields__") else _typed_dict_fields
        found = _fields[record] = read(record)
    return found


def _annotation_of(function: Callable[..., object], parameter: str) -> object:
    if sys.version_info >= (3, 14):
        from annotationlib import Format, get_annotations

        return get_annotations(function, format=Format.FORWARDREF).get(parameter, MISSING)
    return function.__annotations__.get(parameter, MISSING)


def _resolved(holder: object, path: str, names: dict[str, object] | None = None) -> dict[str, typing.Any]:
    try:
        return typing.get_type_hints(holder, globalns=names, include_extras=True)
    except (NameError, AttributeError) as error:
        hint = "import it and define it at the top of the module, not under TYPE_CHECKING or in a function"
        raise TypeError(f"{path}: the annotation names something unknown ({error}): {hint}") from None
    except (SyntaxError, TypeError) as error:
        raise TypeError(f"{path}: the annotation is not a type: {error}") from None


def _peeled(annotation: typing.Any) -> tuple[typing.Any, str | None]:
    """Unwraps annotations without a meaning in JSON; returns the outermost description of an `Annotated` too."""
    description: str | None = None
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            texts = (extra for extra in annotation.__metadata__ if isinstance(extra, str))
            description = description or next(texts, None)
            annotation = annotation.__origin__
        elif origin in _WRAPPERS:
            annotation = annotation.__args__[0]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType" and origin is None:
            annotation = annotation.__value__
        else:
            return annotation, description


def _plain_shape(annotation: typing.Any, path: str) -> Shape:
    origin, arguments = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
    if origin is typing.Union or origin is types.UnionType:
        return Shape("union", items=tuple(shape_of(argument, path) for argument in arguments))
    if origin is typing.Literal:
        return Shape("literal", items=_literal_values(arguments, path))
    if origin in _SEQUENCES:
        return Shape("list", items=(shape_of(arguments[0], f"{path}[]") if arguments else _ANY,))
    if origin in _MAPPINGS:
        return Shape("map", items=(_map_value(arguments, annotation, path),))
    if origin is tuple:
        return _tuple_shape(annotation, arguments, path)
    return _named_shape(annotation, path)


def _named_shape(annotation: typing.Any, path: str) -> Shape:
    try:
        scalar = _SCALARS.get(annotation)
    except TypeError:
        scalar = None
    if scalar is not None:
        return Shape(scalar)
    if isinstance(annotation, type):
        if issubclass(annotation, Enum):
            _literal_values(tuple(member.value for member in annotation), path)
            return Shape("enum", annotation)
        if hasattr(annotation, "__dataclass_fields__") or typing.is_typeddict(annotation):
            return Shape("record", annotation)
    raise _unsupported(annotation, path)


def _literal_values(values: tuple[object, ...], path: str) -> tuple[object, ...]:
    for value in values:
        if value is not None and type(value) not in (str, int, float, bool):
            raise TypeError(f"{path}: {value!r} is not text, a number, a boolean or None, so JSON cannot name it")
    return values


def _map_value(arguments: tuple[typing.Any, ...], annotation: object, path: str) -> Shape:
    if not arguments:
        return _ANY
    if arguments[0] is not str:
        raise TypeError(f"{path}: {_name_of(annotation)} must have str keys, as JSON objects do")
    return shape_of(arguments[1], f"{path}{{}}")


def _tuple_shape(annotation: object, arguments: tuple[typing.Any, ...], path: str) -> Shape:
    if annotation in (tuple, typing.Tuple):  # noqa: UP006
        return Shape("list", tuple, (_ANY,))
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return Shape("list", tuple, (shape_of(arguments[0], f"{path}[]"),))
    return Shape("tuple", items=tuple(shape_of(item, f"{path}[{place}]") for place, item in enumerate(arguments)))


def _dataclass_fields(record: type) -> tuple[Field, ...]:
    hints = _resolved(record, record.__name__)
    for name, hint in hints.items():
        if isinstance(hint, InitVar) or hint is InitVar:
            raise TypeError(f"{record.__name__}.{name}: InitVar is not supported, use a field")
    return tuple(
        Field(
            name=field.name,
            shape=shape_of(hints[field.name], f"{record.__name__}.{field.name}"),
            required=field.default is MISSING and field.default_factory is MISSING,
            default=field.default,
        )
        for field in dataclass_fields(record)
        if field.init
    )


def _typed_dict_fields(record: type) -> tuple[Field, ...]:
    required: frozenset[str] = getattr(record, "__required_keys__", frozenset())
    return tuple(
        Field(name, shape_of(hint, f"{record.__name__}.{name}"), _is_required(hint, name in required), MISSING)
        for name, hint in _resolved(record, record.__name__).items()
    )


def _is_required(hint: typing.Any, otherwise: bool) -> bool:
    """Looks for `Required` and `NotRequired`, which `TypedDict` does not evaluate in string annotations."""
    while True:
        origin = typing.get_origin(hint)
        if origin is typing.Required or origin is typing.NotRequired:
            return origin is typing.Required
        if origin is not typing.Annotated and origin not in _WRAPPERS:
            return otherwise
        hint = hint.__origin__ if origin is typing.Annotated else hint.__args__[0]


def _unsupported(annotation: object, path: str) -> TypeError:
    return TypeError(f"{path}: {_name_of(annotation)} has no JSON form here: use {_SUPPORTED}")


def _name_of(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) and not typing.get_args(annotation) else repr(annotation)
