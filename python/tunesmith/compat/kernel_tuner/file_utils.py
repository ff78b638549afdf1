"""Writes results and facts about the machine in the form T4, as `kernel_tuner.file_utils` does."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from tunesmith import devices
from tunesmith._paths import path_text

from ._refused import refuse_name
from .util import CompilationFailedConfig, InvalidConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    from tunesmith._paths import Path as AnyPath

VERSION = "1.0.0"
# The parts of T4's times, by their names in results.
TIMES = {
    "compilation": "compile_time", "benchmark": "benchmark_time", "framework": "framework_time",
    "search_algorithm": "strategy_time", "validation": "verification_time",
}  # fmt: skip
# The time that a program may take that describes the machine, in seconds.
LIMIT = 10


def get_t4_results(
    results: Sequence[Mapping[str, Any]], tune_params: Mapping[str, Any], objective: str = "time"
) -> dict[str, Any]:
    """Returns results as a document of the form T4."""
    return {
        "results": [_result(row, tune_params, objective) for row in results],
        "schema_version": VERSION,
        "metadata": {"timeunit": "milliseconds"},
    }


def _result(row: Mapping[str, Any], tune_params: Mapping[str, Any], objective: str) -> dict[str, Any]:
    apart = {*tune_params, *TIMES.values(), "timestamp", "times"}
    return {
        **{name: row[name] for name in ("timestamp",) if name in row},
        "configuration": {name: row[name] for name in tune_params},
        "times": {**{name: row[ours] for name, ours in TIMES.items() if ours in row}, "runtimes": row.get("times", [])},
        "invalidity": _invalidity(row),
        "correctness": 1,
        "measurements": [
            {"name": name, "value": value, "unit": "ms" if name.startswith("time") else ""}
            for name, value in row.items()
            if name not in apart
        ],
        "objectives": [objective],
    }


def _invalidity(row: Mapping[str, Any]) -> str:
    error = row.get("__error__")
    if error is None:
        return "correct"
    if isinstance(error, CompilationFailedConfig):
        return "compile"
    return "constraints" if isinstance(error, InvalidConfig) else "runtime"


def store_output_file(
    output_filename: AnyPath, results: Sequence[Mapping[str, Any]], tune_params: Mapping[str, Any],
    objective: str = "time",
) -> None:  # fmt: skip
    """Writes results in the form T4. The name gets the ending `.json`, if it has none."""
    _write(path_text(output_filename, "output_filename"), get_t4_results(results, tune_params, objective))


def store_metadata_file(metadata_filename: AnyPath) -> None:
    """Writes facts about the machine and the software in the form T4."""
    _write(path_text(metadata_filename, "metadata_filename"), get_t4_metadata())


def get_t4_metadata() -> dict[str, Any]:
    """Returns facts about the machine and the software as a document of the form T4."""
    requirements = sorted(f"{one.metadata['Name']}=={one.version}" for one in metadata.distributions())
    return {
        "metadata": {
            "operating_system": platform.system() or "unidentified OS",
            "hardware": {"hardware_description": _hardware()},
            "environment": {"device_query": {"tunesmith": devices()["devices"]}, "requirements": requirements},
        },
        "schema_version": VERSION,
    }


def _hardware() -> list[Any]:
    """Returns what `lshw` says about the machine; without it, what Python knows."""
    try:
        told = subprocess.run(["lshw", "-json"], capture_output=True, timeout=LIMIT, check=True)
        described = json.loads(told.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return [{"machine": platform.machine(), "processor": platform.processor(), "system": platform.platform()}]
    return [described] if isinstance(described, dict) else list(described)


def _write(name: str, document: object) -> None:
    path = Path(name if name.endswith(".json") else f"{name}.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, default=lambda value: value.item()))


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
