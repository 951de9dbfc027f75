"""The bundle of the author's code: code objects, compiled at publication and imported in each run.

A bundle is a marshalled dict:
  "entry":   (module, function)
  "modules": name -> (is_package, file name, marshalled code)
  "sources": file name -> source text of the author's own files, for stack traces
  "data":    file name -> bytes of files that are not Python

Code and data of packages, whose file names begin with `site-packages/`, are compressed: most of it is never used.
"""

import io
import linecache
import marshal
import sys
import zlib
from functools import cached_property
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import distributions, files, libraries, resources

PACKAGES = "site-packages/"
# Code is four times smaller, and higher levels take much longer to save a tenth.
_LEVEL = 3


def packed(path, contents):
    """Contents of a file in the form of the bundle."""
    return zlib.compress(contents, _LEVEL) if path.startswith(PACKAGES) else contents


def _unpacked(path, contents):
    return zlib.decompress(contents) if path.startswith(PACKAGES) else contents


def _dotted(directory):
    return str(directory).removeprefix(PACKAGES).replace("/", ".")


def _added():
    """The directories of packages in `sys.path`."""
    entries = map(files.relative, sys.path)
    return [entry for entry in entries if entry and entry.startswith(PACKAGES)]


class _Data(dict):
    def __getitem__(self, path):
        return _unpacked(path, super().__getitem__(path))


class Bundle:
    """A meta path finder and loader for the modules of a bundle."""

    def __init__(self, contents):
        self.entry = contents["entry"]
        self.modules = contents["modules"]
        self.sources = contents["sources"]
        self.data = _Data(contents["data"])

    @cached_property
    def tree(self):
        """The names in each directory."""
        tree = {}
        for path in [*self.data, *(file for _, file, _ in self.modules.values())]:
            while path:
                path, _, name = path.rpartition("/")
                tree.setdefault(path, set()).add(name)
        return tree

    def find_spec(self, name, path=None, target=None):
        # A package may add a directory of its own to `sys.path`, as setuptools does with the packages that it contains.
        directories = _added() if path is None else path
        found = self.modules.get(name) or self._below(directories, name)
        if found is None:
            return self._namespace(name, directories)
        is_package, file, code = found
        spec = ModuleSpec(name, self, origin=file, loader_state=code, is_package=is_package)
        spec.has_location = True
        spec.cached = None
        if is_package:
            spec.submodule_search_locations = [file.rpartition("/")[0]]
        return spec

    def _below(self, path, name):
        """Finds a module in the directories of its package, which may have taken another name (as in setuptools)."""
        tail = name.rpartition(".")[2]
        for directory in path:
            found = self.modules.get(f"{_dotted(directory)}.{tail}")
            if found is not None:
                return found
        return None

    def _namespace(self, name, directories):
        """Finds a directory of modules without `__init__.py`."""
        tail = name.rpartition(".")[2]
        for own in [name, *(f"{_dotted(directory)}.{tail}" for directory in directories)]:
            if any(module.startswith(own + ".") for module in self.modules):
                spec = ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [own.replace(".", "/")]
                return spec
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        spec = module.__spec__
        exec(marshal.loads(_unpacked(spec.origin, spec.loader_state)), module.__dict__)
        libraries.adapt(module)

    def get_data(self, path):
        try:
            return self.data[files.relative(path)]
        except KeyError:
            raise FileNotFoundError(path) from None

    def get_source(self, name):
        found = self.modules.get(name)
        return self.sources.get(found[1]) if found else None

    def get_resource_reader(self, name):
        found = self.modules.get(name)
        return resources.Reader(self.data, found[1].rpartition("/")[0]) if found else None

    def find_distributions(self, context):
        return distributions.find(self.data, context)

    def install(self):
        sys.meta_path.insert(0, self)

    def load(self, name):
        """Imports a module. A single file without a package bypasses the import machinery, which is faster."""
        found = self.modules.get(name)
        if found is None or "." in name or name in sys.modules:
            return import_module(name)
        module = ModuleType(name)
        module.__spec__ = spec = self.find_spec(name)
        module.__loader__ = self
        module.__file__ = found[1]
        module.__package__ = name if found[0] else ""
        if found[0]:
            module.__path__ = spec.submodule_search_locations
        sys.modules[name] = module
        try:
            self.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise
        return sys.modules[name]

    def show_sources(self):
        """Makes the author's source lines available to stack traces."""
        for file, text in self.sources.items():
            # The ends of lines are those of Python: `splitlines` has others, such as U+2028.
            linecache.cache[file] = (len(text), None, io.StringIO(text, newline=None).readlines(), file)


def loads(data):
    return Bundle(marshal.loads(data))


def dumps(entry, modules, sources, data):
    return marshal.dumps({"entry": entry, "modules": modules, "sources": sources, "data": data})
