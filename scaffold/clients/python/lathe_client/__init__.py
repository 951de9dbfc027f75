"""A typed client for a Lathe server. `generate.py` writes the subpackage `generated`, which has the operations and their types."""

from lathe_client.errors import LatheError
from lathe_client.generated.operations import AsyncClient, Client
from lathe_client.retry import Retry

__all__ = ["AsyncClient", "Client", "LatheError", "Retry"]
