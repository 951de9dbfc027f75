"""greet_guests: greets guests in their language and refuses whoever is not on the list."""

from dataclasses import dataclass
from typing import Annotated

from amigo_tool_scaffold.config import Config
from amigo_tool_scaffold.conversation import Conversation
from amigo_tool_scaffold.metadata import Metadata
from amigo_tool_scaffold.status import SendStatusEvent
from amigo_tool_scaffold.user_variables import UserVariables

WORDS = {"en": "Hello", "de": "Guten Tag", "fr": "Bonjour"}
STRANGERS = {"Mallory"}


@dataclass
class ToolInput:
    """Whom to greet, how often, and in which language."""

    name: Annotated[str, "The name of the person"]
    times: Annotated[int, "How many greetings to write"] = 1
    language: Annotated[str, "en, de or fr"] = "en"


async def run_tool(
    tool_input: ToolInput,
    metadata: Metadata,
    config: Config,
    conversation: Conversation | None,
    send_status_event: SendStatusEvent,
    user_variables: UserVariables,
) -> dict[str, object]:
    """Returns the greetings, and whether they were delivered."""
    if tool_input.times < 1:
        raise ValueError(f"times must be at least 1, not {tool_input.times}")
    consult_guest_list(tool_input.name)
    word = config.envvars.get("GREETING", WORDS[tool_input.language])
    greetings = []
    for number in range(1, tool_input.times + 1):
        greetings.append(f"{word}, {tool_input.name}!")
        await send_status_event(f"greeting {tool_input.name}", progress=number, total=tool_input.times)
    return {"greetings": greetings, "delivered": not metadata.is_simulation}


def consult_guest_list(name: str) -> None:
    """Refuses strangers."""
    if name in STRANGERS:
        raise LookupError(f"{name} is not on the guest list")
