"""Imports a tool's packages once, for a snapshot of the image that all runs share.

The packages are in a bundle that is loaded before. The bundle of the author's code is loaded in each run.
"""

import gc
import random
import sys
from importlib import import_module

from . import run


def load(names):
    """Imports modules into the snapshot."""
    _clear_copies()
    chance = random.getstate()
    for name in names:
        import_module(name)
    if random.getstate() != chance:
        raise RuntimeError("it draws random numbers when it is imported")
    # Buffered output would be printed in every run.
    sys.stdout.flush()
    sys.stderr.flush()
    # The interpreter seeds at its first call, which is before the snapshot. So each run seeds again.
    run.renew = random.seed
    gc.collect()
    gc.freeze()


def _clear_copies():
    """Overwrites the two copies in which the interpreter received the bundle. They are free memory, and zeros are not
    stored in a snapshot."""
    for finder in sys.meta_path:
        if hasattr(type(finder), "tree"):
            codes = sum(len(code) for _, _, code in finder.modules.values())
            size = codes + sum(map(len, finder.data.values()))
            _ = bytes(size), bytes(size)
            del _
