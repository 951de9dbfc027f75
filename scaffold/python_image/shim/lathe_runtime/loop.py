"""An event loop that waits for timers and for the host's responses."""

import asyncio
import time
from asyncio import base_events, events

from . import exchanges


class Deadlock(RuntimeError):
    """The tool waits, but no timer and no request is pending: it would wait forever."""


class _Waiting:
    """The selector of the loop."""

    def __init__(self):
        self.answers = {}

    def select(self, timeout):
        if self.answers:
            return exchanges.wait(list(self.answers), timeout)
        if timeout is None:
            raise Deadlock("the tool awaits something that can never happen")
        if timeout > 0:
            time.sleep(timeout)
        return ()


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


def run(coroutine):
    return _loop.run_until_complete(coroutine)


def answered(exchange, seconds):
    return events.get_running_loop().answered(exchange, seconds)


def install():
    """Makes `asyncio.run` and `asyncio.new_event_loop` use this loop."""
    events.new_event_loop = asyncio.new_event_loop = Loop
