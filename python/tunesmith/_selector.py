"""Choosing configurations at run time."""

from __future__ import annotations

from . import _native
from ._errors import Remark, RequestError
from ._paths import path_texts
from ._settings import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._paths import Path
    from ._space import Config, Value


class Choice:
    """A configuration for an input."""

    __slots__ = ("config", "is_doubtful", "judgement", "source", "time_ms")

    config: Config
    """The configuration."""
    source: str
    """Where it comes from, a sentence."""
    is_doubtful: bool
    """True if nothing was measured anywhere near the input."""
    time_ms: float | None
    """Its measured time, for the input that it was measured for."""
    judgement: str | None
    """The judgement at fresh sizes of what chose it, a sentence; None if its choices were not judged."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.config = document["config"]
        self.source = document["source"]
        self.is_doubtful = document["is_doubtful"]
        self.time_ms = document["time_ms"]
        self.judgement = document["judgement"]

    def __getitem__(self, parameter: str) -> Value:
        """Returns the value of a parameter."""
        return self.config[parameter]

    def __repr__(self) -> str:
        return f"<{self.config}: {self.source}>"


class Selector:
    """Chooses the configuration of a kernel for an input: what an application embeds.

    It reads the files that `tunesmith export --as wisdom` and `tunesmith train timing` write. A file that
    is missing or damaged gives a warning, and the others answer.

    >>> import tempfile, tunesmith
    >>> with tempfile.NamedTemporaryFile("w", suffix=".wisdom") as file:
    ...     _ = file.write('{"format": "tunesmith wisdom", "version": 1}\\n'
    ...                    '{"kernel": "gemm", "device": "A", "input": {"M": 512}, "config": {"T": 32}, "time_ms": 1.5}\\n')
    ...     file.flush()
    ...     selector = tunesmith.Selector(file.name)
    >>> selector.choose("gemm", {"M": 1024}, device="A")
    <{'T': 32}: measured on this device for an input 1.0 doublings away>
    """

    __slots__ = ("_device", "_selector")

    def __init__(self, *paths: Path) -> None:
        if not paths:
            raise RequestError("a selector without files knows nothing; name files of wisdom or timing models")
        self._selector = _native.Selector(path_texts(paths, "paths"))
        self._device: str | None = None
        if self.warnings:
            from warnings import warn

            for warning in self.warnings:
                warn(warning, Remark, stacklevel=2)

    @property
    def warnings(self) -> list[str]:
        """The lines that could not be read."""
        return self._selector.warnings

    def choose(self, kernel: str, inputs: Mapping[str, float], device: str | None = None) -> Choice:
        """Returns the configuration of a kernel for an input, a mapping of sizes.

        Args:
            kernel: The name of the kernel: that of its problem.
            inputs: The sizes of the input.
            device: The name of the device, as runs record it. The default is this machine's processor.

        Raises:
            KeyError: Nothing is known of the kernel, not even a default.
        """
        if device is None:
            if self._device is None:
                self._device = _native.processor(settings()) or ""
            device = self._device
        chosen = self._selector.select(kernel, device, list(inputs.items()))
        if chosen is None:
            raise KeyError(f"the files know no kernel {kernel!r}")
        return Choice(chosen)
