"""Runs a small tool while the image is made.

What a first call would do once (caches, imports, arenas) is then part of the
image, and the objects that all runs share are set aside from the collector.
"""

import gc
import json
import marshal
import sys

from . import bundle, immortal, loop, run

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

PLAIN_TOOL = """
def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):
    send_status_event("warm")
    return {"text": tool_input["text"]}
"""

# Enough for the interpreter to have specialised what it runs every time.
ROUNDS = 100


def up(context_type):
    loop.install()
    for tool in (TOOL, PLAIN_TOOL):
        code = marshal.dumps(compile(tool, "warm.py", "exec", dont_inherit=True))
        data = bundle.dumps(("warm", "run_tool"), {"warm": (False, "warm.py", code)}, {}, {})
        for turn in range(ROUNDS):
            _once(data, context_type, "fail" if turn == 0 else "ok")
    gc.collect()
    immortal.keep()
    gc.freeze()


# What most runs ask for together.
ROOM_BYTES = 1 << 20


def make_room():
    """Leaves free memory in one piece (see `flatten/src/heap.rs`), so that most runs need not have theirs grow."""
    bytes(ROOM_BYTES)


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
