"""Prints what an SDK reads from the scripted model of the Rust tests, for each objective: python3 read.py API URL"""

import json
import sys

import anthropic_api
import openai_api

VENDORS = {"openai": openai_api, "anthropic": anthropic_api}


def read(vendor, url, objective, retries):
    """Returns the answer to an objective, or the error."""
    try:
        return vendor.read(vendor.ask(vendor.client(url, max_retries=retries), objective))
    except vendor.STATUS_ERROR as error:
        headers = error.response.headers
        return {"error": type(error).__name__, "message": error.message, "retry_after": headers.get("retry-after")}


def main(api, url):
    vendor = VENDORS[api]
    answered = {objective: read(vendor, url, objective, 2) for objective in ("text", "calls", "busy")}
    failed = {objective: read(vendor, url, objective, 0) for objective in ("broken", "refused", "too many")}
    print(json.dumps({**answered, **failed}))


main(*sys.argv[1:])
