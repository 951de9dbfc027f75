"""Stands in for `distutils.util`."""

import sysconfig

_TRUE, _FALSE = {"y", "yes", "t", "true", "on", "1"}, {"n", "no", "f", "false", "off", "0"}


def strtobool(val):
    """Returns 1 or 0 for the usual words."""
    val = val.lower()
    if val not in _TRUE | _FALSE:
        raise ValueError(f"invalid truth value {val!r}")
    return int(val in _TRUE)


def get_platform():
    return sysconfig.get_platform()
