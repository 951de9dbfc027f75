"""The bundle of the author's code: code objects, compiled at publication and imported in each run.

A bundle is a marshalled dict:
  "entry":   (module, function)
  "modules": name -> (is_package, file name, marshalled code)
  "sources": file name -> source text of the author's own files, for stack traces
  "data":    file name -> bytes of files that are not Python
"""

import linecache
import marshal
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import libraries, resources


class Bundle:
    """A meta path finder and loader for the modules of a bundle."""

    def __init__(self, contents):
        self.entry = contents["entry"]
        self.modules = contents["modules"]
        self.sources = contents["sources"]
        self.data = contents["data"]

    def find_spec(self, name, path=None, target=None):
        found = self.modules.get(name)
        if found is None:
            return self._namespace(name)
        is_package, file, _ = found
        spec = ModuleSpec(name, self, origin=file, is_package=is_package)
        spec.has_location = True
        spec.cached = None
        if is_package:
            spec.submodule_search_locations = [file.rpartition("/")[0]]
        return spec

    def _namespace(self, name):
        """Finds a directory of modules without `__init__.py`."""
        start = name + "."
        if not any(module.startswith(start) for module in self.modules):
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [name.replace(".", "/")]
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(marshal.loads(self.modules[module.__spec__.name][2]), module.__dict__)
        libraries.adapt(module)

    def get_data(self, path):
        try:
            return self.data[path]
        except KeyError:
            raise FileNotFoundError(path) from None

    def get_source(self, name):
        found = self.modules.get(name)
        return self.sources.get(found[1]) if found else None

    def get_resource_reader(self, name):
        return resources.Reader(self.data, self.modules[name][1].rpartition("/")[0])

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
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)


def loads(data):
    return Bundle(marshal.loads(data))


def dumps(entry, modules, sources, data):
    return marshal.dumps({"entry": entry, "modules": modules, "sources": sources, "data": data})
