"""Dispatches a call to the function of the API that the input names."""

from importlib import import_module

from amigo_tool_scaffold.convert import convert_input

# Module and function of each API.
_FUNCTIONS = {}


def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):
    module, name = _FUNCTIONS[tool_input["api"]]
    function = getattr(import_module(module), name)
    arguments = convert_input(function, tool_input["arguments"])
    return function(arguments, metadata, config, conversation, send_status_event, user_variables)


# Stack traces have no frames of the interpreter's own files.
run_tool.__code__ = run_tool.__code__.replace(co_filename="/bundled/lathe_apis.py")
