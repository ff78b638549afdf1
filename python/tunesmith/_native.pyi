"""The native half of the package. Its names are no interface."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Union

Value = Union[int, float, bool, str]
Config = dict[str, Value]
Path = Union[str, PathLike[str]]

VERSION: str

def main(arguments: Sequence[str], python: str, folder: str) -> int: ...
def plant_panic() -> None:
    """Makes the next call panic. Packages that are shipped do not have it."""

def enter_worker(arguments: Sequence[str]) -> None: ...
def convert(inputs: Sequence[Path], out: Path, to: Union[str, None] = None) -> int:
    """Writes recordings of one space to a file in another format."""

def strategies() -> list[str]:
    """Returns the names of all strategies."""

def pow2(first: int, last: int) -> list[int]:
    """Returns the powers of two from `first` to `last`."""

def divisors(n: int) -> list[int]:
    """Returns the divisors of `n`."""

class Space:
    def __new__(
        cls,
        parameters: Sequence[tuple[str, Sequence[Value]]],
        constraints: Sequence[tuple[str, Union[str, Callable[..., Any]], Sequence[str]]],
        sizes: Sequence[tuple[str, Value]],
        built: Union[Space, None] = None,
    ) -> Any: ...
    @staticmethod
    def with_rows(parameters: Sequence[tuple[str, Sequence[Value]]], rows: Sequence[Sequence[Value]]) -> Space: ...
    @property
    def size(self) -> int:
        """The exact number of valid configurations."""

    @property
    def cartesian_size(self) -> int:
        """The number of combinations of values, valid or not."""

    @property
    def parameters(self) -> dict[str, list[Value]]:
        """The parameters with their values."""

    @property
    def digest(self) -> str:
        """The digest that identifies the space and its indices."""

    @property
    def groups(self) -> list[list[str]]:
        """The names of the parameters that constraints join, directly or through others."""

    def sample(self, n: int, seed: int = 1) -> list[Config]:
        """Returns `n` distinct configurations, drawn uniformly; all of them if there are no more."""

    def neighbours(self, config: Mapping[str, Value], kind: str = "hamming") -> list[Config]:
        """Returns the valid configurations near `config`."""

    def index(self, config: Mapping[str, Value]) -> int:
        """Returns the rank of a valid configuration."""

    def violated(self, config: Mapping[str, Value]) -> list[str]:
        """Returns the names of the constraints that exclude a configuration."""

    def __contains__(self, config: object) -> bool: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Config: ...
    def __iter__(self) -> Iterator[Config]: ...

class Configurations:
    def __iter__(self) -> Configurations: ...
    def __next__(self) -> Config: ...

class Search:
    """A strategy that is asked for configurations and told what they cost."""

    def __new__(cls, space: Space, strategy: str = "default", seed: int = 1) -> Search: ...
    def ask(self, n: int = 1) -> list[Config]:
        """Returns at most `n` configurations to evaluate next."""

    def tell(self, config: Mapping[str, Value], cost: Union[float, BaseException]) -> None:
        """Tells the cost of a configuration that was asked, or its failure."""

class Recorded:
    @staticmethod
    def load(journal: Path) -> Recorded: ...
    @property
    def journal(self) -> object: ...
    def summary(self, count: int) -> dict[str, Any]: ...
    def evaluations(self) -> list[dict[str, Any]]: ...
    def columns(self) -> dict[str, list[Any]]: ...
    def page(self) -> str: ...
    def write_page(self, out: Path) -> None: ...
    def save(self, out: Path) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class Selector:
    def __new__(cls, paths: Sequence[Path]) -> Selector: ...
    @property
    def warnings(self) -> list[str]: ...
    def select(
        self, kernel: str, device: str, input: Sequence[tuple[str, float]]
    ) -> Union[dict[str, Any], None]: ...

def processor(options: dict[str, Any]) -> Union[str, None]: ...
def devices(options: dict[str, Any]) -> Any: ...
def compare(
    recordings: Sequence[Path],
    strategies: Sequence[str],
    repeats: int,
    budget: int,
    seed: int,
    noise: bool,
    history: Sequence[Path],
    model: Union[str, None],
) -> Any: ...
def predict(
    model: Path,
    input: Sequence[tuple[str, Value]],
    device: Union[str, None],
    problem: Union[Problem, None],
    search: str,
    count: int,
    seed: int,
) -> Any: ...

class Problem:
    @staticmethod
    def load(path: Path, sizes: Sequence[tuple[str, Value]]) -> Problem: ...
    @staticmethod
    def parse(text: str, folder: Path, sizes: Sequence[tuple[str, Value]]) -> Problem: ...
    @staticmethod
    def build(parts: dict[str, Any]) -> Problem: ...
    @property
    def name(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def constrained(self, constraints: list[tuple[str, Union[str, Callable[..., Any]], list[str]]]) -> Problem: ...
    def judged(self, outputs: Sequence[str], function: Callable[[dict[str, bytes]], Union[str, None]]) -> Problem: ...
    def with_policy_of(self, other: Problem) -> Problem: ...
    def space(self, options: dict[str, Any]) -> Space: ...

def tune_problem(
    problem: Problem,
    options: dict[str, Any],
    display: Union[Callable[[int, Union[int, None], int, Union[float, None]], None], None],
) -> tuple[Recorded, Union[BaseException, None]]: ...
def tune_function(
    function: Callable[[Config], Any],
    name: str,
    space: Space,
    options: dict[str, Any],
    judged: bool,
    display: Union[Callable[[int, Union[int, None], int, Union[float, None]], None], None],
) -> tuple[Recorded, Union[BaseException, None]]: ...
