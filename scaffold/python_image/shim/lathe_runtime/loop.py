"""An event loop that waits for timers and for the host's responses."""

import asyncio
import time
from asyncio import base_events, events
from functools import partial
from types import FunctionType

from . import exchanges


class Deadlock(RuntimeError):
    """The tool waits, but no timer and no request is pending: it would wait forever."""


# Seconds of a wait in which no stack trace is prepared, since most waits end within them.
SOON = 0.1


class _Waiting:
    """The selector of the loop."""

    def __init__(self):
        self.answers = {}

    def select(self, timeout):
        if not self.answers and timeout is None:
            raise Deadlock("the tool awaits something that can never happen")
        soon = SOON if timeout is None else min(timeout, SOON)
        answers = self._wait(soon)
        if answers or soon == timeout:
            return answers
        return _called_by(_waiting_calls(), lambda: self._wait(None if timeout is None else timeout - soon))

    def _wait(self, timeout):
        if self.answers:
            return exchanges.wait(list(self.answers), timeout)
        if timeout > 0:
            time.sleep(timeout)
        return ()


def _waiting_calls():
    """Code and line of the calls that wait in the coroutine of the run, outermost first."""
    calls, awaited = [], _main
    while (frame := getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)) is not None:
        calls.append((frame.f_code, frame.f_lineno))
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    return calls


# In one line, whose number is replaced.
def _call(work): return work()  # fmt: skip


def _called_by(calls, work):
    """Does the work in calls with the names of others. The host reads them when it stops the run meanwhile."""
    for code, line in reversed(calls):
        names = {"co_filename": code.co_filename, "co_name": code.co_name, "co_qualname": code.co_qualname}
        work = partial(FunctionType(_call.__code__.replace(co_firstlineno=line, **names), {}), work)
    return work()


class Loop(base_events.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = _Waiting()

    def _process_events(self, event_list):
        for exchange in event_list:
            answer = self._selector.answers.pop(exchange)
            if not answer.done():
                answer.set_result(None)

    async def answered(self, exchange, seconds):
        """Waits until the host has the response. Other tasks continue."""
        answer = self._selector.answers[exchange] = self.create_future()
        try:
            async with asyncio.timeout(seconds):
                await answer
        finally:
            self._selector.answers.pop(exchange, None)

    def _write_to_self(self):
        pass

    def run_in_executor(self, executor, func, *args):
        """Calls the function at once, since there are no threads."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


# Part of the image. A run needs only one event loop.
_loop = Loop()
# The coroutine of the run.
_main = None


def run(coroutine):
    global _main
    _main = coroutine
    return _loop.run_until_complete(coroutine)


def answered(exchange, seconds):
    return events.get_running_loop().answered(exchange, seconds)


def install():
    """Makes `asyncio.run` and `asyncio.new_event_loop` use this loop."""
    events.new_event_loop = asyncio.new_event_loop = Loop
