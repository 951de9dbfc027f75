"""Metadata of the packages in a bundle, for `importlib.metadata`."""

from importlib.metadata import Distribution, Prepared

_SUFFIX = ".dist-info"


class _Distribution(Distribution):
    def __init__(self, data, directory):
        self._data, self._directory = data, directory

    def read_text(self, filename):
        path = f"{self._directory}/{filename}"
        return self._data[path].decode("utf-8", "replace") if path in self._data else None

    def locate_file(self, path):
        return f"site-packages/{path}"


def find(data, context):
    """The packages that `importlib.metadata` looks for."""
    directories = {path.rpartition("/")[0] for path in data if path.endswith(f"{_SUFFIX}/METADATA")}
    wanted = Prepared(context.name).normalized if context.name else None
    for directory in sorted(directories):
        name = directory.rpartition("/")[2].removesuffix(_SUFFIX).partition("-")[0]
        if wanted in (None, Prepared(name).normalized):
            yield _Distribution(data, directory)
