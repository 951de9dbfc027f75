"""The author's code as a bundle: code objects made at publish, imported at run.

A bundle is a marshalled dict:
  "entry":   (module, function)
  "modules": name -> (is_package, file name, marshalled code)
  "sources": file name -> source text of the author's own files, for stack traces
  "data":    file name -> bytes of files that are not Python
"""

import linecache
import marshal
import sys
from importlib.machinery import ModuleSpec


class Bundle:
    """A meta path finder and loader over the modules of one bundle."""

    def __init__(self, contents):
        self.entry = contents["entry"]
        self.modules = contents["modules"]
        self.sources = contents["sources"]
        self.data = contents["data"]

    def find_spec(self, name, path=None, target=None):
        found = self.modules.get(name)
        if found is None:
            return None
        is_package, file, _ = found
        spec = ModuleSpec(name, self, origin=file, is_package=is_package)
        spec.has_location = True
        spec.cached = None
        if is_package:
            spec.submodule_search_locations = [file.rpartition("/")[0]]
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(marshal.loads(self.modules[module.__spec__.name][2]), module.__dict__)

    def get_data(self, path):
        try:
            return self.data[path]
        except KeyError:
            raise FileNotFoundError(path) from None

    def get_source(self, name):
        found = self.modules.get(name)
        return self.sources.get(found[1]) if found else None

    def install(self):
        sys.meta_path.insert(0, self)

    def show_sources(self):
        """Lets stack traces quote the author's lines."""
        for file, text in self.sources.items():
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)


def loads(data):
    return Bundle(marshal.loads(data))


def dumps(entry, modules, sources, data):
    return marshal.dumps({"entry": entry, "modules": modules, "sources": sources, "data": data})
