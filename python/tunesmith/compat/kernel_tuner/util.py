"""Holds what scripts take from `kernel_tuner.util`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def get_config_string(params: Mapping[str, object]) -> str:
    """Returns a configuration or a result as a line of text."""
    return ", ".join(f"{name}={value}" for name, value in params.items())
