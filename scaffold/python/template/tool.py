"""{{tool_name}}: greets somebody by name. Replace the body and keep the six parameters."""

from dataclasses import dataclass
from typing import Annotated

from amigo_tool_scaffold.config import Config
from amigo_tool_scaffold.conversation import Conversation
from amigo_tool_scaffold.metadata import Metadata
from amigo_tool_scaffold.status import SendStatusEvent
from amigo_tool_scaffold.user_variables import UserVariables


@dataclass
class ToolInput:
    """Whom to greet, and how often."""

    name: Annotated[str, "The name of the person"]
    times: Annotated[int, "How many greetings to write"] = 1


async def run_tool(
    tool_input: ToolInput,
    metadata: Metadata,
    config: Config,
    conversation: Conversation | None,
    send_status_event: SendStatusEvent,
    user_variables: UserVariables,
) -> dict[str, object]:
    """Returns the greetings. A string becomes the output unchanged, any other JSON value compact JSON."""
    if tool_input.times < 1:
        raise ValueError(f"times must be at least 1, not {tool_input.times}")
    # `envvars` contains only the names that required_envvars in pyproject.toml lists.
    word = config.envvars.get("GREETING", "Hello")
    greetings = []
    for number in range(1, tool_input.times + 1):
        greetings.append(f"{word}, {tool_input.name}!")
        await send_status_event("greeting written", progress=number, total=tool_input.times)
    return {"greetings": greetings, "delivered": deliver(greetings, metadata)}


def deliver(greetings: list[str], metadata: Metadata) -> bool:
    """A real tool has its side effects here, such as sending a message. A simulated conversation must have none."""
    if metadata.is_simulation:
        return False
    return len(greetings) > 0
