"""The cache of a call: a journal of Tunesmith, and Kernel Tuner's file beside it."""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import json
from pathlib import Path

from tunesmith._paths import path_text

from ._refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tunesmith._paths import Path as AnyPath


def cache_file(cache: AnyPath, argument: str = "cache") -> Path:
    """Returns Kernel Tuner's file of a cache, whose ending may be left out."""
    file = Path(path_text(cache, argument))
    return file if file.suffix == ".json" else file.with_name(file.name + ".json")


class Cache:
    """What a call keeps, and where it goes on.

    Attributes:
        file: Kernel Tuner's file.
        journal: The journal of the run.
        resumes: True if the journal exists.
    """

    def __init__(self, cache: AnyPath | None) -> None:
        self.file = None if cache is None else cache_file(cache)
        self.journal: Path | None = None
        self.resumes = False
        if self.file is not None:
            self.journal = self.file.with_suffix(".jsonl")
            self.resumes = self.journal.is_file()
            if self.file.is_file() and not self.resumes:
                raise Refused(
                    f"the cache {self.file} was not written by Tunesmith, which continues {self.journal}; name another "
                    "cache, or use simulation_mode"
                )

    def write(
        self, head: Mapping[str, Any], tune_params: Mapping[str, Sequence[Any]], results: Sequence[Mapping[str, Any]]
    ) -> None:
        """Writes Kernel Tuner's file: facts about the kernel, and a row for each configuration."""
        if self.file is None:
            return
        facts = {**head, "tune_params_keys": list(tune_params), "tune_params": tune_params}
        lines = [f"{json.dumps(key)}: {json.dumps(value, default=_plain)}," for key, value in facts.items()]
        rows = {row_key(row, tune_params): row for row in results}
        cached = [f"{json.dumps(key)}: {json.dumps(row, default=_plain)}" for key, row in rows.items()]
        # Kernel Tuner knows by these last characters that the file is whole.
        self.file.write_text("\n".join(["{", *lines, '"cache": {', ",\n".join(cached) + "}", "}"]))


def row_key(row: Mapping[str, Any], names: Sequence[str] | Mapping[str, Any]) -> str:
    """Returns the key of a row in Kernel Tuner's file."""
    return ",".join([str(row[name]) for name in names])


def _plain(value: Any) -> Any:
    """Returns a value of NumPy as JSON has it."""
    return value.item() if hasattr(value, "item") else str(value)


def read_cache(cache: AnyPath, argument: str = "cache") -> dict[str, Any]:
    """Returns the document of Kernel Tuner's file, which has no end if its run was cut off."""
    path = cache_file(cache, argument)
    if not path.is_file():
        raise Refused(f"the cache {path} does not exist; name one that does, or leave out simulation_mode to measure")
    text = path.read_text().strip()
    document = _parsed(text) or _parsed(text.rstrip(",") + "}}")
    if not isinstance(document, dict):
        raise Refused(f"the cache {path} is no whole JSON; restore it, or remove what follows its last whole entry")
    missing = [key for key in ("kernel_name", "tune_params_keys", "tune_params", "cache") if key not in document]
    if missing:
        raise Refused(f"the cache {path} does not say {', '.join(missing)}; name a cache of Kernel Tuner")
    _check_entries(path, document)
    return document


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _check_entries(path: Path, document: dict[str, Any]) -> None:
    """Refuses entries that contradict themselves: nobody can say which of their parts is true."""
    names = document["tune_params_keys"]
    if not isinstance(document["cache"], dict):
        raise Refused(f"`cache` in {path} is no table of entries; name a cache of Kernel Tuner")
    for key, entry in document["cache"].items():
        where = f"entry \"{key}\" of the cache {path}"
        if not isinstance(entry, dict) or not entry.keys() >= set(names):
            lacking = [name for name in names if not isinstance(entry, dict) or name not in entry]
            raise Refused(f"{where} has no value of {', '.join(lacking)}; remove the entry")
        if not _agree(key, row_key(entry, names)):
            values = ", ".join(f"{name}={entry[name]}" for name in names)
            raise Refused(f"{where} has the values {values}; correct its key or its values, or remove it")


def _agree(key: str, expected: str) -> bool:
    """Returns true for two keys of the same values, even if a number is written as `1` and as `1.0`."""
    if key == expected:
        return True
    parts, others = key.split(","), expected.split(",")
    return len(parts) == len(others) and all(map(_are_same, parts, others))


def _are_same(one: str, other: str) -> bool:
    try:
        return one == other or float(one) == float(other)
    except ValueError:
        return False
