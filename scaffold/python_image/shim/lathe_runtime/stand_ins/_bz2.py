"""Stands in for the native module of `bz2`, which imports and cannot compress."""

from lathe_runtime.unavailable import refusing

_REASON = "a tool has no bzip2: the sandbox loads no native modules; use zlib or gzip"

BZ2Compressor = refusing("BZ2Compressor", _REASON)
BZ2Decompressor = refusing("BZ2Decompressor", _REASON)
