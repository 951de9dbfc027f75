"""Package data from the bundle, for `importlib.resources`."""

import io
from importlib.resources.abc import Traversable, TraversableResources


class Reader(TraversableResources):
    """The data files of a package."""

    def __init__(self, data, directory):
        self._root = Entry(data, directory)

    def files(self):
        return self._root


class Entry(Traversable):
    """A file of the bundle, or a directory that contains one."""

    def __init__(self, data, path):
        self._data, self._path = data, path

    @property
    def name(self):
        return self._path.rpartition("/")[2]

    def is_file(self):
        return self._path in self._data

    def is_dir(self):
        return any(path.startswith(self._path + "/") for path in self._data)

    def iterdir(self):
        start = self._path + "/"
        names = {path[len(start) :].partition("/")[0] for path in self._data if path.startswith(start)}
        return (Entry(self._data, start + name) for name in sorted(names))

    def joinpath(self, *parts):
        names = [name for part in parts for name in str(part).split("/")]
        return Entry(self._data, "/".join([self._path, *names]))

    def open(self, mode="r", *args, **kwargs):
        if not self.is_file():
            raise FileNotFoundError(self._path)
        file = io.BytesIO(self._data[self._path])
        return file if "b" in mode else io.TextIOWrapper(file, *args, **kwargs)
