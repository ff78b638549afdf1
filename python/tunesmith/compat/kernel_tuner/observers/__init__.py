"""Refuses observers by name: Tunesmith records samples, energy and clocks itself."""

from __future__ import annotations

from .._refused import refuse_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
