"""Strict parsing of responses: a missing key, a wrong type, a time without an offset or a malformed id is refused with
its location."""

import datetime
import json

HEXADECIMAL = frozenset("0123456789abcdef")


class Refused(Exception):
    """A response that violates the contract."""


class Field:
    """A value in a response, with its location. Reading it as another type ends the script."""

    def __init__(self, value, place):
        self.value, self.place = value, place

    def _of(self, kind, words):
        # Python's booleans are numbers, JSON's are not.
        if not isinstance(self.value, kind) or (kind is int and isinstance(self.value, bool)):
            raise Refused(f"{self.place} should be {words}, and is {self.value!r}")
        return self.value

    def __getitem__(self, key):
        """Returns a required field, which may be null."""
        fields = self._of(dict, "an object")
        if key not in fields:
            raise Refused(f"{self.place} has no {key}")
        return Field(fields[key], f"{self.place}.{key}")

    def is_null(self):
        return self.value is None

    def text(self):
        return self._of(str, "a string")

    def whole(self):
        return self._of(int, "a whole number")

    def truth(self):
        return self._of(bool, "true or false")

    def items(self):
        return [Field(item, f"{self.place}[{index}]") for index, item in enumerate(self._of(list, "a list"))]

    def texts(self):
        return [item.text() for item in self.items()]

    def map(self):
        return self._of(dict, "an object")

    def id(self):
        text = self.text()
        if len(text) != 24 or not HEXADECIMAL.issuperset(text):
            raise Refused(f"{self.place} should be 24 lower-case hexadecimal characters, and is {text!r}")
        return text

    def moment(self):
        text = self.text()
        try:
            moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError as error:
            raise Refused(f"{self.place} should be a time, and is {text!r}") from error
        if "T" not in text or moment.tzinfo is None:
            raise Refused(f"{self.place} should be a time with an offset, and is {text!r}")
        return moment

    def expect(self, expected):
        if self.value != expected:
            raise Refused(f"{self.place} should be {expected!r}, and is {self.value!r}")


def unique(pairs):
    """Builds an object, and refuses duplicate keys."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def no_constant(word):
    raise ValueError(f"{word} is not JSON")


def parsed(answer, status):
    """Returns the body of a response after checking its status."""
    response, body = answer
    if response.status != status:
        raise Refused(f"the status should be {status}, and is {response.status}: {body[:500]!r}")
    if status == 204:
        return Field(body, "the body").expect(b"")
    if response.headers.get_content_type() != "application/json":
        raise Refused(f"the answer should be JSON, and is {response.headers.get_content_type()}")
    try:
        document = json.loads(body.decode("utf-8"), object_pairs_hook=unique, parse_constant=no_constant)
    except ValueError as error:
        raise Refused(f"the answer should be JSON: {error}") from error
    return Field(document, "the answer")


def page(answer, rows):
    """Returns the rows of a page, which must have all keys of a list."""
    has_more, token = answer["has_more"].truth(), answer["continuation_token"]
    if has_more:
        token.whole()
    else:
        token.expect(None)
    return answer[rows].items()


def check_user(user, organization):
    user["user_id"].text()
    user[organization].text()


def check_tool(tool):
    for name in ("created_at", "updated_at"):
        tool[name].moment()
    tool["org_id"].text(), tool["name"].text(), tool["description"].text(), tool["deprecated"].truth()
    tool["envvars"].texts(), tool["secret_envvars"].texts()
    for tag in tool["tags"].items():
        tag["key"].text()
        if not tag["value"].is_null():
            tag["value"].text()
    for name in ("creator", "updated_by"):
        check_user(tool[name], "org_id")
    return tool["id"].id()


def version_text(version):
    return ".".join(str(version[part].whole()) for part in ("major", "minor", "patch"))


def check_version(version):
    version["id"].id(), version["tool_id"].id(), version["org_id"].text(), version["deprecated"].truth()
    for name in ("created_at", "updated_at"):
        version[name].moment()
    for name in ("tool_commit_hash", "amigo_scaffold_commit_hash", "project_directory"):
        version[name].text()
    version["required_envvars"].texts(), version["required_secret_envvars"].texts()
    version["input_schema"].map(), version["lambda_version"].whole()
    for name in ("creator", "updated_by"):
        check_user(version[name], "user_org_id")
    return version_text(version["version"])


def check_outcome(outcome):
    """The output of a run, or the message of its exception."""
    if outcome["succeeded"].truth():
        return outcome["output"].text()
    outcome["exception_type"].text(), outcome["exception_stack_trace"].texts()
    return outcome["exception_message"].text()


def check_results(answer, outcomes):
    results = answer["invocation_results"].items()
    Field([check_outcome(result) for result in results], "the outcomes").expect(outcomes)
    return [result["duration_ms"].whole() for result in results]


def check_record(record):
    record["id"].id(), record["tool_id"].id(), record["org_id"].text(), record["inputs"].map()
    for name in ("created_at", "updated_at"):
        record[name].moment()
    version_text(record["tool_version"]), record["duration_ms"].whole(), record["invocation_source"]["type"].text()
    return check_outcome(record["invocation_status"])
