"""Stands in for `ctypes.wintypes`, which some packages import on every platform."""

import ctypes

BOOLEAN = BYTE = ctypes.c_byte
CHAR, WCHAR = ctypes.c_char, ctypes.c_wchar
WORD, DWORD = ctypes.c_ushort, ctypes.c_ulong
BOOL = LONG = INT = ctypes.c_long
SHORT, USHORT, UINT, ULONG = ctypes.c_short, ctypes.c_ushort, ctypes.c_uint, ctypes.c_ulong
FLOAT, DOUBLE = ctypes.c_float, ctypes.c_double
LPCSTR = LPSTR = ctypes.c_char_p
LPCWSTR = LPWSTR = ctypes.c_wchar_p
HANDLE = HWND = HMODULE = LPVOID = LPCVOID = HKEY = HINSTANCE = ctypes.c_void_p
LPDWORD = PDWORD = ctypes.POINTER(DWORD)


class _COORD(ctypes.Structure):
    _fields_ = [("X", SHORT), ("Y", SHORT)]


class SMALL_RECT(ctypes.Structure):
    _fields_ = [("Left", SHORT), ("Top", SHORT), ("Right", SHORT), ("Bottom", SHORT)]
