"""Stands in for `ctypes.util`."""


def find_library(name):
    """There are no native libraries."""
    return None
