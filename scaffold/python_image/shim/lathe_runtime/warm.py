"""Runs a small tool while the image is made.

What a first call would do once (caches, imports, arenas) is then part of the
image, and the objects that all runs share are set aside from the collector.
"""

import gc
import json
import marshal
import sys

from . import bundle, loop, run

TOOL = """
import asyncio
from dataclasses import dataclass

@dataclass
class Input:
    text: str

async def run_tool(tool_input: Input, metadata, config, conversation, send_status_event, user_variables):
    await send_status_event("warm")
    await asyncio.sleep(0)
    if tool_input.text == "fail":
        raise ValueError("warm")
    return {"text": tool_input.text}
"""

ROUNDS = 20


def up(context_type):
    loop.install()
    code = marshal.dumps(compile(TOOL, "warm.py", "exec", dont_inherit=True))
    data = bundle.dumps(("warm", "run_tool"), {"warm": (False, "warm.py", code)}, {}, {})
    for turn in range(ROUNDS):
        _once(data, context_type, "fail" if turn == 0 else "ok")
    gc.collect()
    _fill_holes()
    gc.freeze()


# Requests of up to 512 bytes are served from pools by size, larger ones from
# lists of free blocks.
SIZES_BYTES = (*range(24, 512, 8), *range(512, 16_384, 64))
FILLERS_MAX = 20_000
_fillers = []


def _fill_holes():
    """Takes the free places between the image's objects.

    What a run allocates then lies together on fresh pages. Spread over the
    holes it would make every run copy a page of the image for each of them.
    """
    top = max(id(found) for found in gc.get_objects())
    empty = sys.getsizeof(b"")
    for size in SIZES_BYTES:
        for _ in range(FILLERS_MAX):
            filler = bytes(size - empty)
            _fillers.append(filler)
            if id(filler) > top:
                break


def _once(data, context_type, text):
    context = context_type(
        json.dumps({"text": text}),
        json.dumps(
            {
                "invocation_mode": "regular", "invocation_id": "", "tool_id": "",
                "tool_name": "", "version": "", "organization": "", "deadline_ms": 0,
            }
        ),
        json.dumps({"envvars": {}, "secrets": {}}),
        "null",
        json.dumps({"nonsensitive": {}, "sensitive": {}}),
    )  # fmt: skip
    try:
        run.run_tool(data, context, lambda event: None)
    except ValueError as error:
        run.describe(error)
    finally:
        sys.modules.pop("warm", None)
        sys.meta_path.pop(0)
        run._running = None
