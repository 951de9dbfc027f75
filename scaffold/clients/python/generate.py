"""Writes `lathe_client/generated` from an OpenAPI document: python3 generate.py DOCUMENT

DOCUMENT is a file, or the URL of the document of a server: http://127.0.0.1:8080/v1/openapi.json. The Python that runs this
needs datamodel-code-generator, which makes the types; requirements.txt has the release.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request
from typing import Any

from document import Document, Operation

TARGET = pathlib.Path(__file__).resolve().parent / "lathe_client" / "generated"
TYPES = """
--input-file-type openapi --openapi-scopes schemas --output-model-type typing.TypedDict --target-python-version 3.11
--naming-strategy full-path --no-use-closed-typed-dict --formatters builtin --disable-timestamp --disable-warnings
""".split()
HEADER = '''"""Operations of the server. Made by generate.py."""

from typing import Unpack, cast

from lathe_client.connection import AsyncConnection, Connection
from lathe_client.generated import models
'''


def main() -> None:
    (source,) = sys.argv[1:]
    document = Document(read(source))
    TARGET.mkdir(exist_ok=True)
    (TARGET / "__init__.py").write_text("")
    write_models(document.document)
    clients = [client("Client", "Connection", "", document), client("AsyncClient", "AsyncConnection", "async", document)]
    (TARGET / "operations.py").write_text(HEADER + "".join(clients))


def read(source: str) -> dict[str, Any]:
    if "://" not in source:
        return dict(json.loads(pathlib.Path(source).read_text()))
    with urllib.request.urlopen(source) as response:
        return dict(json.load(response))


def write_models(document: dict[str, Any]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        command = [sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", *TYPES]
        subprocess.run([*command, "--input", file.name, "--output", TARGET / "models.py"], check=True)


def client(name: str, base: str, kind: str, document: Document) -> str:
    methods = (method(operation, kind) for operation in document.operations)
    return f'\n\nclass {name}({base}):\n    """A client with a method for each operation."""\n{"".join(methods)}'


def method(operation: Operation, kind: str) -> str:
    """A method whose arguments are the parameters of the path, and then the fields of the body, or of the query if there is no body."""
    signature = ["self", *(f"{name}: str" for name in operation.parameters), "/"]
    arguments = [repr(operation.method), repr(operation.path_of_segments), *operation.parameters]
    if operation.query and operation.body:
        signature.append(f"query: models.{operation.query} | None = None")
    elif operation.query:
        signature.append(f"**query: Unpack[models.{operation.query}]")
    if operation.body:
        signature.append(f"**body: Unpack[models.{operation.body}]")
    arguments += [f"{place}={place}" for place in ("query", "body") if getattr(operation, place)]
    define, wait = ("async def", "await ") if kind else ("def", "")
    call = f"{wait}self._call({', '.join(arguments)})"
    result = f"models.{operation.result}" if operation.result else "None"
    body = f"return cast({result}, {call})" if operation.result else call
    head = f"{define} {operation.name}({', '.join(signature)}) -> {result}:"
    return f'\n    {head}\n        """{operation.summary}."""\n        {body}\n'


if __name__ == "__main__":
    main()
