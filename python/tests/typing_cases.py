"""Lists uses that type checkers must accept."""

from __future__ import annotations

import tunesmith


def seconds(config: dict[str, int | float | bool | str]) -> float:
    return float(config["X"])


def small(x: int) -> bool:
    return x < 3


def use() -> None:
    space = tunesmith.Space({"X": range(3), "Y": [1.5, 2.5]}, {"odd": "X % 2 == 1", "small": (["X"], small)})
    size: int = space.size
    first: dict[str, int | float | bool | str] = space[0]
    near: list[dict[str, int | float | bool | str]] = space.neighbours(first)
    search = tunesmith.Search(space, strategy="random", seed=size)
    for config in search.ask(4):
        search.tell(config, 1.5)
        search.tell(config, tunesmith.Failure("compile", "text"))
    run = tunesmith.tune(seconds, space, stop=10, progress=False)
    best = run.best
    if best is not None and best.ci95_ms is not None:
        low, high = best.ci95_ms
        print(low + high, best.config["X"], best.ratio, len(near))
    names: list[str] = [evaluation.status for evaluation in run.evaluations]
    print(names, run.to_polars().height)


def build() -> tunesmith.Run:
    import numpy

    x = numpy.ones(8, dtype="float32")
    kernel = tunesmith.Kernel("void f(const float *x, float *y) {}", "f", options=["-O3"])
    problem = tunesmith.Problem.build(
        kernel, {"x": x, "y": tunesmith.Out(x), "n": tunesmith.Scalar("i32", 8)}, {"U": [1, 2]}, reference=x
    )
    return tunesmith.tune(problem, device="c", stop="time 1s", start={"U": 2}, out="run.jsonl")


def paths(run: tunesmith.Run) -> int:
    import pathlib

    run.save(b"copy.jsonl")
    again = tunesmith.Run.load(pathlib.Path("copy.jsonl"))
    tunesmith.compare(["copy.jsonl", b"other.jsonl"], "random", history=pathlib.Path("old.jsonl"))
    tunesmith.Kernel(pathlib.Path("f.c"), "f", include=[b"include"])
    return tunesmith.convert(b"copy.jsonl", "copy.csv") + again.count
