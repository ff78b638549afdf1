"""A bug of the native half is an exception that `except Exception` catches."""

import inspect

import pytest

import tunesmith
from tunesmith import _native
from tunesmith._settings import settings

PLANT = getattr(_native, "plant_panic", None)
pytestmark = pytest.mark.skipif(PLANT is None, reason="the package is built without assertions")

SPACE = _native.Space([("X", [1, 2])], [], [])
ONE = {"X": 1}
TEXT = "[parameters]\nX = [1, 2]\n"
SEARCH = _native.Search(SPACE)


def journal():
    return tunesmith.tune(lambda config: 1e-3, {"X": [1]}, remeasure=False, progress=False)


RUN = journal()
RECORDED = RUN._recorded

# A call of everything that may do more than return what it holds.
CALLS = {
    "main": lambda: _native.main(["--version"], "python", "."),
    "convert": lambda: _native.convert([], "none.csv"),
    "pow2": lambda: _native.pow2(1, 2),
    "divisors": lambda: _native.divisors(4),
    "processor": lambda: _native.processor(settings()),
    "devices": lambda: _native.devices(settings()),
    "compare": lambda: _native.compare([], [], 1, 1, 1, False, [], None),
    "predict": lambda: _native.predict("none.json", [], None, None, "auto", 1, 1),
    "tune_problem": lambda: _native.tune_problem(PROBLEM, settings(), None),
    "tune_function": lambda: _native.tune_function(lambda config: 1.0, "f", SPACE, settings(), False, None),
    "Space.__new__": lambda: _native.Space([("X", [1])], [], []),
    "Space.with_rows": lambda: _native.Space.with_rows([("X", [1])], [[1]]),
    "Space.size": lambda: SPACE.size,
    "Space.cartesian_size": lambda: SPACE.cartesian_size,
    "Space.parameters": lambda: SPACE.parameters,
    "Space.sample": lambda: SPACE.sample(1),
    "Space.neighbours": lambda: SPACE.neighbours(ONE),
    "Space.index": lambda: SPACE.index(ONE),
    "Space.violated": lambda: SPACE.violated(ONE),
    "Space.__contains__": lambda: ONE in SPACE,
    "Space.__len__": lambda: len(SPACE),
    "Space.__getitem__": lambda: SPACE[0],
    "Space.__iter__": lambda: iter(SPACE),
    "Configurations.__next__": lambda: next(CONFIGURATIONS),
    "Search.__new__": lambda: _native.Search(SPACE),
    "Search.ask": lambda: SEARCH.ask(1),
    "Search.tell": lambda: SEARCH.tell(ONE, 1.0),
    "Search.best": lambda: SEARCH.best,
    "Selector.__new__": lambda: _native.Selector([]),
    "Selector.select": lambda: SELECTOR.select("k", "d", []),
    "Problem.load": lambda: _native.Problem.load("none.toml", []),
    "Problem.parse": lambda: _native.Problem.parse(TEXT, ".", []),
    "Problem.build": lambda: tunesmith.Problem.build(tunesmith.Kernel("void f() {}", "f"), {}, {"X": [1]}),
    "Problem.constrained": lambda: PROBLEM.constrained([]),
    "Problem.judged": lambda: PROBLEM.judged([], print),
    "Problem.with_policy_of": lambda: PROBLEM.with_policy_of(PROBLEM),
    "Problem.space": lambda: PROBLEM.space(settings(device="synthetic:1")),
    "Recorded.load": lambda: _native.Recorded.load("none.jsonl"),
    "Recorded.summary": lambda: RECORDED.summary(1),
    "Recorded.evaluations": lambda: RECORDED.evaluations(),
    "Recorded.columns": lambda: RECORDED.columns(),
    "Recorded.__arrow_c_stream__": lambda: RECORDED.__arrow_c_stream__(),
    "Recorded.page": lambda: RECORDED.page(),
    "Recorded.write_page": lambda: RECORDED.write_page("none/page.html"),
    "Recorded.save": lambda: RECORDED.save("none/run.jsonl"),
}
PROBLEM = _native.Problem.parse(TEXT, ".", [])
CONFIGURATIONS = iter(SPACE)
SELECTOR = _native.Selector([])

# What returns something that the object holds, and what takes the interpreter's place.
HOLD = {
    "VERSION", "enter_worker", "plant_panic", "strategies",
    "Space.digest", "Space.groups", "Space.__bool__", "Space.__eq__", "Space.__ne__", "Space.__hash__", "Space.__repr__",
    "Space.__lt__", "Space.__le__", "Space.__gt__", "Space.__ge__",
    "Configurations.__iter__", "Search.told", "Search.failed", "Search.in_flight", "Search.space", "Search.__repr__",
    "Selector.warnings", "Problem.name", "Problem.warnings", "Recorded.journal",
}  # fmt: skip


def offered():
    """Returns the names of everything that the native half offers."""
    for name, one in vars(_native).items():
        if inspect.isclass(one):
            own = [member for member in vars(one) if member not in ("__doc__", "__module__")]
            yield from (f"{name}.{member}" for member in own)
        elif not name.startswith("__"):
            yield name


def test_every_function_of_the_native_half_is_called_here():
    assert set(offered()) - HOLD == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_bug_is_an_exception_that_says_so(name):
    PLANT()
    with pytest.raises(tunesmith.RunError, match="a bug of tunesmith: a planted fault; please report it") as caught:
        CALLS[name]()
    assert isinstance(caught.value, Exception)
