"""Measures what the Python package costs: bench/results/python.md has the numbers.

    PYTHON bench/python/measure.py [import] [ask] [rate] [worker]

PYTHON is an interpreter in which the package is installed. Without names, everything is measured.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import tunesmith
from tunesmith import Search, Space, _native, tune


def in_processes(code, times=15):
    """Returns the median wall time of a process that runs `code`, in milliseconds."""

    def one():
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return 1e3 * (time.perf_counter() - start)

    return statistics.median(one() for _ in range(times))


def measure_import():
    inside = "import time; start = time.perf_counter(); import tunesmith; print(1e3 * (time.perf_counter() - start))"
    measured = [float(subprocess.check_output([sys.executable, "-c", inside])) for _ in range(15)]
    print(f"import: {statistics.median(measured):.1f} ms (median of 15; from {min(measured):.1f} to {max(measured):.1f})")
    print(f"a process that imports it: {in_processes('import tunesmith'):.1f} ms; one that does not: {in_processes(''):.1f} ms")


def measure_ask():
    """Times `ask` and `tell` with the strategy of the least work of its own."""
    space = Space({f"P{i}": range(16) for i in range(8)}, ["P0 % (P1 + 1) == 0"])
    for strategy in ("random", "exhaustive"):
        search, asks, tells = Search(space, strategy), [], []
        for _ in range(20_000):
            start = time.perf_counter_ns()
            config = search.ask(1)[0]
            asked = time.perf_counter_ns()
            search.tell(config, 1.0)
            tells.append(time.perf_counter_ns() - asked)
            asks.append(asked - start)
        ask, tell = statistics.median(asks) / 1e3, statistics.median(tells) / 1e3
        print(f"{strategy}: ask {ask:.1f} us, tell {tell:.1f} us (medians of 20,000, 8 parameters)")


def measure_rate():
    space = Space({f"P{i}": range(32) for i in range(4)})
    count = 20_000
    for remeasure in (False, True):
        start = time.perf_counter()
        run = tune(lambda config: 1e-6, space, strategy="random", stop=count, remeasure=remeasure, progress=False)
        seconds = time.perf_counter() - start
        print(f"random search, remeasure={remeasure}: {run.count / seconds:,.0f} evaluations/s ({run.count:,} in {seconds:.2f} s)")


def measure_worker():
    """Times the start of an interpreter that loads the native module and ends."""
    folder = str(Path(_native.__file__).parent)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import _native"

    def starts(*arguments):
        def one():
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True)
            return 1e3 * (time.perf_counter() - start)

        return statistics.median(one() for _ in range(25))

    print(f"an interpreter, -I -S: {starts('-I', '-S', '-c', ''):.1f} ms")
    print(f"with the native module: {starts('-I', '-S', '-c', code, folder):.1f} ms")


MEASUREMENTS = {
    "import": measure_import, "ask": measure_ask, "rate": measure_rate, "worker": measure_worker,
}  # fmt: skip

if __name__ == "__main__":
    print(f"tunesmith {tunesmith.__version__}, Python {sys.version.split()[0]}, {os.path.getsize(_native.__file__):,} bytes")
    for name in sys.argv[1:] or MEASUREMENTS:
        MEASUREMENTS[name]()
