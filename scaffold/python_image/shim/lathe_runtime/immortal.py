"""Lists the image's objects, so that the build can make them immortal.

To touch an object is to count a reference, and so to copy the page that it
lies on, in every run. The interpreter leaves the count of an immortal object
alone. Python code cannot make one; `flatten/src/immortal.rs` writes it
into the finished image, for the objects listed here.
"""

import gc
from array import array
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType

# The list begins with these, complemented: the build finds them in the image's memory, where nothing else has them.
MARK = (0x6A626F73, 0x74636520, 0x6920666F, 0x6567616D)

# What is under way while the image is made.
LEFT_OUT = {AsyncGeneratorType, CoroutineType, FrameType, GeneratorType}

# Whatever is listed has to stay.
_kept = []
_list = None


def keep():
    """Lists every object that can be reached."""
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
    """The collector does not look into code."""
    return [
        code.co_consts, code.co_names, code.co_filename, code.co_name, code.co_qualname, code.co_linetable,
        code.co_exceptiontable, *code.co_consts, *code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars,
    ]  # fmt: skip
