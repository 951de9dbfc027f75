"""Serialises the result of `run_tool` to the text of the output."""

from __future__ import annotations

import json
from collections.abc import Iterable


class NoResult(Exception):
    """`run_tool` returned `None`."""

    code = "no-result"

    def __init__(self) -> None:
        super().__init__("run_tool returns nothing: return a string or a JSON value on every path")


class UnserialisableResult(TypeError):
    """`run_tool` returned a value that JSON cannot represent. `path` is its location, `type_name` its type."""

    code = "unserialisable-result"

    def __init__(self, path: str, type_name: str, reason: str) -> None:
        super().__init__(f"{path} ({type_name}) cannot be returned: {reason}")
        self.path = path
        self.type_name = type_name


def serialise(value: object) -> str:
    """Returns a string unchanged, and any other JSON value as compact JSON.

    Dictionary keys are converted to strings as by `json.dumps`. Raises `NoResult` and `UnserialisableResult`.
    """
    if value is None:
        raise NoResult
    text = str(value) if isinstance(value, str) else _to_json(value)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnserialisableResult("result", type(value).__name__, f"it is not valid Unicode: {error.reason}") from None
    return text


# Created once: `json.dumps` with options creates an encoder in each call.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _to_json(value: object) -> str:
    try:
        return _encode(value)
    except RecursionError:
        raise UnserialisableResult("result", type(value).__name__, "it is nested too deeply") from None
    except (TypeError, ValueError) as error:
        culprit = _find_culprit(value, "result", ())
        raise culprit or UnserialisableResult("result", type(value).__name__, str(error)) from None


def _find_culprit(value: object, path: str, above: tuple[int, ...]) -> UnserialisableResult | None:
    """Finds the first value that JSON cannot represent. `above` has the identities of the enclosing containers."""
    type_name = type(value).__name__
    if id(value) in above:
        return UnserialisableResult(path, type_name, "it contains itself")
    if isinstance(value, float):
        finite = value - value == 0.0
        return None if finite else UnserialisableResult(path, type_name, f"{value} is not a JSON number")
    if value is None or isinstance(value, str | int):
        return None
    if isinstance(value, list | tuple):
        return _find_first(((item, f"{path}[{index}]") for index, item in enumerate(value)), (*above, id(value)))
    if isinstance(value, dict):
        return _find_in_dict(value, path, (*above, id(value)))
    return UnserialisableResult(path, type_name, "JSON holds dict, list, str, int, float, bool and None")


def _find_in_dict(value: dict[object, object], path: str, above: tuple[int, ...]) -> UnserialisableResult | None:
    for key in value:
        if key is not None and not isinstance(key, str | int | float):
            return UnserialisableResult(f"{path} key {key!r}", type(key).__name__, "a JSON key is a string")
    return _find_first(((item, f"{path}.{key}") for key, item in value.items()), above)


def _find_first(items: Iterable[tuple[object, str]], above: tuple[int, ...]) -> UnserialisableResult | None:
    found = (_find_culprit(item, path, above) for item, path in items)
    return next((culprit for culprit in found if culprit is not None), None)
