"""Runs Tunesmith and Kernel Tuner's C backend on the same kernel and configurations.

Both tools get one tuning parameter, CONFIG. A generated header turns it into a configuration of
examples/gemm that Tunesmith sampled. Prints for each tool the wall time, the tool's own share of
it, the best configuration and its time; for Tunesmith also the peak resident memory of the tuner
and of its worker.
"""

import os
import pathlib
import sys
import tempfile
import time

from common import header, run_tunesmith, sample

SIZES = {"M": 512, "N": 512, "K": 512}
FLAGS = ["-O3", "-march=native"]


def write_sources(folder, example, configs):
    """live.c is for both; its timed function, which Kernel Tuner needs, is unused by Tunesmith."""
    (folder / "configs.h").write_text(header(configs))
    (folder / "live.c").write_text(
        f"""/* Plain C: Kernel Tuner looks for the text extern "C" and would add it otherwise. */
#define _POSIX_C_SOURCE 199309L
#include <time.h>
#include "{folder}/configs.h"
#include "{example.parent}/gemm.c"

float timed(const float *a, const float *b, float *c, float alpha, float beta)
{{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    gemm(a, b, c, alpha, beta);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (float)((end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) * 1e-6);
}}
"""
    )


def write_problem(folder, example, count):
    text = example.read_text().replace("gemm_reference.c", str(example.parent / "gemm_reference.c"))
    head, _, rest = text.partition("[parameters]")
    arguments = rest[rest.index("[[arguments]]"):].partition("[tuning]")[0]
    head = head.replace('file = "gemm.c"', 'file = "live.c"')
    (folder / "live.toml").write_text(f'{head}[parameters]\nCONFIG = {{ range = "0..{count}" }}\n\n{arguments}')


def run_kernel_tuner(folder, count):
    import numpy
    from kernel_tuner import tune_kernel

    random = numpy.random.default_rng(1)
    a = random.uniform(-1, 1, (SIZES["K"], SIZES["M"])).astype(numpy.float32)
    b = random.uniform(-1, 1, (SIZES["K"], SIZES["N"])).astype(numpy.float32)
    c = random.uniform(-1, 1, (SIZES["M"], SIZES["N"])).astype(numpy.float32)
    alpha, beta = numpy.float32(1.5), numpy.float32(0.5)
    answer = [None, None, alpha * (a.T @ b) + beta * c, None, None]
    started = time.perf_counter()
    results, _ = tune_kernel(
        "timed", str(folder / "live.c"), 1, [a, b, c, alpha, beta], {"CONFIG": list(range(count))},
        lang="C", compiler="gcc", compiler_options=FLAGS + [f"-D{name}={value}" for name, value in SIZES.items()],
        answer=answer, atol=1e-2, quiet=True,
    )
    wall = time.perf_counter() - started
    work = sum(r["compile_time"] + r["verification_time"] + r["benchmark_time"] for r in results) / 1e3
    best = min(results, key=lambda result: result["time"])
    return {"wall": wall, "own": (wall - work) / count, "best": best["CONFIG"], "best_ms": best["time"],
            "evaluations": len(results)}


def main():
    tunesmith, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    example = pathlib.Path(__file__).resolve().parents[3] / "examples/gemm/gemm.toml"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_sources(folder, example, sample(tunesmith, example, count))
        write_problem(folder, example, count)
        os.chdir(folder)
        rows = {"Tunesmith": run_tunesmith(tunesmith, folder / "live.toml"), "Kernel Tuner": run_kernel_tuner(folder, count)}
    print(f"{'tool':14} {'configurations':>14} {'wall s':>8} {'own ms per configuration':>25} {'best':>5} {'its time ms':>12}")
    for tool, row in rows.items():
        print(f"{tool:14} {row['evaluations']:14} {row['wall']:8.2f} {row['own'] * 1e3:25.2f} {row['best']:5} {row['best_ms']:12.3f}")
    ours = rows["Tunesmith"]
    print("Tunesmith, where the wall time went, s:", {part: round(value, 4) for part, value in ours["seconds"].items()})
    print("Tunesmith, peak resident memory, MiB:", {part: round(value, 1) for part, value in ours["peaks"].items()})


if __name__ == "__main__":
    main()
