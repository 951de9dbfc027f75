"""The operations of an OpenAPI document, with names for the types of their arguments and results."""

import re
from dataclasses import dataclass
from typing import Any

METHODS = ("get", "put", "post", "patch", "delete")
JSON = "application/json"


@dataclass(frozen=True)
class Operation:
    """An operation. The name of a type is None when there is nothing of its kind."""

    name: str
    summary: str
    method: str
    path: str
    query: str | None
    body: str | None
    result: str | None

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    @property
    def path_of_segments(self) -> str:
        """The path without the names of its parameters."""
        return re.sub(r"{\w+}", "{}", self.path)


class Document:
    """Collects the operations of a document, and adds the schemas of their types to it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        found = [(method, path, item[method]) for path, item in document["paths"].items() for method in METHODS if method in item]
        self.operations = [self._operation(*each) for each in found if is_callable(each[2])]

    def _operation(self, method: str, path: str, operation: dict[str, Any]) -> Operation:
        name = operation["operationId"].replace("-", "_")
        title = "".join(word.capitalize() for word in name.split("_"))
        return Operation(
            name=name,
            summary=operation["summary"],
            method=method.upper(),
            path=path,
            query=self._add(f"{title}Query", self._query(operation)),
            body=self._add(f"{title}Body", self._body(operation)),
            result=self._add(f"{title}Result", result_of(operation)),
        )

    def _add(self, name: str, schema: Any) -> str | None:
        if schema is None:
            return None
        self.document["components"]["schemas"][name] = schema
        return name

    def _query(self, operation: dict[str, Any]) -> dict[str, Any] | None:
        found = [self._resolved(parameter) for parameter in operation.get("parameters", [])]
        found = [parameter for parameter in found if parameter["in"] == "query"]
        required = [parameter["name"] for parameter in found if parameter.get("required")]
        properties = {parameter["name"]: parameter["schema"] for parameter in found}
        return {"type": "object", "properties": properties, "required": required} if found else None

    def _body(self, operation: dict[str, Any]) -> dict[str, Any] | None:
        """The schema of the body, whose fields are arguments. Rules for several fields together are left to the server."""
        if "requestBody" not in operation:
            return None
        schema = self._resolved(operation["requestBody"]["content"][JSON]["schema"])
        return {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Follows a reference within the document."""
        if "$ref" not in schema:
            return schema
        found: Any = self.document
        for key in schema["$ref"].removeprefix("#/").split("/"):
            found = found[key]
        return self._resolved(found)


def is_callable(operation: dict[str, Any]) -> bool:
    """Whether the operation needs a token, takes a described JSON object or no body, and returns JSON or no body."""
    takes_token = any("bearer" in scheme for scheme in operation.get("security", []))
    body = operation.get("requestBody", {}).get("content", {})
    results = [response.get("content", {}) for response in successes(operation)]
    takes_json = not body or "schema" in body.get(JSON, {})
    return takes_token and takes_json and all(not content or JSON in content for content in results)


def successes(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [response for status, response in operation["responses"].items() if status.startswith("2")]


def result_of(operation: dict[str, Any]) -> Any:
    """The schema of the result: that of `data` in the envelope of the Library, otherwise that of the body."""
    bodies = [response["content"][JSON].get("schema", {}) for response in successes(operation) if "content" in response]
    results = [body["properties"]["data"] if is_envelope(body) else body for body in bodies]
    return results[0] if len(results) == 1 else {"anyOf": results} if results else None


def is_envelope(schema: dict[str, Any]) -> bool:
    return {"success", "data"} <= set(schema.get("properties", {}))
