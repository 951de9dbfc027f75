"""Lists the objects of the image, so that the build can make them immortal.

Access to an object changes its reference count, and so copies its memory page
in every run. The interpreter does not change the count of an immortal object.
Python code cannot make objects immortal; `flatten/src/immortal.rs` changes the
counts of the objects listed here in the finished image.
"""

import gc
from array import array
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType

# The bitwise complement of these words precedes the list, so that the build finds it in the memory of the image.
MARK = (0x6A626F73, 0x74636520, 0x6920666F, 0x6567616D)

# Types of objects that are executing while the image is built.
LEFT_OUT = {AsyncGeneratorType, CoroutineType, FrameType, GeneratorType}

# References to the listed objects, which must not be freed.
_kept = []
_list = None


def keep():
    """Lists all reachable objects."""
    global _list
    known = set()
    known.add(id(known))
    wave = gc.get_objects()
    while wave:
        wave = [found for found in wave if _is_new(found, known)]
        _kept.extend(wave)
        wave = gc.get_referents(*wave) + [part for found in wave if type(found) is CodeType for part in _parts(found)]
    _list = array("I", [*(0xFFFFFFFF - word for word in MARK), len(_kept), *map(id, _kept)])


def _is_new(found, known):
    if id(found) in known or type(found) in LEFT_OUT:
        return False
    known.add(id(found))
    return True


def _parts(code):
    """Returns the objects of a code object, which the garbage collector does not traverse."""
    return [
        code.co_consts, code.co_names, code.co_filename, code.co_name, code.co_qualname, code.co_linetable,
        code.co_exceptiontable, *code.co_consts, *code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars,
    ]  # fmt: skip
