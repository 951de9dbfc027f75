"""What schemathesis needs to know of this API beyond its document."""

import os
import random

import schemathesis
from hypothesis import strategies

TOOL = os.environ["LATHE_TOOL"]
USER = os.environ["LATHE_USER"]
KEY = os.environ["LATHE_KEY"]
# Who stands for the attacker, so that they stay who they are.
NO_USER = "nobody"
NO_KEY = "aaaaaaaaaaaa"

CONSTRAINTS = [">=1", "1.0.0", "==1.*", "~=1.0", ">=0,<2", "!=3", "===1.0.0", ">1.0a1", "9.9.9", ">=1!0", "v1.0.0"]

# Which of the document's own marks have a format here.
FORMATS = {"pep-440": "version-constraint", "pep-440-clause": "version-constraint"}

schemathesis.openapi.format("version-constraint", strategies.sampled_from(CONSTRAINTS))

for media_type in ["application/x-git-upload-pack-request", "application/x-git-receive-pack-request"]:
    schemathesis.openapi.media_type(media_type, strategies.binary(max_size=4096))


@schemathesis.hook
def before_load_schema(context, raw_schema):
    prepared(raw_schema)


def prepared(schema):
    """Says in schemathesis' words what the document says in marks of its own, and what a set means in a query."""
    if isinstance(schema, list):
        for item in schema:
            prepared(item)
    elif isinstance(schema, dict):
        if schema.get("x-parsed") in FORMATS:
            schema["format"] = FORMATS[schema["x-parsed"]]
        # A value that is given twice counts once, as the contract's own service reads it.
        schema.pop("uniqueItems", None)
        # White space around a text is dropped, so that a text of nothing else is empty.
        if schema.get("x-stripped"):
            schema.setdefault("allOf", []).append({"pattern": r"\S"})
        # In the path of a step before, it is already encoded, and the next step takes it as it stands there.
        if "pattern" in schema:
            schema["pattern"] = schema["pattern"].replace("._@-]", "._-]")
        # A condition's value would have to be a regular expression then.
        if schema.get("x-parsed") == "condition":
            schema["properties"]["operator"]["enum"].remove("regex")
        for value in schema.values():
            prepared(value)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Half of the requests about a tool are about one that exists; nobody takes the attacker's own key or role."""
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
    """Drops what looks wrongly refused, when every problem of it is one that no schema can say, and what was not found
    because another was asked for than the one that was made."""
    if type(failure).__name__ == "EnsureResourceAvailability":
        return not {NO_USER, NO_KEY} & set((case.path_parameters or {}).values())
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 422:
        return True
    return not all(is_beyond_schemas(problem) for problem in response.json()["detail"])


def is_beyond_schemas(problem):
    place, kind = problem["loc"], problem["type"]
    # A token of a page is a number that a page of the same list gave.
    is_token = place == ["query", "continuation_token"] and kind == "value_error"
    # The bound is on all parameters together.
    is_crowded = place == ["query"] and kind == "too_long"
    # A number that would become another one on the way is refused also in a field that nobody knows.
    is_inexact = kind == "json_invalid" and "64 bits" in problem["msg"]
    # Steps also take values from elsewhere, whose form is not that of a constraint.
    is_no_constraint = "PEP 440" in problem["msg"]
    # A key that stands for one request already stands for no other.
    is_reused = kind == "idempotency_key_reused"
    return is_token or is_crowded or is_inexact or is_no_constraint or is_reused
