"""The error for what Tunesmith has no equal for."""

from __future__ import annotations


class Refused(ValueError):
    """An argument of Kernel Tuner that Tunesmith has no equal for. The message names it and a remedy."""
