"""Stands in for `distutils.spawn`."""

from lathe_runtime.unavailable import PROCESSES, refusal

spawn = refusal(PROCESSES)


def find_executable(executable, path=None):
    """There are no programs."""
    return None
