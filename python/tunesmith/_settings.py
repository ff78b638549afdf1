"""The settings of a run, as the native half takes them."""

from __future__ import annotations

import sys

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def settings(**given: Any) -> dict[str, Any]:
    """Returns the settings with those that are given; the others are as if nobody had named them."""
    return {
        "strategy": None,
        "stop": None,
        "objective": None,
        "seed": None,
        "room": None,
        "start": [],
        "history": [],
        "model": None,
        "keep_going": False,
        "profile": False,
        "device": None,
        "jobs": None,
        "sandbox": True,
        "out": None,
        "resume": False,
        "python": sys.executable or "",
        "folder": folder(),
        **given,
    }


def folder() -> str:
    """Returns the folder of the native module."""
    from os.path import dirname

    return dirname(_native.__file__)
