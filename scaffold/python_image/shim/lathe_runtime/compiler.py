"""Compiles a project's sources to a bundle, and checks the entry point."""

import io
import json
import marshal
import sys
import tokenize
import traceback
import unicodedata

from amigo_tool_scaffold.entry_point import EntryPointError, check_entry_point
from amigo_tool_scaffold.schema import input_schema

from . import bundle, run

# Directories of a project's packages, besides its root.
SOURCE_ROOTS = ("src/",)

# The file that imports packages for a snapshot.
PRELOAD = "lathe_preload.py"

# Files of the project that are not part of the bundle.
NOT_SHIPPED = ("tests/", "test/", "checks/", "mocks/", ".")


class CheckFailed(Exception):
    def __init__(self, check, message, file=None, line=None):
        super().__init__(message)
        self.check, self.file, self.line = check, file, line


_interpreters_names = set()


def keep_names():
    """Records the names of the interpreter's own modules, which take precedence over the author's."""
    _interpreters_names.update(name.partition(".")[0] for name in sys.modules)


def compile_project(project):
    """Returns the bytes of the bundle. Does not run the author's code."""
    modules, sources, data = {}, {}, {}
    for dependency in project.dependencies:
        _add(modules, data, dependency, bundle.PACKAGES)
    for file in project.files:
        if not file.path.startswith(NOT_SHIPPED):
            _add(modules, data, file, "", sources)
    module, _, name = _identifier(project.entry_point).partition(":")
    return bundle.dumps((module, name), modules, sources, data)


def check(made, derive_schema):
    """Imports the entry point and checks it. Returns the derived schema as text if `derive_schema` is set.

    The author's code runs here, but the bundle is already made: the code cannot change what is published.
    """
    loaded = run._running = bundle.loads(made)
    loaded.install()
    function = _entry_point(loaded)
    return _schema(function) if derive_schema else None


def _add(modules, data, file, prefix, sources=None):
    path = prefix + file.path
    if not file.path.endswith(".py"):
        data[path] = bundle.packed(path, file.contents)
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
        return  # a script whose name is not a valid module name
    try:
        code = compile(file.contents, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        if sources is None:
            return  # files of dependencies may be templates or Python 2; an import of them fails
        raise CheckFailed("syntax", error.msg, path, error.lineno) from None
    except ValueError as error:
        raise CheckFailed("syntax", str(error), path) from None
    if sources is not None and parts[0] in _interpreters_names:
        message = f"the interpreter already has a module {parts[0]!r}; choose another name"
        raise CheckFailed("module-name", message, path)
    modules[_identifier(".".join(parts))] = (is_package, path, bundle.packed(path, marshal.dumps(code)))
    if sources is not None:
        sources[path], is_exact = _text(file.contents)
        if not is_exact:
            data[path] = file.contents


def _identifier(name):
    """A name in the form in which the interpreter looks for it (PEP 3131)."""
    return unicodedata.normalize("NFKC", name)


def _text(contents):
    """The text of a source, and whether it is the contents in UTF-8. A comment may name another encoding."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(contents).readline)
    return contents.decode(encoding, "replace"), encoding == "utf-8"


def _entry_point(loaded):
    module, name = loaded.entry
    if module not in loaded.modules:
        raise CheckFailed(
            "entry-point", f"there is no module {module!r} in the project; set entry_point"
        )
    file = loaded.modules[module][1]
    try:
        function = loaded.load(module)
        for part in name.split("."):
            function = getattr(function, part, None)
        if not callable(function):
            raise CheckFailed("entry-point", f"{module} defines no function {name!r}", file)
        check_entry_point(function, name)
    except CheckFailed:
        raise
    except EntryPointError as error:
        raise CheckFailed(error.code, error.message, error.file or file, error.line) from None
    except BaseException as error:
        raise _import_failure(error, loaded) from None
    return function


def _import_failure(error, loaded):
    file, line = _authors_place(error, loaded)
    chain = _import_chain(error, loaded)
    if chain:
        error = _first_import(error)
    kind, message, _ = run.describe(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        message = (
            f"cannot import {error.name!r}{chain}: it is neither in the project, nor in its lock file, "
            "nor a pure-Python module of the standard library"
        )
    else:
        message += chain
    return CheckFailed("import", f"{kind}: {message}", file, line)


def _first_import(error):
    """The failed import that a package answers with advice of its own, as numpy does."""
    while isinstance(error, ImportError) and isinstance(error.__cause__, ImportError):
        error = error.__cause__
    return error


# Modules of a long chain that are shown at each end.
CHAIN_ENDS = 2


def _import_chain(error, loaded):
    """The imports that led to an error, as ` (tool.py:1 → jwt → … → ssl → _ssl)`. Empty without a package."""
    place, names = [], []
    for frame, line in traceback.walk_tb(error.__traceback__):
        file, name = frame.f_code.co_filename, frame.f_globals.get("__name__")
        if file in loaded.sources and file != PRELOAD:
            place, names = [f"{file}:{line}"], []
        elif frame.f_code.co_name == "<module>" and file not in loaded.sources and name not in names:
            names.append(name)
    if not names:
        return ""
    first = _first_import(error)
    if isinstance(first, ImportError) and first.name and first.name not in names:
        names.append(first.name)
    if len(names) > 2 * CHAIN_ENDS:
        names[CHAIN_ENDS:-CHAIN_ENDS] = ["…"]
    return f" ({' → '.join(place + names)})"


def _authors_place(error, loaded):
    """Returns file and line of the innermost frame in the author's own files."""
    place = (None, None)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename in loaded.sources:
            place = (frame.filename, frame.lineno)
    return place


def _schema(function):
    try:
        return json.dumps(input_schema(function), ensure_ascii=False)
    except BaseException as error:
        raise CheckFailed("input-schema", f"{type(error).__name__}: {error}") from None
