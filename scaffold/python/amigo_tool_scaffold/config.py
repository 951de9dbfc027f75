"""Environment variables and secrets that the version declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

DeclaredIn = Literal["required_envvars", "required_secret_envvars"]
"""The key of `[tool.lathe]` that lists the names of one group of variables."""


class UndeclaredVariable(KeyError):
    """The tool read a variable that its `pyproject.toml` does not list.

    `name` is the variable, `declared_in` the key of `[tool.lathe]` in which it has to be listed.
    """

    def __init__(self, name: object, declared_in: DeclaredIn) -> None:
        super().__init__(name)
        self.name = name
        self.declared_in = declared_in

    def __str__(self) -> str:
        return f"{self.name!r} is not visible to this tool: list it under {self.declared_in} in [tool.lathe] of pyproject.toml"


class Variables(Mapping[str, str]):
    """A read-only mapping of names to values. Its `repr` shows only names, so that values do not reach logs."""

    __slots__ = ("_declared_in", "_values")

    def __init__(self, values: Mapping[str, str], declared_in: DeclaredIn) -> None:
        self._values = dict(values)
        self._declared_in: DeclaredIn = declared_in

    def __getitem__(self, name: str) -> str:
        try:
            return self._values[name]
        except KeyError:
            raise UndeclaredVariable(name, self._declared_in) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Variables({', '.join(sorted(self._values))})"


class Config:
    """The parameter `config` of `run_tool`: `config.envvars["NAME"]` and `config.secrets["NAME"]`.

    An undeclared name raises `UndeclaredVariable`, which is a `KeyError`; `.get(name)` returns `None`.
    """

    __slots__ = ("envvars", "secrets")

    envvars: Mapping[str, str]
    secrets: Mapping[str, str]

    def __init__(self, envvars: Mapping[str, str], secrets: Mapping[str, str]) -> None:
        self.envvars = Variables(envvars, "required_envvars")
        self.secrets = Variables(secrets, "required_secret_envvars")

    def __repr__(self) -> str:
        return f"Config(envvars={self.envvars!r}, secrets={self.secrets!r})"
