"""Keeps the standard library importable without a file system.

A running tool has no file system. Common modules are imported while the image
is built; the compressed code of all others is kept in memory.
"""

import marshal
import os
import sys
import zlib
from importlib.machinery import ModuleSpec

from .files import NOT_WRITABLE
from .unavailable import PROCESSES, THREADS, refusal

ROOT = "/python"

# Large modules that cannot work in the sandbox.
LEFT_OUT = {
    "test", "tests", "idlelib", "tkinter", "turtledemo", "turtle", "ensurepip",
    "lib2to3", "pydoc_data", "venv", "site-packages", "__pycache__", "_pyrepl",
    "curses", "dbm", "ctypes",
}  # fmt: skip

# Modules that import, and fail with a reason when they are used.
STAND_INS = os.path.join(os.path.dirname(__file__), "stand_ins")

IMPORTED_NOW = """
abc annotationlib argparse array ast asyncio base64 binascii bisect calendar cmath codecs collections
collections.abc colorsys configparser contextlib contextvars copy copyreg csv dataclasses
datetime decimal difflib email email.message email.mime.text email.utils encodings.ascii
encodings.idna encodings.latin_1 encodings.utf_16 encodings.utf_8_sig enum errno fnmatch
fractions functools gzip hashlib heapq hmac html html.parser http http.client http.cookies
importlib importlib.metadata importlib.resources inspect io ipaddress itertools json keyword
linecache locale logging math mimetypes numbers operator os pathlib pickle pkgutil platform
posixpath pprint queue random re reprlib secrets shlex socket stat statistics string struct
tempfile textwrap threading time timeit token tokenize traceback types typing unicodedata
urllib urllib.error urllib.parse urllib.request uuid warnings weakref xml xml.dom
xml.etree.ElementTree zipfile zlib zoneinfo
""".split()

# Modules of the scaffold package that tools import.
SCAFFOLD = """
amigo_tool_scaffold amigo_tool_scaffold.config amigo_tool_scaffold.content amigo_tool_scaffold.conversation
amigo_tool_scaffold.http amigo_tool_scaffold.interaction amigo_tool_scaffold.log amigo_tool_scaffold.metadata amigo_tool_scaffold.status amigo_tool_scaffold.tools
amigo_tool_scaffold.user_variables
""".split()

_kept = {}


class _Finder:
    """Finds the kept modules, after those of bundles."""

    def find_spec(self, name, path=None, target=None):
        found = _kept.get(name)
        if found is None:
            return None
        spec = ModuleSpec(name, self, origin=found[1], is_package=found[0])
        spec.has_location = True
        spec.cached = None
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        code = zlib.decompress(_kept[module.__spec__.name][2])
        exec(marshal.loads(code), module.__dict__)
        if module.__name__ == "multiprocessing.process":
            module.BaseProcess.start = refusal(PROCESSES)


_finder = _Finder()


def stand_in():
    """Provides the modules that stand in for native ones, before other modules look for them."""
    _keep_below(STAND_INS, ())
    sys.meta_path.insert(0, _finder)
    for name in ("getuid", "geteuid", "getgid", "getegid"):
        setattr(os, name, lambda: NOBODY)
    os.cpu_count = os.process_cpu_count = lambda: 1


# The user that owns nothing on a Unix system.
NOBODY = 65534


def keep():
    """Imports the common modules and keeps the code of all."""
    for name in IMPORTED_NOW + SCAFFOLD:
        __import__(name)
    refuse()
    _keep_below(ROOT, LEFT_OUT)
    # `PathFinder` needs a file system.
    sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__name__", "") != "PathFinder"]
    sys.path[:] = []
    # Some packages load a second copy of a module.
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and spec.name in _kept and str(spec.origin).startswith(ROOT):
            spec.loader = module.__loader__ = _finder


def refuse():
    """Gives functions that need a system a reason for their failure."""
    import tempfile
    import threading

    threading._start_joinable_thread = threading._start_new_thread = refusal(THREADS, RuntimeError)
    tempfile._get_default_tempdir = refusal(NOT_WRITABLE, FileNotFoundError)


def _keep_below(root, left_out):
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in left_out)
        for file in sorted(files):
            if file.endswith(".py") and file.removesuffix(".py") not in left_out:
                _keep_file(root, os.path.join(directory, file))


def _keep_file(root, path):
    parts = path[len(root) + 1 : -len(".py")].split("/")
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    if name in _kept:
        return  # the module that stands in for it
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec", dont_inherit=True)
    _kept[name] = (is_package, path, zlib.compress(marshal.dumps(code), 9))
