"""A tool's packages, imported once and then part of an image of their own.

They are found in a bundle that was loaded before; the author's own comes with each run.
"""

import gc
import random
import sys
from importlib import import_module

from . import run


def load(names):
    """Imports modules before any run, so that all runs find them in memory."""
    chance = random.getstate()
    for name in names:
        import_module(name)
    if random.getstate() != chance:
        raise RuntimeError("it takes random numbers when it is imported")
    # What was printed would be printed in every run.
    sys.stdout.flush()
    sys.stderr.flush()
    # The interpreter does it in its first call, which lies behind it now.
    run.renew = random.seed
    gc.collect()
    gc.freeze()
