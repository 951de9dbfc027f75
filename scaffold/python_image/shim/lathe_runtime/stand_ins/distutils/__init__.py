"""Stands in for `distutils`, which Python 3.12 removed: the parts that packages use outside of installations."""
