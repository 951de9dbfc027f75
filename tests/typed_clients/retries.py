"""Runs the table of retries through the client of a language."""

import sys

from cases import CASES, NOW
from failing_server import SUCCESS, FailingServer, closed_port

HEADERS = {"authorization": "Bearer secret", "x-app-id": "app", "x-agent-workflow-id": "workflow"}


def check_rows(name, driver):
    """Prints a line for each row of the table. Ends the run when a case is not as expected."""
    with FailingServer(CASES) as server:
        places = [closed_port() if "refuse" in case.steps else server.server_port for case in CASES]
        urls = [f"http://127.0.0.1:{port}/{number}" for number, port in enumerate(places)]
        reports = driver([request(case, url) for case, url in zip(CASES, urls)])
        received = [server.received[number] for number in range(len(CASES))]
        findings = [finding(*found) for found in zip(CASES, reports, received, strict=True)]
    for row in sorted({case.row for case in CASES}):
        show(name, row, [(case, problem) for case, problem in zip(CASES, findings) if case.row == row])
    if any(findings):
        sys.exit(f"{name}: {sum(map(bool, findings))} cases failed")


def show(name, row, found):
    failed = [(case, problem) for case, problem in found if problem]
    print(f"{name}: {row}: {'FAILED' if failed else 'ok'} ({len(found)} cases)", flush=True)
    for case, problem in failed:
        print(f"    {case.method} {case.steps}: {problem}", flush=True)


def request(case, url):
    return {"url": url, "method": case.method, "retries": case.retries, "random": case.random, "now": NOW}


def finding(case, report, received):
    """Returns the first difference between what happened and what is expected, or None."""
    sleeps = report["sleeps"]
    if len(sleeps) != case.attempts - 1:
        return f"{len(sleeps)} sleeps, and not {case.attempts - 1}"
    if "refuse" not in case.steps and len(received) != case.attempts:
        return f"{len(received)} attempts, and not {case.attempts}"
    if outcome(report) != case.outcome:
        return f"the outcome {report}, and not {case.outcome}"
    return wrong_sleep(case, sleeps) or wrong_error(case, report) or wrong_request(received)


def outcome(report):
    if "error" in report:
        return report["error"]["status"]
    if "connection" in report:
        return "connection"
    return "ok" if report["result"] == SUCCESS["data"] else report["result"]


def wrong_sleep(case, sleeps):
    bounds = case.backoff()
    if case.random is None:
        is_within = all(0 <= slept <= bound for slept, bound in zip(sleeps, bounds))
        return None if is_within else f"the sleeps {sleeps} exceed {bounds}"
    expected = case.sleeps or [case.random * bound for bound in bounds]
    return None if sleeps == expected else f"the sleeps {sleeps}, and not {expected}"


def wrong_error(case, report):
    """An error has the fields of the response."""
    if "error" not in report:
        return None
    status = case.outcome
    message = "the request is invalid" if isinstance(case.details, list) else f"message {status}"
    expected = {"code": f"code_{status}", "status": status, "message": message, "details": case.details}
    return None if report["error"] == expected else f"the error {report['error']}, and not {expected}"


def wrong_request(received):
    """Every attempt has the headers and the body of the first."""
    for headers, body in received:
        found = {name.lower(): value for name, value in headers.items()}
        if any(found.get(name) != value for name, value in HEADERS.items()) or body != received[0][1]:
            return f"the request {headers} {body!r}"
    return None
