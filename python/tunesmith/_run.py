"""Recorded runs."""

from __future__ import annotations

from . import _native
from ._paths import path_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict

    import pandas
    import polars

    from ._paths import Path
    from ._space import Config, Value

    class Objective(TypedDict):
        """The objective of a run. A front has its objectives in `parts` besides."""

        name: str
        direction: Literal["minimise", "maximise"]
        unit: str | None
        source: Literal["time", "metric", "printed", "recorded"]


class Best:
    """One of the best configurations of a run, by the run's verdict."""

    __slots__ = ("ci95_ms", "config", "difference", "index", "ratio", "samples", "time_ms", "value", "value_ci95")

    config: Config
    """The configuration."""
    index: int
    """Its rank in the space."""
    time_ms: float
    """The median time: of the final re-measurement if it took part, else of all samples."""
    ci95_ms: tuple[float, float] | None
    """A 95 % interval of that median. None for a single measurement."""
    samples: int
    """The number of samples; of visits in the final re-measurement, if it took part."""
    value: float
    """The value of the objective: for time, that in milliseconds."""
    value_ci95: tuple[float, float] | None
    """A 95 % interval of that value. None for a single measurement."""
    ratio: float | None
    """How many times better it is than the default configuration, in the objective: the speed-up if that is
    time. None if the default was not correct, or where a ratio has no meaning."""
    difference: float | None
    """How much better it is than the default, where a ratio has no meaning: signs differ, or a value is 0."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.config = document["config"]
        self.index = int(document["index"])
        self.time_ms = document["time_ms"]
        intervals = [document["ci95_ms"], document["value_ci95"]]
        self.ci95_ms, self.value_ci95 = [None if ends is None else (ends[0], ends[1]) for ends in intervals]
        self.samples = document["samples"]
        self.value = document["value"]
        self.ratio = document.get("ratio")
        self.difference = document.get("difference")

    @property
    def seconds(self) -> float:
        """The median time in seconds."""
        return self.time_ms / 1e3

    def __getitem__(self, parameter: str) -> Value:
        """Returns the value of a parameter."""
        return self.config[parameter]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Best) and (self.config, self.time_ms) == (other.config, other.time_ms)

    def __hash__(self) -> int:
        return hash((self.index, self.time_ms))

    def __repr__(self) -> str:
        interval = "" if self.ci95_ms is None else f" ({self.ci95_ms[0]:.4g} to {self.ci95_ms[1]:.4g})"
        gain = "" if self.ratio is None else f", {self.ratio:.2f} times the default"
        value = "" if self.value == self.time_ms else f"{self.value:.6g}, "
        return f"<{self.config}: {value}{self.time_ms:.4g} ms{interval}{gain}>"


class Evaluation:
    """One evaluation of a run."""

    __slots__ = (
        "clock", "compile_ms", "config", "counters", "depth", "index", "message", "status", "times_ms", "values",
        "warmup_ms",
    )  # fmt: skip

    config: Config
    """The configuration."""
    index: int
    """Its rank in the space."""
    status: str
    """`correct`, or the kind of failure: `compile`, `runtime`, `timeout`, `correctness`,
    `constraints` or `infeasible`."""
    times_ms: list[float]
    """All samples."""
    message: str | None
    """The reason of a failure, or a remark."""
    clock: float
    """The seconds from the start of the run to the end of the evaluation."""
    compile_ms: float | None
    """The time of its compilation, if it was compiled."""
    warmup_ms: float | None
    """The time of the first launch, which is no sample: its result is verified."""
    depth: str
    """`timed` or `profiled`."""
    values: dict[str, list[float]]
    """Other numbers of the samples."""
    counters: dict[str, float]
    """Hardware counters."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.config = document["config"]
        self.index = int(document["index"])
        self.status = document["status"]
        self.times_ms = document["times_ms"]
        self.message = document.get("message")
        self.clock = document["clock"]
        compiled = document.get("compile")
        self.compile_ms = None if compiled is None else compiled["time_ms"]
        self.warmup_ms = document.get("warmup_ms")
        self.depth = document["depth"]
        self.values = document.get("values", {})
        self.counters = document.get("counters", {})

    @property
    def is_correct(self) -> bool:
        """True if the configuration ran and gave the right answer."""
        return self.status == "correct"

    @property
    def time_ms(self) -> float | None:
        """The median time, or `None` if the configuration failed."""
        times = sorted(self.times_ms) if self.is_correct else []
        if not times:
            return None
        middle = len(times) // 2
        return times[middle] if len(times) % 2 else (times[middle - 1] + times[middle]) / 2

    def __repr__(self) -> str:
        time = self.time_ms
        return f"<{self.config}: {self.status if time is None else f'{time:.4g} ms'}>"


