"""Runs Kernel Tuner on the kernel of `peers.py`, in a process of its own.

    kernel_tuner_child.py REQUEST.json ANSWER.json

Exits with 4 if Kernel Tuner, or the module through which it uses a GPU, cannot be imported.
"""

import json
import pathlib
import sys
import time

NOT_THERE = 4


def imported(site):
    """Returns Kernel Tuner, NumPy, and the language under which Kernel Tuner knows the GPU's module."""
    if site:
        sys.path.append(site)
    try:
        import kernel_tuner
        import numpy
    except ImportError as missing:
        sys.exit(gone(missing))
    for module, language in (("cupy", "CUPY"), ("cuda.bindings", "NVCUDA"), ("pycuda", "PYCUDA")):
        try:
            __import__(module)
            return kernel_tuner, numpy, language
        except ImportError:
            continue
    sys.exit(gone("none of cupy, cuda-python and pycuda can be imported"))


def gone(reason):
    print(f"Kernel Tuner is not there: {reason}", file=sys.stderr)
    return NOT_THERE


def main():
    request = json.loads(pathlib.Path(sys.argv[1]).read_text())
    kernel_tuner, numpy, language = imported(request["site"])
    n = request["n"]
    random = numpy.random.default_rng(1)
    a, b = (random.random((n, n), dtype=numpy.float32) for _ in range(2))
    c = numpy.zeros((n, n), dtype=numpy.float32)
    # The names of a block's extents are the tool's, their values those of the kernel's parameters.
    parameters = {**request["parameters"], "block_size_x": request["parameters"]["TILE"],
                  "block_size_y": sorted({tile // work for tile in request["parameters"]["TILE"]
                                          for work in request["parameters"]["WORK"]})}
    started = time.perf_counter()
    results, _ = kernel_tuner.tune_kernel(
        "product", request["source"], (n, n), [a, b, c, numpy.int32(n)], parameters, lang=language,
        grid_div_x=["TILE"], grid_div_y=["TILE"], answer=[None, None, a @ b, None], atol=1e-2,
        restrictions=["block_size_x == TILE", "block_size_y == TILE // WORK"], iterations=request["samples"],
        quiet=True,
    )
    wall = time.perf_counter() - started
    total = {part: sum(result.get(f"{part}_time", 0) for result in results) / 1e3
             for part in ("compile", "verification", "benchmark")}
    correct = [result["time"] for result in results if isinstance(result["time"], float)]
    answer = {"evaluations": len(results), "wall": wall, "compile": total["compile"], "own": wall - sum(total.values()),
              "best_ms": min(correct, default=None)}
    pathlib.Path(sys.argv[2]).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
