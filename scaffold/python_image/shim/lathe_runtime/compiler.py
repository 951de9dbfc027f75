"""Turns a project's sources into a bundle, and names the check that fails."""

import json
import marshal
import traceback

from amigo_tool_scaffold.entry_point import EntryPointError, check_entry_point
from amigo_tool_scaffold.schema import input_schema

from . import bundle, run

# Where a project keeps its packages, besides its root.
SOURCE_ROOTS = ("src/",)

# Author files that are no part of the running tool.
NOT_SHIPPED = ("tests/", "test/", "checks/", "mocks/", ".")


class CheckFailed(Exception):
    def __init__(self, check, message, file=None, line=None):
        super().__init__(message)
        self.check, self.file, self.line = check, file, line


def compile_project(project):
    """Returns the bundle's bytes and the derived schema's text, or None."""
    modules, sources, data = {}, {}, {}
    for dependency in project.dependencies:
        _add(modules, data, dependency, "site-packages/")
    for file in project.files:
        if not file.path.startswith(NOT_SHIPPED):
            _add(modules, data, file, "", sources)
    module, _, name = project.entry_point.partition(":")
    made = bundle.dumps((module, name), modules, sources, data)
    function = _entry_point(made, module, name)
    schema = _schema(function) if project.derive_schema else None
    return made, schema


def _add(modules, data, file, prefix, sources=None):
    path = prefix + file.path
    if not file.path.endswith(".py"):
        data[path] = file.contents
        return
    relative = file.path
    for root in SOURCE_ROOTS:
        if sources is not None and relative.startswith(root):
            relative = relative[len(root) :]
    parts = relative[: -len(".py")].split("/")
    is_package = parts[-1] == "__init__"
    if is_package:
        parts.pop()
    if not parts or not all(part.isidentifier() for part in parts):
        return  # a script with a name that cannot be imported
    try:
        code = compile(file.contents, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        if sources is None:
            return  # a dependency's template or Python 2 leftover fails when imported
        raise CheckFailed("syntax", error.msg, path, error.lineno) from None
    except ValueError as error:
        raise CheckFailed("syntax", str(error), path) from None
    modules[".".join(parts)] = (is_package, path, marshal.dumps(code))
    if sources is not None:
        sources[path] = file.contents.decode("utf-8", "replace")


def _entry_point(made, module, name):
    loaded = run._running = bundle.loads(made)
    loaded.install()
    if module not in loaded.modules:
        raise CheckFailed(
            "entry-point", f"there is no module {module!r} in the project; set entry_point"
        )
    try:
        function = loaded.load(module)
    except BaseException as error:
        raise _import_failure(error, loaded) from None
    for part in name.split("."):
        function = getattr(function, part, None)
    file = loaded.modules[module][1]
    if not callable(function):
        raise CheckFailed("entry-point", f"{module} defines no function {name!r}", file)
    try:
        check_entry_point(function, name)
    except EntryPointError as error:
        raise CheckFailed(error.code, error.message, error.file or file, error.line) from None
    return function


def _import_failure(error, loaded):
    file, line = _authors_place(error, loaded)
    kind, message, _ = run.describe(error)
    if isinstance(error, ModuleNotFoundError):
        message = (
            f"cannot import {error.name!r}: it is neither in the project, nor in its lock file, "
            "nor a pure-Python module of the standard library"
        )
    return CheckFailed("import", f"{kind}: {message}", file, line)


def _authors_place(error, loaded):
    """The innermost frame in the author's own files."""
    place = (None, None)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename in loaded.sources:
            place = (frame.filename, frame.lineno)
    return place


def _schema(function):
    try:
        return json.dumps(input_schema(function), ensure_ascii=False)
    except Exception as error:
        raise CheckFailed("input-schema", str(error)) from None
