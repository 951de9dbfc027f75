"""Stands in for the native module of `lzma`, which imports and cannot compress."""

from lathe_runtime.unavailable import refusal, refusing

_REASON = "a tool has no LZMA: the sandbox loads no native modules; use zlib or gzip"

# The values of liblzma.
CHECK_NONE, CHECK_CRC32, CHECK_CRC64, CHECK_SHA256, CHECK_ID_MAX, CHECK_UNKNOWN = 0, 1, 4, 10, 15, 16
FILTER_DELTA, FILTER_X86, FILTER_POWERPC, FILTER_IA64, FILTER_ARM, FILTER_ARMTHUMB, FILTER_SPARC = range(3, 10)
FILTER_LZMA1, FILTER_LZMA2 = 0x4000000000000001, 0x21
FORMAT_AUTO, FORMAT_XZ, FORMAT_ALONE, FORMAT_RAW = range(4)
MF_HC3, MF_HC4, MF_BT2, MF_BT3, MF_BT4 = 3, 4, 18, 19, 20
MODE_FAST, MODE_NORMAL = 1, 2
PRESET_DEFAULT, PRESET_EXTREME = 6, 1 << 31


class LZMAError(Exception):
    pass


LZMACompressor = refusing("LZMACompressor", _REASON)
LZMADecompressor = refusing("LZMADecompressor", _REASON)
_encode_filter_properties = _decode_filter_properties = refusal(_REASON)


def is_check_supported(check_id):
    return False
