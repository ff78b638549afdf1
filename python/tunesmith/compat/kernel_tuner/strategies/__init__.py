"""Kernel Tuner's strategies as modules: `kernel_tuner.strategies.minimize` stands for its name."""

from __future__ import annotations

from .._refused import refuse_name
from .._strategy import NAMES


def __getattr__(name: str) -> str:
    if name in NAMES:
        return name
    refuse_name(__name__, name)
