"""The errors for what Tunesmith has no equal for."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.util import spec_from_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import NoReturn

PACKAGE = "tunesmith.compat.kernel_tuner"
REPLACED = "kernel_tuner"

# Modules and names of Kernel Tuner without an equal, and what to use instead. A name stands for all below it.
INSTEAD = {
    "accuracy": "tune each element type by itself, or make the type a parameter of the source",
    "backends": "name the language by `lang`",
    "core": "use tune_kernel, or build a tunesmith.Problem",
    "energy": "set clocks as parameters in [device_settings] of a problem file, and tune for \"energy\" (docs/energy.md)",
    "hyper": "compare strategies with tunesmith.compare",
    "nvml": "Kernel Tuner 1.5 has no such module itself; energy and clocks are recorded without an observer",
    "observers": "samples, energy and clocks are recorded without one; tune a problem file for \"energy\" (docs/energy.md)",
    "runners": "tune_kernel measures, with simulation_mode it looks up, and `tunesmith tune --fleet` uses several devices",
    "schema": "store_output_file writes results in the form T4",
    "searchspace": "use tunesmith.Space",
    "strategies": "write your own search with tunesmith.Search, or as a loop over tunesmith.Space",
    "wrappers": "Kernel Tuner 1.5 has no such module itself; C++ functions need no wrapper in tunesmith.Problem",
}


class Refused(ValueError):
    """Something of Kernel Tuner that Tunesmith has no equal for. The message names it and a remedy."""


class Inexpressible(Refused):
    """A function that no expression of Tunesmith can say."""


class RefusedImport(Refused, ImportError):
    """A module or a name of Kernel Tuner that Tunesmith has no equal for."""


def refuse_name(module: str, name: str) -> NoReturn:
    """Refuses the name that a module of ours lacks. Python itself may ask for names in underscores.

    Raises:
        RefusedImport: The module has no such name.
    """
    if name.startswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    raise _refused(f"{module}.{name}")


def _refused(full_name: str) -> RefusedImport:
    name = full_name.removeprefix(PACKAGE + ".")
    known = next((part for part in _beginnings(name) if part in INSTEAD), "")
    remedy = INSTEAD.get(known, "if it only makes texts or numbers, import it from kernel_tuner itself")
    return RefusedImport(f"kernel_tuner.{name} has no equal: {remedy}")


def _beginnings(name: str) -> list[str]:
    """Returns a dotted name and its beginnings, the longest first."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


class _Absent(MetaPathFinder):
    """Refuses the import of modules that Kernel Tuner has and this package lacks."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.startswith(PACKAGE + "."):
            raise _refused(fullname)
        return None


class _Alias(Loader):
    """Gives the module of this package for one of `kernel_tuner`."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        # The import returns what stands here when a loader is done.
        sys.modules[name] = import_module(PACKAGE + name.removeprefix(REPLACED))


class _Replacement(MetaPathFinder):
    """Finds submodules of `kernel_tuner` here, if a script has put this package in its place in `sys.modules`.

    Else Python would load the files once more under the other name, with classes that are not the same.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        replaced = sys.modules.get(REPLACED)
        if fullname.startswith(REPLACED + ".") and getattr(replaced, "__name__", "") == PACKAGE:
            return spec_from_loader(fullname, _Alias())
        return None


# The one that replaces comes before Python's own, and the one that refuses last: what exists is found before.
sys.meta_path.insert(0, _Replacement())
sys.meta_path.append(_Absent())
