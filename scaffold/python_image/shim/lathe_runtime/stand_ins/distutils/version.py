"""Stands in for `distutils.version`: versions that are compared part by part."""

import functools
import re


@functools.total_ordering
class Version:
    def __init__(self, vstring=None):
        if vstring:
            self.parse(vstring)

    def __repr__(self):
        return f"{type(self).__name__} ('{self}')"

    def __str__(self):
        return self.vstring

    def _key(self):
        return self.version

    def _other(self, other):
        return type(self)(other) if isinstance(other, str) else other

    def __eq__(self, other):
        other = self._other(other)
        return self._key() == other._key() if isinstance(other, Version) else NotImplemented

    def __lt__(self, other):
        other = self._other(other)
        return self._key() < other._key() if isinstance(other, Version) else NotImplemented

    __hash__ = None


class LooseVersion(Version):
    """Numbers and words, in the order in which they stand."""

    component_re = re.compile(r"(\d+|[a-z]+|\.)", re.VERBOSE)

    def parse(self, vstring):
        self.vstring = vstring
        parts = [part for part in self.component_re.split(vstring) if part and part != "."]
        self.version = [int(part) if part.isdigit() else part for part in parts]


class StrictVersion(Version):
    """Two or three numbers, and perhaps a letter and a number of a prerelease."""

    version_re = re.compile(r"^(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?$")

    def parse(self, vstring):
        match = self.version_re.match(vstring)
        if not match:
            raise ValueError(f"invalid version number {vstring!r}")
        major, minor, patch, letter, number = match.groups()
        self.vstring = vstring
        self.version = (int(major), int(minor), int(patch or 0))
        self.prerelease = (letter, int(number)) if letter else None

    def _key(self):
        return self.version, self.prerelease is None, self.prerelease or ()
