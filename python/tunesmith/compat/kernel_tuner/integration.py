"""Stores the best configurations by device and size, and writes headers of them, as `kernel_tuner.integration` does."""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

from tunesmith._paths import path_text

from ._refused import Refused, refuse_name
from .util import OBJECTIVES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    from tunesmith._paths import Path as AnyPath

    Record = dict[str, Any]

VERSION = "1.0"
KEYS = ("kernel_name", "tunable_parameters", "objective", "data")

HEADER = """/* Written from the results of tuning; do not change it by hand. */
#pragma once
#ifndef kernel_tuner /* a tuner defines the parameters itself */

{branches}
#endif /* kernel_tuner */
"""


def store_results(
    results_filename: AnyPath,
    kernel_name: str,
    kernel_string: Any,
    tune_params: Mapping[str, Any],
    problem_size: Any,
    results: Sequence[Mapping[str, Any]],
    env: Mapping[str, Any],
    top: float = 3,
    objective: str | None = None,
    objective_higher_is_better: bool | None = None,
) -> None:
    """Adds the best configurations for a device and a size to a file of results.

    Args:
        results_filename: The file. It need not exist. Results for the same device and size are replaced.
        kernel_name: The name of the kernel.
        kernel_string: The source, or its file.
        tune_params: The parameters.
        problem_size: The size that the kernel was tuned for.
        results: What `tune_kernel` returned.
        env: The facts that `tune_kernel` returned.
        top: The share in per cent that a result may be worse than the best.
        objective: The objective; the time by default.
        objective_higher_is_better: True if the objective was maximised.

    Raises:
        ValueError: The file belongs to another kernel, to other parameters or to another objective.
    """
    objective, higher = _direction(objective, objective_higher_is_better)
    values = [row[objective] for row in results if objective in row]
    if not values:
        raise Refused(f"no result has {objective!r}; there is nothing to store")
    least, most = min(values) * (1 + top / 100), max(values) * (1 - top / 100)
    device, size = _word(env["device_name"].strip()), _size(problem_size)
    records = [
        {"device_name": device, "problem_size": size, "tunable_parameters": {name: row[name] for name in tune_params},
         objective: row[objective]}
        for row in results if objective in row and (row[objective] > most if higher else row[objective] < least)
    ]  # fmt: skip
    path = Path(path_text(results_filename, "results_filename"))
    if path.is_file():
        document = _read(path)
        _check(path, document, {"kernel_name": kernel_name, "tunable_parameters": list(tune_params), "objective": objective})
    else:
        document = {"version_number": VERSION, "kernel_name": kernel_name, "objective": objective,
                    "objective_higher_is_better": higher, "tunable_parameters": list(tune_params), "data": []}  # fmt: skip
        if kernel_string and (isinstance(kernel_string, (str, bytes)) or hasattr(kernel_string, "__fspath__")):
            source = path_text(kernel_string, "kernel_string")
            is_file = "\n" not in source and Path(source).is_file()
            document["kernel_string"] = Path(source).read_text() if is_file else source
    others = [one for one in document["data"] if (one["device_name"], one["problem_size"]) != (device, size)]
    path.write_text(json.dumps({**document, "data": others + records}, indent=0))


def _check(path: Path, document: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for key, given in wanted.items():
        if document[key] != given:
            raise Refused(f"{path} has the {key} {document[key]!r}, and the results have {given!r}; name another file")


def _direction(objective: str | None, higher: bool | None) -> tuple[str, bool]:
    name = objective or "time"
    if higher is None and name not in OBJECTIVES:
        raise Refused(f"objective={name!r}: say by objective_higher_is_better which values are good")
    return name, OBJECTIVES[name] if higher is None else higher


def _word(text: str) -> str:
    return re.sub("[^0-9a-zA-Z]+", "_", text)


def _size(problem_size: Any) -> str:
    if isinstance(problem_size, str):
        return problem_size
    extents = problem_size if isinstance(problem_size, (list, tuple)) else (problem_size,)
    return "x".join(str(extent) for extent in extents)


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise Refused(f"{path} does not exist; store_results writes it")
    document: dict[str, Any] = json.loads(path.read_text())
    missing = [key for key in KEYS if key not in document]
    if missing or document.get("version_number") != VERSION:
        raise Refused(f"{path} is no file of results of version {VERSION}; it lacks {', '.join(missing) or 'the version'}")
    return document


class TuneResults:
    """A file of results that `store_results` wrote."""

    def __init__(self, results_filename: AnyPath) -> None:
        path = Path(path_text(results_filename, "results_filename"))
        self.meta = _read(path)
        self.data: list[Record] = self.meta["data"]
        if not self.data:
            raise Refused(f"{path} has no results")
        self.objective: str = self.meta["objective"]
        self.objective_higher_is_better: bool = self.meta.get("objective_higher_is_better", False)

    def get_best_config(self, gpu_name: str = "default", problem_size: Any = None) -> dict[str, Any]:
        """Returns the best parameters for a device and a size.

        For another size, it is the configuration that is good for the most sizes; for another device,
        for the most results of all.
        """
        here = [one for one in self.data if one["device_name"] == _word(gpu_name)]
        size = _size(problem_size) if problem_size else None
        same = [one for one in here if one["problem_size"] == size]
        if same:
            sign = -1 if self.objective_higher_is_better else 1
            best = min(same, key=lambda one: sign * one[self.objective])
            return dict(best["tunable_parameters"])
        return self._most_common(here or self.data)

    def _most_common(self, records: Sequence[Record]) -> dict[str, Any]:
        """Returns the parameters of the most records; among equals those with the best sum."""
        groups: dict[str, list[Record]] = defaultdict(list)
        for record in records:
            groups[json.dumps(record["tunable_parameters"])].append(record)
        sign = -1 if self.objective_higher_is_better else 1
        best = min(groups.values(), key=lambda group: (-len(group), sign * sum(one[self.objective] for one in group)))
        return dict(best[0]["tunable_parameters"])


def create_device_targets(
    header_filename: AnyPath,
    results_filename: AnyPath,
    objective: str | None = None,
    objective_higher_is_better: bool | None = None,
) -> None:
    """Writes a header with the best parameters as macros, for each device that `TARGET_name` names.

    Args:
        header_filename: The header. It is replaced.
        results_filename: A file of `store_results`, which knows its objective.
    """
    header = Path(path_text(header_filename, "header_filename"))
    found = TuneResults(results_filename)
    lines: list[str] = []
    names = sorted({one["device_name"] for one in found.data})
    for word, name in zip(["#if defined", *["#elif defined"] * len(names)], names):
        lines += [f"{word}(TARGET_{name})", *_macros(found.get_best_config(name)), ""]
    lines += ["#else /* any other device */", *_macros(found.get_best_config()), "#endif", ""]
    header.write_text(HEADER.format(branches="\n".join(lines)))


def _macros(config: Mapping[str, Any]) -> list[str]:
    return [f"#define {name} {value}" for name, value in config.items()]


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
