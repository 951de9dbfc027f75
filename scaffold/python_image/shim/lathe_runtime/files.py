"""Data files of the project and of its packages, for code that opens them by path. They can be read and not changed.

The current directory is the root. It contains the project's files, and those of packages below `site-packages`, without
the sources of packages.
"""

import builtins
import contextlib
import errno
import io
import os
import stat
import sys
import unicodedata

_open, _stat, _lstat, _listdir, _scandir, _access = io.open, os.stat, os.lstat, os.listdir, os.scandir, os.access

_READ_ONLY = {"r", "rb", "rt", "br", "tr"}

NOT_WRITABLE = "a tool cannot write files: keep the contents in memory, as in io.BytesIO"
NO_SOURCE = "the sandbox has the code of the modules of packages, and not their sources"


def relative(path):
    """The path from the root, or `None` for a file descriptor."""
    if isinstance(path, int):
        return None
    path = os.path.normpath(os.path.join("/", os.fsdecode(path)))
    # The names of the bundle are composed.
    return path.lstrip("/") if path.isascii() else unicodedata.normalize("NFC", path).lstrip("/")


def _bundles():
    return [finder for finder in sys.meta_path if hasattr(type(finder), "tree")]


def _contents(path):
    """The bytes of a file, or `None`."""
    path = relative(path)
    for bundle in _bundles():
        if path in bundle.data:
            return bundle.data[path]
        if path in bundle.sources:
            return bundle.sources[path].encode()
    return None


def _children(path):
    """The sorted names in a directory, or `None`."""
    path = relative(path)
    found = [bundle.tree[path] for bundle in _bundles() if path in bundle.tree]
    return sorted(set().union(*found)) if found else None


def _is_module(path):
    """Whether a path is that of a module. Of packages, a bundle has the code and no sources."""
    path = relative(path)
    parent, _, name = (path or "").rpartition("/")
    return any(name in bundle.tree.get(parent, ()) for bundle in _bundles())


class _File(io.BytesIO):
    name = ""


def _opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    if isinstance(file, int):
        return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    if mode not in _READ_ONLY:
        # Checks the arguments first, and opens nothing, since there is no file system.
        with contextlib.suppress(OSError):
            return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raise OSError(errno.EROFS, NOT_WRITABLE, os.fsdecode(file))
    contents = _contents(file)
    if contents is None:
        if _children(file) is not None:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fsdecode(file))
        if _is_module(file):
            raise FileNotFoundError(errno.ENOENT, NO_SOURCE, os.fsdecode(file))
        return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    raw = _File(contents)
    raw.name = file
    return raw if "b" in mode else io.TextIOWrapper(raw, encoding or "utf-8", errors, newline)


def _status(path):
    """The status of a file or directory of a bundle, or `None`."""
    if _children(path) is not None:
        kind, size = stat.S_IFDIR | 0o555, 0
    elif (contents := _contents(path)) is not None or _is_module(path):
        kind, size = stat.S_IFREG | 0o444, len(contents or b"")
    else:
        return None
    return os.stat_result((kind, 0, 0, 1, 0, 0, size, 0, 0, 0))


def _stat_of(path, *, dir_fd=None, follow_symlinks=True):
    return _status(path) or _stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)


def _lstat_of(path, *, dir_fd=None):
    return _status(path) or _lstat(path, dir_fd=dir_fd)


def _access_of(path, mode, **options):
    return not mode & os.W_OK if _status(path) else _access(path, mode, **options)


def _names(path="."):
    names = _children(path)
    return _listdir(path) if names is None else names


class _Entry:
    """An entry of `os.scandir`."""

    def __init__(self, directory, name):
        self.name, self.path = name, os.path.join(directory, name)

    def __fspath__(self):
        return self.path

    def inode(self):
        return 0

    def is_dir(self, *, follow_symlinks=True):
        return _children(self.path) is not None

    def is_file(self, *, follow_symlinks=True):
        return not self.is_dir()

    def is_symlink(self):
        return False

    def is_junction(self):
        return False

    def stat(self, *, follow_symlinks=True):
        return _stat_of(self.path)


class _Entries:
    """The iterator of `os.scandir`."""

    def __init__(self, directory, names):
        self._entries = (_Entry(os.fspath(directory), name) for name in names)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self._entries = iter(())


def _scanned(path="."):
    names = _children(path)
    return _scandir(path) if names is None else _Entries(path, names)


class _PathEntry:
    """The modules of a directory, for `pkgutil.iter_modules`."""

    def __init__(self, path):
        if _children(path) is None:
            raise ImportError("only directories of bundles are supported", path=path)
        self._path = path

    def find_spec(self, name, target=None):
        return None

    def iter_modules(self, prefix=""):
        for name in _children(self._path):
            if "__init__.py" in (_children(f"{self._path}/{name}") or ()):
                yield prefix + name, True
            elif name.endswith(".py") and name != "__init__.py":
                yield prefix + name[: -len(".py")], False


class _Function:
    """A function that does not become a method in a class, as those that it replaces."""

    def __init__(self, function):
        self._function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def install():
    """Replaces the functions that read files, before other modules keep references to them."""
    builtins.open = io.open = _Function(_opened)
    os.stat, os.lstat, os.access = map(_Function, (_stat_of, _lstat_of, _access_of))
    os.listdir, os.scandir = map(_Function, (_names, _scanned))
    sys.path_hooks.append(_PathEntry)