class Run:
    """A finished run: what `tune` returns, and `Run.load` reads from a journal.

    A run is a table for everything that reads Arrow's streams, such as `polars.DataFrame(run)`.

    >>> import tunesmith
    >>> run = tunesmith.tune(lambda config: config["X"] * 1e-3, {"X": [3, 2, 1]}, progress=False)
    >>> run.best
    <{'X': 1}: 1 ms (1 to 1), 3.00 times the default>
    >>> sorted(evaluation.config["X"] for evaluation in run.evaluations if evaluation.is_correct)
    [1, 2, 3]
    """

    __slots__ = ("_evaluations", "_recorded", "_summary")

    def __init__(self, recorded: _native.Recorded) -> None:
        self._recorded = recorded
        self._summary: dict[str, Any] | None = None
        self._evaluations: list[Evaluation] | None = None

    @classmethod
    def load(cls, journal: Path) -> Run:
        """Reads the run of a journal, of whatever front end.

        Raises:
            RequestError: The file is no journal, or is damaged.
        """
        return cls(_native.Recorded.load(path_text(journal, "journal")))

    def _facts(self) -> dict[str, Any]:
        if self._summary is None:
            self._summary = self._recorded.summary(0)
        return self._summary

    @property
    def best(self) -> Best | None:
        """The best correct configuration; `None` if none was correct.

        It is the default configuration, unless another one is better beyond doubt.
        """
        configs = self._facts()["top"]["configs"]
        return Best(configs[0]) if configs else None

    @property
    def ties(self) -> list[Best]:
        """The configurations that are statistically indistinguishable from the best."""
        top = self._facts()["top"]
        return [Best(config) for config in top["configs"][1 : 1 + top["ties"]]]

    @property
    def not_compared(self) -> list[Best]:
        """The finalists that were measured too seldom to be compared with the best."""
        top = self._facts()["top"]
        first = 1 + top["ties"]
        return [Best(config) for config in top["configs"][first : first + top["not_compared"]]]

    @property
    def state(self) -> str | None:
        """The state in which the run ended: `complete` or `unfinished final`. None if its journal does not tell."""
        state: str | None = self._facts()["top"]["state"]
        return state

    def top(self, n: int = 10) -> list[Best]:
        """Returns the `n` best configurations, the best first, in the order of the verdict."""
        configs = self._recorded.summary(n)["top"]["configs"]
        return [Best(config) for config in configs[:n]]

    @property
    def evaluations(self) -> list[Evaluation]:
        """Every evaluation, in the order made."""
        if self._evaluations is None:
            # Another run may have continued the journal since.
            documents = self._recorded.evaluations()[: self.count]
            self._evaluations = [Evaluation(document) for document in documents]
        return self._evaluations

    @property
    def count(self) -> int:
        """The number of evaluations, failures included."""
        count: int = self._facts()["top"]["evaluations"]
        return count

    @property
    def problem(self) -> str:
        """The name of the problem or of the function."""
        name: str = self._facts()["top"]["problem"]
        return name

    @property
    def device(self) -> str:
        """The name of the device."""
        name: str = self._facts()["device"]
        return name

    @property
    def strategy(self) -> str:
        """The strategy."""
        strategy: str = self._facts()["strategy"]
        return strategy

    @property
    def seed(self) -> int:
        """The seed of the strategy."""
        seed: int = self._facts()["seed"]
        return seed

    @property
    def objective(self) -> Objective:
        """The objective: its `name`, its `direction` (`"minimise"` or `"maximise"`), its `unit` if it is known, and the
        `source` of its numbers (`"time"`, `"metric"`, `"printed"` or `"recorded"`)."""
        objective: Objective = self._facts()["top"]["objective"]
        return objective

    @property
    def space_size(self) -> int:
        """The number of configurations of the space."""
        return int(self._facts()["space_size"])

    @property
    def default(self) -> Config | None:
        """The configuration that speed-ups refer to."""
        default: Config | None = self._facts()["default"]
        return default

    @property
    def default_ms(self) -> float | None:
        """The median time of the default configuration, if it was correct."""
        time: float | None = self._facts()["top"]["default_ms"]
        return time

    @property
    def default_value(self) -> float | None:
        """The value of the objective for the default configuration, if it was correct."""
        value: float | None = self._facts()["top"]["default_value"]
        return value

    @property
    def better_than_default(self) -> bool:
        """True if the best is better than the default beyond doubt."""
        better: bool = self._facts()["top"]["better_than_default"]
        return better

    @property
    def verified(self) -> bool | None:
        """True if outputs were compared with correct results; `None` if there are no outputs."""
        verified: bool | None = self._facts()["top"].get("verified")
        return verified

    @property
    def stop_reason(self) -> str | None:
        """The reason why the run ended; `None` for a run that was loaded."""
        reason: str | None = self._facts()["stop_reason"]
        return reason

    @property
    def gave_up(self) -> bool:
        """True if the run ended because its first evaluations showed that all will fail."""
        doomed: bool = self._facts()["doomed"]
        return doomed

    @property
    def wall_seconds(self) -> float | None:
        """The wall time of the run; `None` for a run that was loaded."""
        seconds: float | None = self._facts()["wall_seconds"]
        return seconds

    @property
    def notes(self) -> list[str]:
        """Remarks that were made while it ran."""
        notes: list[str] = self._facts()["notes"]
        return notes

    @property
    def journal(self) -> str:
        """The path of the journal. Without `out=` it exists as long as this object."""
        return str(self._recorded.journal)

    def save(self, path: Path) -> None:
        """Copies the journal to a new file, which `Run.load` and every command read.

        Raises:
            FileExistsError: The file exists.
        """
        self._recorded.save(path_text(path, "path"))

    def report(self, path: Path) -> None:
        """Writes one interactive HTML page: progress, the best configurations, parameters, every evaluation, failures."""
        self._recorded.write_page(path_text(path, "path"))

    def to_polars(self) -> polars.DataFrame:
        """Returns the evaluations as a table of polars, which must be installed."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the evaluations as a table of pandas, which must be installed."""
        import pandas

        return pandas.DataFrame(self._recorded.columns())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._recorded.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """Returns the report for notebooks: one picture and the tables, without scripts."""
        from html import escape

        page = escape(self._recorded.page(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        best = self.best
        return f"<tunesmith.Run of {self.problem}: {self.count} evaluations, {best and f'best {best!r}' or 'none correct'}>"
