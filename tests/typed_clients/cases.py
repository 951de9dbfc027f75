"""The table of retries: what a server does with the attempts of one request, and what the client is expected to do."""

from dataclasses import dataclass, field
from email.utils import formatdate

#: The time of the clients' clocks, in seconds since 1970.
NOW = 1_800_000_000
IDEMPOTENT, OTHER = ("GET", "PUT", "DELETE"), ("POST", "PATCH")
VERBS = IDEMPOTENT + OTHER
#: The connection is closed, or reset, after the request and before a response. `refuse` is a port where nothing listens.
BEFORE_RESPONSE = ("close", "reset", "refuse")


@dataclass(frozen=True)
class Answer:
    """A response on purpose."""

    status: int
    headers: dict = field(default_factory=dict)
    body: object = None


@dataclass(frozen=True)
class Case:
    """A request, and what its attempts get: `steps` has a status, an answer or the name of a failure for each, and the last one repeats."""

    row: str
    method: str
    steps: list
    #: Requests that the server gets.
    attempts: int
    #: `ok`, `connection` or the status of the error that is raised.
    outcome: object
    retries: int = 3
    #: What the source of randomness returns; None for the client's own.
    random: float | None = 1.0
    #: The seconds that are slept, if they are not those of the backoff.
    sleeps: list | None = None
    #: The details of the error that is raised.
    details: object = None

    def backoff(self):
        """The upper bound of each sleep."""
        return [min(8, 0.5 * 2**number) for number in range(self.attempts - 1)]


def connection(row, method):
    """Retried three times: the last attempt may succeed, and a fifth is never made."""
    for step in BEFORE_RESPONSE:
        yield Case(row, method, [step], 4, "connection")
    for step in ("close", "reset"):
        yield Case(row, method, [step, step, step, 200], 4, "ok")
        yield Case(row, method, [step, 200], 2, "ok")


def status(row, method, code):
    yield Case(row, method, [code], 4, code)
    yield Case(row, method, [code, code, code, 200], 4, "ok")
    yield Case(row, method, [code, "close", code, 200], 4, "ok")


def never(row, methods, codes):
    for method in methods:
        for code in codes:
            yield Case(row, method, [code, 200], 1, code)


def jitter():
    for method in IDEMPOTENT:
        for random in (0.0, 0.25, 1.0, None):
            yield Case("S0-137", method, [503], 4, 503, random=random)
    for method in OTHER:
        for random in (0.0, 0.25, 1.0, None):
            yield Case("S0-137", method, ["close"], 4, "connection", random=random)


def retry_after():
    """`Retry-After` is the least that is slept before a retry, up to a minute."""
    slept = {"7": 7, "0": 0.5, "60": 60, date(9): 9, date(-9): 0.5, "soon": 0.5}
    for header, seconds in slept.items():
        for code in (502, 503, 504):
            yield Case("Retry-After", "GET", [Answer(code, {"Retry-After": header}), 200], 2, "ok", sleeps=[seconds])
    for header in ("61", date(61)):
        yield Case("Retry-After", "PUT", [Answer(503, {"Retry-After": header}), 200], 1, 503)
    for method in OTHER:
        yield Case("Retry-After", method, [Answer(503, {"Retry-After": "1"}), 200], 1, 503)
    for method in VERBS:
        yield Case("Retry-After", method, [Answer(429, {"Retry-After": "1"}), 200], 1, 429)


def date(seconds):
    """The date of the header, so many seconds after the time of the clocks."""
    return formatdate(NOW + seconds, usegmt=True)


def refused():
    """The forms of an error: of the Library, and of the rest of the API."""
    details = {"field": "kind"}
    failure = {"code": "code_400", "status": 400, "message": "message 400", "details": details}
    yield Case("S0-143", "POST", [Answer(400, body={"success": False, "error": failure})], 1, 400, details=details)
    yield Case("S0-143", "GET", [Answer(400, body={"detail": [details], "code": "code_400"})], 1, 400, details=[details])
    yield Case("S0-143", "PUT", [Answer(404, body={"detail": "message 404", "code": "code_404"})], 1, 404)
    failure = {"code": "code_409", "message": "message 409"}
    yield Case("S0-143", "PATCH", [Answer(409, body={"error": failure})], 1, 409)


REPEATABLE = (("S0-130", "GET"), ("S0-131", "PUT"), ("S0-132", "DELETE"))
WRITES = (("S0-140", "POST"), ("S0-141", "PATCH"))
STATUSES = (("S0-133", 502), ("S0-134", 503), ("S0-135", 504))

CASES = [
    # Every call is retried without any setting.
    *(Case("S0-005", method, ["close", 200], 2, "ok") for method in VERBS),
    *(case for row, method in REPEATABLE + WRITES for case in connection(row, method)),
    *(Case(row, method, ["cut", 200], 2, "ok") for row, method in REPEATABLE),
    *(case for row, code in STATUSES for method in IDEMPOTENT for case in status(row, method, code)),
    *never("S0-136", VERBS, (500, 501, 505)),
    *jitter(),
    *(Case("S0-138", method, [503, 200], 2, "ok", sleeps=[0.5]) for method in IDEMPOTENT),
    Case("S0-139", "GET", [503], 8, 503, retries=7, sleeps=[0.5, 1, 2, 4, 8, 8, 8]),
    Case("S0-139", "POST", ["close"], 8, "connection", retries=7, sleeps=[0.5, 1, 2, 4, 8, 8, 8]),
    # Headers without an end are no response.
    *(Case(row, method, ["head", 200], 2, "ok") for row, method in WRITES),
    # A response has begun, or something that is none.
    *(Case(row, method, [step, 200], 1, "connection") for row, method in WRITES for step in ("cut", "garbage")),
    *never("S0-142", OTHER, (500, 501, 502, 503, 504, 505, 507, 599)),
    *never("S0-143", VERBS, (400, 401, 403, 404, 405, 409, 413, 422, 429)),
    *refused(),
    *retry_after(),
]
