"""Hooks that tell schemathesis what the OpenAPI document cannot."""

import os
import random

import schemathesis
from hypothesis import strategies

TOOL = os.environ["LATHE_TOOL"]
USER = os.environ["LATHE_USER"]
KEY = os.environ["LATHE_KEY"]
# Ids in place of the attacker's own, which must not be removed.
NO_USER = "nobody"
NO_KEY = "aaaaaaaaaaaa"

CONSTRAINTS = [">=1", "1.0.0", "==1.*", "~=1.0", ">=0,<2", "!=3", "===1.0.0", ">1.0a1", "9.9.9", ">=1!0", "v1.0.0"]

# Parts of messages about several fields together.
RULES_OF_SEVERAL = [
    "for a conversation of a simulation",
    "in a tool-call state",
    "belongs to states of another type",
    "must name each tool once",
    "must not name the designated tool again",
]

# Formats for values of the document's own keyword `x-parsed`.
FORMATS = {"pep-440": "version-constraint", "pep-440-clause": "version-constraint"}

schemathesis.openapi.format("version-constraint", strategies.sampled_from(CONSTRAINTS))

for media_type in ["application/x-git-upload-pack-request", "application/x-git-receive-pack-request"]:
    schemathesis.openapi.media_type(media_type, strategies.binary(max_size=4096))


@schemathesis.hook
def before_load_schema(context, raw_schema):
    prepared(raw_schema)


def prepared(schema):
    """Translates the document's own keywords into keywords that schemathesis knows."""
    if isinstance(schema, list):
        for item in schema:
            prepared(item)
    elif isinstance(schema, dict):
        if schema.get("x-parsed") in FORMATS:
            schema["format"] = FORMATS[schema["x-parsed"]]
        # White space around a text is removed, so a blank text is empty.
        if schema.get("x-stripped"):
            schema.setdefault("allOf", []).append({"pattern": r"\S"})
        # A value from an earlier response is already percent-encoded, and the next request would encode it again.
        if "pattern" in schema:
            schema["pattern"] = schema["pattern"].replace("._@-]", "._-]")
        # The value of a `regex` condition would have to be a regular expression.
        if schema.get("x-parsed") == "condition":
            schema["properties"]["operator"]["enum"].remove("regex")
        for value in schema.values():
            prepared(value)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Uses an existing tool in half of the requests, and protects the attacker's own key and role."""
    parameters = case.path_parameters or {}
    is_valid = case.meta is None or case.meta.generation.mode.is_positive
    if "tool_id" in parameters and case.method != "DELETE" and is_valid and random.random() < 0.5:
        parameters["tool_id"] = TOOL
    if parameters.get("user_id") == USER and case.method != "GET":
        parameters["user_id"] = NO_USER
    if parameters.get("api_key_id") == KEY:
        parameters["api_key_id"] = NO_KEY


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops refusals whose every problem is one that no schema can express, and 404 responses to requests whose id
    `before_call` has replaced."""
    if type(failure).__name__ == "EnsureResourceAvailability":
        return not {NO_USER, NO_KEY} & set((case.path_parameters or {}).values())
    # Unknown fields beside known ones are accepted, and named in a header of the response.
    if type(failure).__name__ == "AcceptedNegativeData":
        return not (isinstance(case.body, dict) and "x-schemathesis-unknown-property" in case.body)
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 422:
        return True
    return not all(is_beyond_schemas(problem) for problem in response.json()["detail"])


def is_beyond_schemas(problem):
    place, kind = problem["loc"], problem["type"]
    # Only tokens from an earlier page of the same list are valid.
    is_token = place == ["query", "continuation_token"] and kind == "value_error"
    # The bound applies to all parameters together.
    is_crowded = place == ["query"] and kind == "too_long"
    # A number that would be rounded is refused even in an unknown field.
    is_inexact = kind == "json_invalid" and "64 bits" in problem["msg"]
    # Values from earlier responses need not be constraints.
    is_no_constraint = "PEP 440" in problem["msg"]
    # An idempotency key cannot be used for another request.
    is_reused = kind == "idempotency_key_reused"
    # A body of unknown fields alone would change nothing. Beside known ones, unknown fields are accepted.
    is_unknown = kind == "extra_forbidden" and problem["msg"].startswith("Unknown field; the body may have")
    # No text has the character NUL, which a schema says in no short way.
    is_nul = "character NUL" in problem["msg"]
    # Only ids of the list's own items are positions in it.
    is_elsewhere = place[0] == "query" and problem["msg"].endswith("that this list has")
    # Rules about several fields, or about all items of a list.
    is_of_several = any(rule in problem["msg"] for rule in RULES_OF_SEVERAL)
    known = is_token or is_crowded or is_inexact or is_no_constraint or is_reused
    return known or is_unknown or is_nul or is_elsewhere or is_of_several
