"""Runs a small tool while the image is built.

The effects of a first call (caches, imports, arenas) become part of the image.
The garbage collector ignores the objects of the image.
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

# Calls per tool: enough for the interpreter to specialise the bytecode of each run.
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


# Memory that most runs allocate in total.
ROOM_BYTES = 1 << 20


def make_room():
    """Leaves a contiguous free chunk (see `flatten/src/heap.rs`), so that most runs do not grow the memory."""
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
