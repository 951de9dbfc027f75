"""Comparisons, and checks of documents against the types of an SDK."""

import re
from collections.abc import Iterable

from pydantic import BaseModel, TypeAdapter


def expect(found, expected, what):
    """Ends the program when a value is not the expected one."""
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, and not {expected!r}")


def fits(type_, document):
    """Checks that a document is of a type of an SDK, and has no field that the type lacks: types drop these silently."""
    adapter = TypeAdapter(type_)  # Lists are validated while they are read, as long as this exists.
    read = whole(adapter.validate_python(document))
    expect(read, document, "the document without the fields that the SDK does not know")


def whole(value):
    """Returns a validated value as JSON has it."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    if isinstance(value, dict):
        return {name: whole(field) for name, field in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [whole(item) for item in value]


def accepted_name(name):
    """Checks the name of a tool: the types have any text, the APIs refuse others."""
    if not re.fullmatch("[a-zA-Z0-9_-]{1,64}", name):
        raise AssertionError(f"the name {name!r} of a tool")
