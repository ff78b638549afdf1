"""Runs the scripts with Kernel Tuner and with `tunesmith.compat.kernel_tuner`, and compares the results.

    python compare.py FOLDER TOOL      one tool's results as JSON: kernel_tuner or tunesmith
    python compare.py table FOLDER     the table of both tools' results, in Markdown
"""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import time

from scripts import SCRIPTS


def measure(folder, tool):
    if tool == "kernel_tuner":
        from kernel_tuner import tune_kernel
    else:
        from tunesmith.compat.kernel_tuner import tune_kernel
    for script in SCRIPTS:
        with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
            start = time.perf_counter()
            results, env = script(tune_kernel, str(pathlib.Path(scratch) / "cache"))
            wall = time.perf_counter() - start
        document = {
            "rows": [numbers(row) for row in results],
            "valid": ["__error__" not in row for row in results],
            "best": numbers(env["best_config"]),
            "wall": wall,
        }
        (folder / f"{script.__name__}.{tool}.json").write_text(json.dumps(document, default=float))


def numbers(row):
    return {name: value for name, value in row.items() if isinstance(value, (int, float, bool))}


def parameters(*documents):
    """The names that are parameters: integers in every row of both tools."""
    rows = [row for document in documents for row in document["rows"]]
    return sorted(name for name in rows[0] if all(isinstance(row.get(name), int) for row in rows))


def times(document, names):
    """The time of every configuration that ran."""
    rows = zip(document["rows"], document["valid"])
    return {tuple(row[name] for name in names): row["time"] for row, valid in rows if valid}


def shared(theirs, ours, names):
    """Returns how many configurations both tools ran. A search that samples says how often Kernel Tuner repeats."""
    a, b = times(theirs, names), times(ours, names)
    if a.keys() == b.keys():
        return "yes"
    evaluations = len(theirs["rows"])
    distinct = len({tuple(row[name] for name in names) for row in theirs["rows"]})
    both = len(a.keys() & b.keys())
    return f"a strategy samples: {both} in both; Kernel Tuner evaluates {evaluations}, {distinct} of them distinct"


def table(folder):
    print(
        "| script | ran, Kernel Tuner | ran, ours | the same configurations | our best, by Kernel Tuner's times "
        "| wall s, Kernel Tuner | ours |"
    )
    print("|---|---:|---:|---|---:|---:|---:|")
    for script in SCRIPTS:
        paths = [folder / f"{script.__name__}.{tool}.json" for tool in ("kernel_tuner", "tunesmith")]
        theirs, ours = (json.loads(path.read_text()) for path in paths)
        names = parameters(theirs, ours)
        a, b = times(theirs, names), times(ours, names)
        key = tuple(ours["best"][name] for name in names)
        share = f"{a[key] / min(a.values()):.2f} of its best" if key in a else "not measured by it"
        walls = f"{theirs['wall']:.1f} | {ours['wall']:.1f}"
        print(f"| {script.__name__} | {len(a)} | {len(b)} | {shared(theirs, ours, names)} | {share} | {walls} |")


if __name__ == "__main__":
    if sys.argv[1] == "table":
        table(pathlib.Path(sys.argv[2]))
    else:
        measure(pathlib.Path(sys.argv[1]), sys.argv[2])
