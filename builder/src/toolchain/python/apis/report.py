"""Reports the functions of the modules with APIs, and the schemas of their arguments. Runs at the build only.

The report is the description of the input of `run_tool`, from which the interpreter derives a schema.
"""

import json
from importlib import import_module
from inspect import isfunction
from typing import Annotated

from amigo_tool_scaffold.entry_point import EntryPointError, check_entry_point
from amigo_tool_scaffold.schema import input_schema
from lathe_runtime import run

# Module and function of each API.
_FUNCTIONS = {}
# The APIs whose schemas are files.
_DESCRIBED = []


class _Refused(EntryPointError):
    def __init__(self, code, message, file):
        super().__init__(message, file)
        self.code = code


def _file_of(module):
    found = run._running.modules.get(module)
    if found is None:
        raise _Refused("entry-point", f"there is no module {module!r} in the project; set entry_point", "pyproject.toml")
    return found[1]


def _exports(module, declared):
    """The functions that a module exports: those of `__all__`, or its own ones without an underscore."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [name for name in listed if _is_function(module, name)]
    own = [name for name, value in vars(module).items() if _is_own(module, name, value)]
    # A decorator may have made another kind of object of a function.
    return [*own, *(name for name in declared if name not in own and callable(getattr(module, name, None)))]


def _is_function(module, name):
    value = getattr(module, name, None)
    return callable(value) and not isinstance(value, type)


def _is_own(module, name, value):
    return not name.startswith("_") and isfunction(value) and value.__module__ == module.__name__


def _schema(name, function):
    try:
        return input_schema(function)
    except Exception as error:
        file = function.__code__.co_filename if isfunction(function) else None
        raise _Refused("input-schema", f"{name}: {type(error).__name__}: {error}", file) from None


def _report():
    modules, schemas = {}, {}
    for module in {module for module, _ in _FUNCTIONS.values()}:
        file, declared = _file_of(module), [name for of, name in _FUNCTIONS.values() if of == module]
        modules[module] = {"file": file, "functions": _exports(import_module(module), declared)}
    for api, (module, name) in _FUNCTIONS.items():
        function = getattr(import_module(module), name, None)
        if function is None or name not in modules[module]["functions"]:
            continue  # The builder refuses the project.
        try:
            check_entry_point(function, name)
        except EntryPointError as error:
            error.file = error.file or modules[module]["file"]
            raise
        if api not in _DESCRIBED:
            schemas[api] = _schema(name, function)
    return json.dumps({"modules": modules, "schemas": schemas})


_REPORT = _report()


def run_tool(tool_input: Annotated[dict, _REPORT], metadata, config, conversation, send_status_event, user_variables): ...
