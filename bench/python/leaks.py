"""Ten thousand runs and searches, and a tenth of that of runs of C kernels, in one process: bench/results/python.md has the numbers.

    PYTHON bench/python/leaks.py [COUNT]

PYTHON is an interpreter in which the package is installed. Prints the resident memory, descriptors, threads and
temporary folders after a tenth, a half and all of COUNT. Fails if anything but memory grows, or if the memory
grows by more than a mebibyte after the first tenth.
"""

import gc
import os
import resource
import sys
import tempfile
from pathlib import Path

from tunesmith import Kernel, Out, Problem, Search, Space, tune

MOST_KIB = 1024
RIGHT = "void right(int *y) { for (int i = 0; i < 4; i++) y[i] = i; }"


def objective(config):
    if config["X"] == 5:
        raise ValueError("five")
    return 1e-3 * (1 + config["X"])


def one_run(seed):
    """A run with failures, its table and its verdict. Its space has a function as constraint."""
    space = Space({"X": range(8), "Y": range(8)}, [lambda X, Y: X + Y < 12])
    run = tune(objective, space, strategy="random", stop=8, seed=seed, remeasure=False, progress=False)
    run.evaluations, run.best, run._recorded.columns()


def problem():
    """A problem in code, one of whose configurations is wrong."""
    kernel = Kernel("void fill(int *y) { for (int i = 0; i < 4; i++) y[i] = i + (A == 3); }", "fill")
    return Problem.build(kernel, {"y": Out((4,), "i32")}, {"A": range(4)}, reference=Kernel(RIGHT, "right"))


def one_synthetic_problem(seed):
    run = tune(problem(), device="synthetic:1 + A", strategy="random", stop=3, seed=seed, progress=False)
    run.evaluations, run.best


def one_c_problem(seed):
    run = tune(problem(), stop=2, strategy="random", seed=seed, progress=False)
    run.evaluations, run.best


def one_search(seed):
    search = Search(Space({"X": range(8), "Y": range(8)}), seed=seed)
    for config in search.ask(4):
        search.tell(config, ValueError("one") if config["X"] == 1 else 1.0 + config["X"])
    search.best


def held():
    """Returns the resident memory in KiB, and the numbers of descriptors, threads and temporary folders."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    folders = len(list(Path(tempfile.gettempdir()).glob("tunesmith-*")))
    kib = pages * resource.getpagesize() // 1024
    return kib, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), folders


def measure(name, one, count):
    """Calls `one` with `count` seeds. Returns true if nothing is left."""
    first = None
    for number in range(1, count + 1):
        one(number)
        if number in (count // 10, count // 2, count):
            now = held()
            first = first or now
            print("{}: after {:,}: {:,} KiB, {} descriptors, {} threads, {} temporary folders".format(name, number, *now))
    return now[0] <= first[0] + MOST_KIB and now[1:] == first[1:]


if __name__ == "__main__":
    # A folder of its own, so that other processes leave nothing there.
    tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="leaks-")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    clean = [
        measure("runs", one_run, count),
        measure("searches", one_search, count),
        measure("runs of problems", one_synthetic_problem, count),
        measure("runs of C kernels", one_c_problem, count // 10),
    ]
    os.rmdir(tempfile.tempdir)
    sys.exit(not all(clean))
