"""The key-value pairs of the user's profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class UserVariables:
    """The parameter `user_variables` of `run_tool`: at most 20 names in each group. All values are strings.

    Sensitive values are redacted in stored runs and omitted from this object's `repr`. The output and the status events
    of the tool are stored unchanged.
    """

    nonsensitive: Mapping[str, str] = field(default_factory=dict)
    sensitive: Mapping[str, str] = field(default_factory=dict, repr=False)
