"""Keeps the standard library importable without a file system.

A running tool has no file system. Common modules are imported while the image
is built; the compressed code of all others is kept in memory.
"""

import marshal
import os
import sys
import zlib
from importlib.machinery import ModuleSpec

ROOT = "/python"

# Large modules that cannot work in the sandbox.
LEFT_OUT = {
    "test", "tests", "idlelib", "tkinter", "turtledemo", "turtle", "ensurepip",
    "lib2to3", "pydoc_data", "venv", "site-packages", "__pycache__", "_pyrepl",
    "curses", "dbm", "ctypes", "multiprocessing",
}  # fmt: skip

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
amigo_tool_scaffold amigo_tool_scaffold.config amigo_tool_scaffold.conversation
amigo_tool_scaffold.http amigo_tool_scaffold.metadata amigo_tool_scaffold.status amigo_tool_scaffold.user_variables
""".split()

_kept = {}


class _Finder:
    """Finds the kept modules. The last finder of the meta path."""

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


def keep():
    """Imports the common modules and keeps the code of the others."""
    for name in IMPORTED_NOW + SCAFFOLD:
        __import__(name)
    for directory, names, files in os.walk(ROOT):
        names[:] = sorted(name for name in names if name not in LEFT_OUT)
        for file in sorted(files):
            if file.endswith(".py"):
                _keep_file(os.path.join(directory, file))
    # `PathFinder` needs a file system.
    sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__name__", "") != "PathFinder"]
    sys.meta_path.append(_Finder())
    sys.path[:] = []


def _keep_file(path):
    parts = path[len(ROOT) + 1 : -len(".py")].split("/")
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    if name in LEFT_OUT or name in sys.modules:
        return
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec", dont_inherit=True)
    _kept[name] = (is_package, path, zlib.compress(marshal.dumps(code), 9))
