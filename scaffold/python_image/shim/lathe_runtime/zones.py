"""Time zones of `zoneinfo`: the names of UTC work, and an error for others names the package with the database."""

import importlib.util
import io
import struct
import zoneinfo
from zoneinfo import _common

_UTC = ("UTC", "UCT", "Universal", "Zulu")
_GMT = ("GMT", "GMT+0", "GMT-0", "GMT0", "Greenwich")
# The name of each zone, and its abbreviation.
_NAMES = {prefix + name: short for names in (_UTC, _GMT) for short in names[:1] for name in names for prefix in ("", "Etc/")}

_load, _available = _common.load_tzdata, zoneinfo.available_timezones


def _file(abbreviation):
    """A file of the format TZif (RFC 9636) with one zone and no transitions."""
    counts = struct.pack(">4sc15x6L", b"TZif", b"2", 0, 0, 0, 0, 1, len(abbreviation) + 1)
    block = counts + struct.pack(">lBB", 0, 0, 0) + abbreviation.encode() + b"\0"
    return io.BytesIO(block + block + f"\n{abbreviation}0\n".encode())


def _loaded(key):
    try:
        return _load(key)
    except zoneinfo.ZoneInfoNotFoundError as error:
        if key in _NAMES:
            return _file(_NAMES[key])
        if importlib.util.find_spec("tzdata") is not None:
            raise
        advice = "a tool has no database of time zones besides UTC: add the package tzdata to requirements.lock"
        raise zoneinfo.ZoneInfoNotFoundError(f"{error.args[0]}: {advice}") from None


def install():
    _common.load_tzdata = _loaded
    zoneinfo.available_timezones = lambda: _available() | set(_NAMES)
