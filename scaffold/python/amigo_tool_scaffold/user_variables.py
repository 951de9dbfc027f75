"""The key-value pairs of the user's profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class UserVariables:
    """What `run_tool` receives as `user_variables`: at most 20 names in each group, all values text.

    Sensitive values are redacted wherever the service stores a run, and left out of this object's `repr`. Whatever
    the tool itself returns or reports is stored as it is.
    """

    nonsensitive: Mapping[str, str] = field(default_factory=dict)
    sensitive: Mapping[str, str] = field(default_factory=dict, repr=False)
