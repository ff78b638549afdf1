"""The CUDA examples tuned; the matrix product against cuBLAS; what tuning itself costs."""

import multiprocessing
import os
import time

from . import cublas
from .tool import repository, sizes

LARGE = {"M": 4096, "N": 4096, "K": 4096}


def run(check):
    examples = sorted((repository() / "examples").glob("*/*-cuda.toml"))
    if not examples:
        check.add("examples", "examples/*/*-cuda.toml", "there are none", None)
    # The matrix product gets half of the time, since it is held against a number.
    others = max(len(examples) - 1, 1)
    for example in examples:
        name = example.parent.name
        seconds = check.left() * 0.5 if name == "gemm" else min(30, check.left() * 0.4 / others)
        tuned(check, example, name, max(seconds, 5))
    throughput(check)


def tuned(check, example, name, seconds):
    large = ["--size", sizes(LARGE)] if name == "gemm" else []
    out = check.folder / f"{name}.jsonl"
    stop = f"time {seconds:.0f}s"
    outcome = check.tool.json("tune", example, *large, "--stop", stop, "--out", out, timeout=seconds + 300)
    check.data[name] = outcome
    best, default = outcome["best"], outcome["default"]
    speedup = default["time_ms"] / best["time_ms"] if best and default and default["time_ms"] else None
    found = f"{best['time_ms']:.4f} ms, {outcome['evaluations']} evaluations" if best else "nothing correct"
    found += f", {speedup:.2f} x the default" if speedup else ""
    check.add(f"{name} tunes", "a correct configuration", found, bool(best))
    if not best:
        return
    spent = outcome["seconds"]
    overhead = 1e3 * (spent["space"] + spent["search"] + spent["store"] + spent["other"]) / outcome["evaluations"]
    check.add(f"{name}: overhead", "2 ms an evaluation at most", f"{overhead:.2f} ms", overhead <= 2)
    if name == "gemm":
        against_cublas(check, best["time_ms"])


def against_cublas(check, own_ms):
    # In a process of its own: a context in this one would stay.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            theirs = pool.apply(cublas.sgemm_ms, (LARGE["M"], LARGE["N"], LARGE["K"]))
        except cublas.Unavailable as reason:
            check.add("gemm against cuBLAS", "60 % at 4096^3", str(reason), None)
            return
    check.data["cublas_ms"] = theirs
    share = theirs / own_ms
    check.add("gemm against cuBLAS", "60 % at 4096^3", f"{share:.0%} ({theirs:.3f} ms)", share >= 0.6)


def throughput(check):
    """Compilations with eight jobs against one, with cubins kept in a folder that is empty at first."""
    example = repository() / "examples" / "conv2d" / "conv2d-cuda.toml"
    if not example.exists() or check.left() < 20:
        check.add("compilations with 8 jobs", "5 x those of one", "not enough time or no example", None)
        return
    rates = {}
    for jobs in (1, 8):
        os.environ["XDG_CACHE_HOME"] = str(check.folder / f"cache-{jobs}")
        started = time.monotonic()
        options = ["--strategy", "random", "--seed", 5, "--jobs", jobs, "--room", 16, "--stop", "evaluations 48"]
        small = ["--size", "X=512,Y=512"]
        out = check.folder / f"jobs-{jobs}.jsonl"
        check.tool.json("tune", check.searching("conv2d/conv2d-cuda.toml"), *small, *options, "--out", out)
        rates[jobs] = 48 / (time.monotonic() - started)
    del os.environ["XDG_CACHE_HOME"]
    check.data["compilations_per_second"] = rates
    factor = rates[8] / rates[1]
    cores = os.cpu_count() or 1
    text = f"{factor:.1f} x ({rates[8]:.1f} a second, {cores} processors)"
    # Eight jobs need eight processors.
    check.add("evaluations with 8 jobs", "5 x those of one job", text, factor >= 5 if cores >= 8 else None)
