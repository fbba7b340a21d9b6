"""What clients are told of a tool's effects, so that they can ask their user first."""

from typing import Final

from mcp.types import ToolAnnotations

READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Changes nothing."""

ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Changes something that can be changed back, and loses nothing."""

DESTRUCTIVE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
"""Deletes or breaks off something."""
