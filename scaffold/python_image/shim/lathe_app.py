"""The component's exports. The host calls `run_tool`; the builder calls `compile` and `check`.

The import of `packages` keeps the module in the image, for the code that the builder runs.
"""

# First, since other modules keep references to functions that read files, and look for native modules.
from lathe_runtime import files, stdlib

files.install()
stdlib.stand_in()

import wit_world
from componentize_py_types import Err
from lathe_runtime import compiler as _compiler
from lathe_runtime import asked, network, packages, result_content, run, sent_logs, tool_calls, warm, zones
from wit_world.imports import bundle, compiler, content, http, interaction, log, status, tools, types

network.install(http)
result_content.install(content)
sent_logs.install(log)
asked.install(interaction)
tool_calls.install(tools)
zones.install()


class WitWorld(wit_world.WitWorld):
    def run_tool(self, context: types.Context) -> str:
        try:
            return run.run_tool(bundle.load(), context, status.send)
        except BaseException as error:  # an exception would become a trap
            kind, message, trace = run.describe(error)
            raise Err(types.ToolError(kind, message, trace))

    def compile(self, project: compiler.Project) -> bytes:
        return _checked(_compiler.compile_project, project)

    def check(self, bundle: bytes, derive_schema: bool) -> str | None:
        return _checked(_compiler.check, bundle, derive_schema)


def _checked(work, *arguments):
    try:
        return work(*arguments)
    except _compiler.CheckFailed as error:
        raise Err(compiler.CompileError(error.check, str(error), error.file, error.line))
    except BaseException as error:  # an exception would become a trap
        kind, message, _ = run.describe(error)
        raise Err(compiler.CompileError("interpreter", f"{kind}: {message}", None, None))


stdlib.keep()
warm.up(types.Context)
_compiler.keep_names()
warm.make_room()
