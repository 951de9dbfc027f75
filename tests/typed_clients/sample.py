"""Works on the Library through the typed client: python3 sample.py URL TOKEN. mypy checks it with --strict."""

import asyncio
import sys
from collections.abc import Callable

from lathe_client import AsyncClient, Client, LatheError


def memories(client: Client) -> None:
    memory = client.memory_create(content="The customer prefers e-mail.", kind="fact", tags=["contact"])
    known = memory["memory_id"]
    assert client.memory_get(known)["content"] == "The customer prefers e-mail."
    assert client.memory_list(kind="fact", tags=["contact"], limit=10)["items"][0]["memory_id"] == known
    assert client.memory_search(query="e-mail")["items"][0]["memory_id"] == known
    assert client.memory_update(known, content="The customer prefers calls.")["content"] == "The customer prefers calls."
    assert client.memory_put(known, importance=0.5)["importance"] == 0.5
    assert client.memory_delete(known)["deleted"]
    missing = refusal(lambda: client.memory_get(known))
    assert (missing.status, missing.code, missing.message) == (404, "not_found", "memory not found")


def rules(client: Client) -> None:
    rule = client.rule_create(description="Tone", content="Be polite.", category="must", severity="low")
    known = rule["rule_id"]
    assert client.rule_get(known)["severity"] == "low"
    assert known in [item["rule_id"] for item in client.rule_list(enabled_only=True)["items"]]
    assert client.rule_update(known, enabled=False).get("enabled") is False
    assert known not in [item["rule_id"] for item in client.rule_list(enabled_only=True)["items"]]
    assert client.rule_delete(known)["deleted"]


def preferences(client: Client) -> None:
    key = "colour/of the page"
    assert client.preference_set(key, value={"dark": True}, source="explicit")["key"] == key
    assert client.preference_get(key)["value"] == {"dark": True}
    assert key in [item["key"] for item in client.preference_list(source="explicit")["items"]]
    assert client.preference_forget(key)["deleted"]


def refused(client: Client) -> None:
    empty = refusal(lambda: client.memory_create(content=""))
    assert (empty.status, empty.code, bool(empty.details)) == (400, "input_schema", True)
    negative = refusal(lambda: client.get_tools("acme", limit=-1))
    assert (negative.status, negative.code) == (422, "request_invalid")


def refusal(call: Callable[[], object]) -> LatheError:
    try:
        call()
    except LatheError as error:
        return error
    raise AssertionError("nothing was refused")


async def tasks(client: AsyncClient) -> None:
    task = await client.task_create(description="Write a report.", cron="0 9 * * 1-5")
    known = task["task_id"]
    assert (await client.task_get(known))["description"] == "Write a report."
    assert known in [item["task_id"] for item in (await client.task_list(status="open"))["items"]]
    assert (await client.task_skip_next(known)).get("skip_next")
    assert (await client.task_end_recurrence(known)).get("status") == "done"
    assert (await client.task_delete(known))["deleted"]


def mistakes(client: Client) -> None:
    """Is not called. Without types, mypy would find that these comments ignore nothing."""
    client.memory_create(contents="c")  # type: ignore[call-arg]
    client.rule_create(description="d", content="c", category="perhaps", severity="low")  # type: ignore[arg-type]
    client.memory_get("m")["contents"]  # type: ignore[typeddict-item]


async def main() -> None:
    url, token = sys.argv[1:]
    with Client(url, token, app_id="sample", workflow_id="flow") as client:
        for part in (memories, rules, preferences, refused):
            part(client)
    async with AsyncClient(url, token, app_id="sample") as asynchronous:
        await tasks(asynchronous)


if __name__ == "__main__":
    asyncio.run(main())
