"""Tunesmith finds the fastest correct configuration of a compute kernel, or of any function.

A function of a configuration, which returns its time in seconds, is tuned over a space:

>>> import tunesmith
>>> space = tunesmith.Space({"TILE": [8, 16, 32, 64], "UNROLL": range(1, 9)}, ["TILE % UNROLL == 0"])
>>> run = tunesmith.tune(lambda config: abs(config["TILE"] - 30) + 1 / config["UNROLL"], space)
>>> run.best.config
{'TILE': 32, 'UNROLL': 8}

A `Search` leaves the measuring to the program: ask it for configurations, and tell it what they cost.
"""

from __future__ import annotations

from . import _native
from ._errors import Error, Failure, Interrupted, Remark, RequestError, RunError
from ._native import Search, divisors, pow2, strategies
from ._problem import Argument, In, InOut, Kernel, Local, Out, Problem, Scalar, Scratch
from ._run import Best, Evaluation, Run
from ._selector import Choice, Selector
from ._space import Space
from ._study import compare, convert, devices, predict
from ._tune import tune

__all__ = [
    "Argument",
    "Best",
    "Choice",
    "Error",
    "Evaluation",
    "Failure",
    "In",
    "InOut",
    "Interrupted",
    "Kernel",
    "Local",
    "Out",
    "Problem",
    "Remark",
    "RequestError",
    "Run",
    "RunError",
    "Scalar",
    "Scratch",
    "Search",
    "Selector",
    "Space",
    "compare",
    "convert",
    "devices",
    "divisors",
    "pow2",
    "predict",
    "strategies",
    "tune",
]

__version__ = _native.VERSION
