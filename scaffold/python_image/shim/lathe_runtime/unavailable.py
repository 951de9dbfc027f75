"""Refusals of functions that the sandbox has not: they import, and fail with the reason when they are used."""

PROCESSES = "a tool starts no processes: the sandbox has none"
THREADS = "can't start new thread: a tool has none; use asyncio.gather for work that waits"


def refusal(reason, kind=NotImplementedError):
    """A function that raises."""

    def refuse(*args, **kwargs):
        raise kind(reason)

    return refuse


def refusing(name, reason, kind=NotImplementedError):
    """A class whose instances cannot be made."""
    return type(name, (), {"__new__": staticmethod(refusal(reason, kind)), "__module__": __name__})
