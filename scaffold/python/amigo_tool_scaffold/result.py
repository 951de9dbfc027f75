"""Serialises the result of `run_tool` to the text of the output, and other values that leave a tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable


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
        self.reason = reason


def serialise(value: object) -> str:
    """Returns a string unchanged, and any other JSON value as compact JSON.

    Dictionary keys are converted to strings as by `json.dumps`. Raises `NoResult` and `UnserialisableResult`.
    """
    if value is None:
        raise NoResult
    if isinstance(value, str):
        text = str(value)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise _not_unicode("result", value, error) from None
        return text
    return to_json(value, "result", _encode)


def json_argument(function: str, name: str, value: object) -> str:
    """Returns an argument as JSON. Raises `TypeError` with the place of a value that JSON would drop or change."""
    try:
        return to_json(value, name, _encode_argument)
    except UnserialisableResult as refused:
        place = f"{refused.path} ({refused.type_name}): {refused.reason}"
        raise TypeError(f"{function}{name} must be a JSON value: {place}") from None


# Created once: `json.dumps` with options creates an encoder in each call.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_argument = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def to_json(value: object, root: str, encode: Callable[[object], str]) -> str:
    """Returns a value as JSON, or raises `UnserialisableResult` with the place of what JSON cannot represent."""
    try:
        text = encode(value)
        text.encode()
        if not _has_equal_names(text):
            return text
        reason = "two keys have the same JSON name"
    except RecursionError:
        raise UnserialisableResult(root, type(value).__name__, "it is nested too deeply") from None
    except UnicodeEncodeError as error:
        reason = f"it is not valid Unicode: {error.reason}"
    except (TypeError, ValueError) as error:
        reason = str(error)
    try:
        culprit = _find_culprit(value, root, ())
    except RecursionError:
        culprit = None
    raise culprit or UnserialisableResult(root, type(value).__name__, reason)


def _has_equal_names(text: str) -> bool:
    """Whether an object has two members of one name, of which readers keep one: `1` and `"1"` are two keys of a dict."""
    found = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal found
        found = found or len({name for name, _ in pairs}) != len(pairs)

    if '":' in text:
        json.loads(text, object_pairs_hook=look)
    return found


def _not_unicode(path: str, value: object, error: UnicodeEncodeError) -> UnserialisableResult:
    return UnserialisableResult(path, type(value).__name__, f"it is not valid Unicode: {error.reason}")


def _find_culprit(value: object, path: str, above: tuple[int, ...]) -> UnserialisableResult | None:
    """Finds the first value that JSON cannot represent. `above` has the identities of the enclosing containers."""
    type_name = type(value).__name__
    if id(value) in above:
        return UnserialisableResult(path, type_name, "it contains itself")
    if isinstance(value, float):
        finite = value - value == 0.0
        return None if finite else UnserialisableResult(path, type_name, f"{value} is not a JSON number")
    if value is None or isinstance(value, str | int):
        return _find_in_scalar(value, path)
    if isinstance(value, list | tuple):
        return _find_first(((item, f"{path}[{index}]") for index, item in enumerate(value)), (*above, id(value)))
    if isinstance(value, dict):
        return _find_in_dict(value, path, (*above, id(value)))
    return UnserialisableResult(path, type_name, "JSON holds dict, list, str, int, float, bool and None")


def _find_in_scalar(value: str | int | None, path: str) -> UnserialisableResult | None:
    try:
        str(value).encode()
    except UnicodeEncodeError as error:
        return _not_unicode(path, value, error)
    except ValueError as error:
        return UnserialisableResult(path, type(value).__name__, str(error))
    return None


def _find_in_dict(value: dict[object, object], path: str, above: tuple[int, ...]) -> UnserialisableResult | None:
    names: set[str] = set()
    for key in value:
        if key is not None and not isinstance(key, str | int | float):
            return UnserialisableResult(f"{path} key {key!r}", type(key).__name__, "a JSON key is a string")
        culprit = _find_culprit(key, f"{path} key {key!r}", above)
        if culprit is not None:
            return culprit
        name = key if isinstance(key, str) else _encode(key)
        if name in names:
            return UnserialisableResult(f"{path} key {key!r}", type(key).__name__, f"two keys have the JSON name {name!r}")
        names.add(name)
    return _find_first(((item, f"{path}.{key}") for key, item in value.items()), above)


def _find_first(items: Iterable[tuple[object, str]], above: tuple[int, ...]) -> UnserialisableResult | None:
    found = (_find_culprit(item, path, above) for item, path in items)
    return next((culprit for culprit in found if culprit is not None), None)
