"""Kernels as functions of Python, as `kernel_tuner.kernelbuilder` makes them."""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import numpy

from tunesmith._paths import path_text

from . import run_kernel
from .integration import TuneResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class PythonKernel:
    """A kernel with its parameters, which is called with its arguments and returns a list of its outputs.

    Args:
        arguments: Arguments of the sizes and types of those that it will be called with.
        params: The value of each parameter.
        inputs: True for each argument that a call passes on; others are those of `arguments`.
        outputs: True for each argument that a call returns.
        results_file: A file of `store_results`, whose best configuration is added to `params`.

    The other arguments are those of `tune_kernel`.
    """

    def __init__(
        self, kernel_name: str, kernel_string: Any, problem_size: Any, arguments: Sequence[Any],
        params: Mapping[str, Any] | None = None, inputs: Sequence[bool] | None = None,
        outputs: Sequence[bool] | None = None, device: int = 0, platform: int = 0,
        block_size_names: Sequence[str] | None = None, grid_div_x: object = None, grid_div_y: object = None,
        grid_div_z: object = None, verbose: bool = True, lang: str | None = None, results_file: Any = None,
    ) -> None:  # fmt: skip
        self.params = dict(params or {})
        if results_file is not None:
            results_file = path_text(results_file, "results_file")
            self.params.update(TuneResults(results_file).get_best_config(problem_size=problem_size))
        self.arguments = list(arguments)
        self.inputs = list(inputs or [True] * len(self.arguments))
        self.outputs = list(outputs or [True] * len(self.arguments))
        self._source = (kernel_name, kernel_string, problem_size)
        self._options: dict[str, Any] = {
            "device": device, "platform": platform, "block_size_names": block_size_names, "lang": lang,
            "grid_div_x": grid_div_x, "grid_div_y": grid_div_y, "grid_div_z": grid_div_z, "quiet": True,
        }  # fmt: skip

    def __call__(self, *args: Any) -> list[Any]:
        """Runs the kernel and returns its outputs."""
        return self.run_kernel(args)

    def run_kernel(self, args: Sequence[Any]) -> list[Any]:
        """Runs the kernel on a list of arguments and returns its outputs."""
        given = [new if is_input else old for new, old, is_input in zip(args, self.arguments, self.inputs)]
        name, source, size = self._source
        results = run_kernel(name, source, size, given, self.params, **self._options)
        return [one for one, is_output in zip(results, self.outputs) if is_output and numpy.ndim(one) > 0]
