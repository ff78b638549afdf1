"""The cache of a call: a journal of Tunesmith, and Kernel Tuner's file beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ._refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class Cache:
    """What a call keeps, and where it goes on.

    Attributes:
        file: Kernel Tuner's file.
        journal: The journal of the run.
        resumes: True if the journal exists.
        replay: The device that looks results up, if nothing is to be measured.
    """

    def __init__(self, cache: str | os.PathLike[str] | None, simulates: bool) -> None:
        self.file = None if cache is None else Path(os.fspath(cache))
        if self.file is not None and self.file.suffix != ".json":
            self.file = self.file.with_name(self.file.name + ".json")
        self.replay: str | None = None
        self.journal: Path | None = None
        self.resumes = False
        if simulates:
            if self.file is None or not self.file.is_file():
                raise Refused(f"simulation_mode needs a cache that exists, and {self.file} does not")
            self.replay = f"replay:{self.file}"
        elif self.file is not None:
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
        if self.journal is None or self.file is None:
            return
        facts = {**head, "tune_params_keys": list(tune_params), "tune_params": tune_params}
        lines = [f"{json.dumps(key)}: {json.dumps(value, default=_plain)}," for key, value in facts.items()]
        rows = {",".join(str(row[name]) for name in tune_params): row for row in results}
        cached = [f"{json.dumps(key)}: {json.dumps(row, default=_plain)}" for key, row in rows.items()]
        # Kernel Tuner knows by these last characters that the file is whole.
        self.file.write_text("\n".join(["{", *lines, '"cache": {', ",\n".join(cached) + "}", "}"]))


def _plain(value: Any) -> Any:
    """Returns a value of NumPy as JSON has it."""
    return value.item() if hasattr(value, "item") else str(value)


def read_cache(cache: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns the document of Kernel Tuner's file, which has no end if its run was cut off."""
    path = Path(os.fspath(cache))
    if not path.is_file():
        raise Refused(f"the cache {path} does not exist")
    text = path.read_text().strip()
    try:
        document = json.loads(text)
    except ValueError:
        document = json.loads(text.rstrip(",") + "}}")
    missing = [key for key in ("kernel_name", "problem_size", "tune_params_keys", "tune_params", "cache") if key not in document]
    if missing or isinstance(document["problem_size"], str):
        raise Refused(f"the cache {path} does not say {', '.join(missing) or 'the problem size'}; use tune_kernel")
    return dict(document)
