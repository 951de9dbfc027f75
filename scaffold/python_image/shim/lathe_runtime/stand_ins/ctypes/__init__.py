"""Stands in for `ctypes`: types can be declared, and no library can be loaded."""

from lathe_runtime.unavailable import refusal

_REASON = "a tool has no ctypes: the sandbox loads no native libraries"

DEFAULT_MODE = RTLD_LOCAL = 0
RTLD_GLOBAL = 256
__version__ = "1.1.0"


class ArgumentError(Exception):
    pass


class _Meta(type):
    """Arrays are written `c_char * 3`."""

    def __mul__(cls, length):
        return type(f"{cls.__name__}_Array_{length}", (Array,), {"_type_": cls, "_length_": length})

    __rmul__ = __mul__


class _Data(metaclass=_Meta):
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(_REASON)

    from_buffer = from_buffer_copy = from_address = in_dll = classmethod(refusal(_REASON))

    @classmethod
    def from_param(cls, value):
        return value


class _SimpleCData(_Data):
    def __init__(self, value=None):
        self.value = 0 if value is None else value

    def __repr__(self):
        return f"{type(self).__name__}({self.value!r})"


class Structure(_Data):
    pass


class Union(_Data):
    pass


class Array(_Data):
    pass


class _Pointer(_Data):
    pass


class _CFuncPtr(_Data):
    pass


BigEndianStructure = LittleEndianStructure = Structure
BigEndianUnion = LittleEndianUnion = Union

# Bytes of the simple types in WebAssembly with 32-bit pointers.
_SIZES = {
    1: "c_bool c_byte c_ubyte c_char c_int8 c_uint8",
    2: "c_short c_ushort c_int16 c_uint16",
    4: "c_int c_uint c_long c_ulong c_size_t c_ssize_t c_float c_int32 c_uint32 c_wchar c_char_p c_wchar_p c_void_p "
    "c_voidp py_object",
    8: "c_longlong c_ulonglong c_double c_int64 c_uint64 c_time_t",
    16: "c_longdouble",
}
for _size, _names in _SIZES.items():
    for _name in _names.split():
        globals()[_name] = _Meta(_name, (_SimpleCData,), {"__module__": __name__, "_size_": _size})
del _size, _names, _name


def sizeof(obj_or_type):
    """The size of a simple type."""
    try:
        return obj_or_type._size_
    except AttributeError:
        raise NotImplementedError(_REASON) from None


def POINTER(cls):
    return _Meta(f"LP_{getattr(cls, '__name__', cls)}", (_Pointer,), {"_type_": cls})


def _function_type(restype, *argtypes, **options):
    return _Meta("CFunctionType", (_CFuncPtr,), {"_restype_": restype, "_argtypes_": argtypes})


CFUNCTYPE = PYFUNCTYPE = _function_type


class CDLL:
    """Fails as for a library that does not exist, for which many packages have a fallback."""

    def __init__(self, name=None, *args, **kwargs):
        raise OSError(f"{_REASON} ({name})")


class PyDLL(CDLL):
    pass


class LibraryLoader:
    def __init__(self, dlltype):
        self._dlltype = dlltype

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._dlltype(name)

    __getitem__ = __getattr__

    def LoadLibrary(self, name):
        return self._dlltype(name)


class _PythonApi:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise OSError(f"{_REASON} ({name})")


cdll, pydll, pythonapi = LibraryLoader(CDLL), LibraryLoader(PyDLL), _PythonApi()

alignment = addressof = byref = pointer = cast = resize = refusal(_REASON)
string_at = wstring_at = memoryview_at = memmove = memset = refusal(_REASON)
create_string_buffer = c_buffer = create_unicode_buffer = refusal(_REASON)


def get_errno():
    return 0


def set_errno(value):
    return 0
