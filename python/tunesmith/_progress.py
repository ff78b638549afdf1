"""The progress of a run."""

from __future__ import annotations

import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from ._tune import Display


@contextmanager
def display(progress: bool | Display | None) -> Generator[Display | None]:
    """Yields the function that shows the progress, or `None`."""
    if progress is None or progress is True:
        bar = _bar(wanted=progress is True)
        try:
            yield bar.show if bar else None
        finally:
            if bar:
                bar.close()
    else:
        yield progress if progress else None


class Bar:
    """A bar of tqdm."""

    __slots__ = ("_bar",)

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, evaluations: int, limit: int | None, failed: int, best: float | None) -> None:
        if self._bar.total is None and limit is not None:
            self._bar.reset(total=limit)
        self._bar.n = evaluations
        parts = [f"best {best:.4g} ms"] if best is not None else []
        parts += [f"{failed} failed"] if failed else []
        self._bar.set_postfix_str(", ".join(parts), refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


def _in_notebook() -> bool:
    """Returns true in a kernel of Jupyter. Other programs may import its package, too."""
    app = sys.modules.get("ipykernel.kernelapp")
    return app is not None and bool(app.IPKernelApp.initialized())


def _bar(wanted: bool) -> Bar | None:
    """Returns a bar, if tqdm is there and someone is looking, or wants it anyway."""
    in_notebook = _in_notebook()
    if not wanted and not in_notebook and not (sys.stderr and sys.stderr.isatty()):
        return None
    from importlib import import_module

    try:
        tqdm = import_module("tqdm.auto" if in_notebook else "tqdm")
    except ImportError:
        return None
    return Bar(tqdm.tqdm(unit=" evaluations", leave=False))
