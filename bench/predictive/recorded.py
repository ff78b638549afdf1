"""Recordings of kernels that ran on several GPUs, with the kernels' launches and the GPUs' public numbers."""

import csv, gzip, math, os, pathlib, statistics

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("TUNESMITH_SHARED", HERE.parents[1] / "../shared"))
CONVOLUTION = ["block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "use_padding", "read_only"]
MILO = ["block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "read_only", "use_padding", "use_shmem"]
DEDISPERSION = ["block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "tile_stride_x", "tile_stride_y"]
COULOMB = ["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y", "Z_ITERATIONS", "INNER_UNROLL_FACTOR", "USE_SOA"]
GEMM = ["MWG", "NWG", "MDIMC", "NDIMC", "MDIMA", "NDIMB", "VWM", "VWN", "SA", "SB"]


def gpus():
    """The numbers of every GPU, by its name."""
    with open(HERE / "gpus.csv") as file:
        return {
            row.pop("gpu"): {name: float(row[name]) for name in row if name != "source"} for row in csv.DictReader(file)
        }


def read(file, names, time, wanted=lambda row: True):
    """The time of every configuration, by its numbers; None if it failed."""
    with gzip.open(SHARED / f"{file}.csv.gz", "rt") as opened:
        rows = [row for row in csv.DictReader(opened) if wanted(row)]
    ran = lambda row: row.get("status", "ok").lower() == "ok"
    return {tuple(float(row[name]) for name in names): time(row) if ran(row) else None for row in rows}


def recordings():
    """By kernel: the names of its parameters and, by GPU, the time of every configuration."""
    ms = lambda row: float(row["time_ms"])
    draws = lambda row: statistics.mean(float(row[f"t{at}"]) for at in range(1, 33))
    coulomb = lambda row: float(row["Computation duration (us)"])
    shared_part = lambda row: row["STRM"] == row["STRN"] == "0" and row["KWG"] == "32"
    hub = lambda kernel, names: {
        gpu: read(f"recordings/{kernel}-{tag}-hub", names, ms)
        for gpu, tag in (("A100", "A100"), ("RTX A4000", "A4000"), ("W6600", "W6600"))
    }
    return {
        "convolution": (
            CONVOLUTION,
            {
                "RTX 2080 Ti": read("recordings/convolution-RTX_2080_Ti-kt", CONVOLUTION, ms),
                "RTX 3060 laptop": read("recordings/convolution-RTX_3060_laptop-kt", CONVOLUTION, ms),
                "GTX 1080 Ti": read("draws/convolution_GTX_1080Ti", CONVOLUTION, draws),
                "GTX Titan X": read("draws/convolution_GTX_Titan_X", CONVOLUTION, draws),
            },
        ),
        "convolution_milo": (MILO, hub("convolution_milo", MILO)),
        "dedispersion_milo": (DEDISPERSION, hub("dedispersion_milo", DEDISPERSION)),
        "coulomb": (
            COULOMB,
            {
                **{
                    gpu: read(f"counters/paper-coulomb-{gpu[4:]}", COULOMB, coulomb)
                    for gpu in ("GTX 680", "GTX 750", "GTX 1070", "RTX 2080")
                },
                "RTX 2080 Ti": read("counters/coulomb3d_2080ti", COULOMB, lambda row: float(row["duration_us"])),
            },
        ),
        "gemm": (
            GEMM,
            {
                "RTX 2080 Ti": read("recordings/gemm-RTX_2080_Ti-kt", GEMM, ms, shared_part),
                "A100": read("recordings-large/gemm-A100-union", GEMM, ms, shared_part),
            },
        ),
    }


def launch(kernel, config):
    """Work-items of a group, groups, outputs of an item, bytes of local memory, and the group's first dimension."""
    if kernel == "coulomb":
        x, y, z, _, _ = config
        return x * y, 16777216 / (x * y * z), z, 0, x
    if kernel == "gemm":
        m, n, mc, nc, _, _, _, _, a, b = config
        return mc * nc, 4096 / m * (4096 / n), m / mc * (n / nc), 4 * 32 * (a * m + b * n), mc
    x, y, tx, ty, *rest = config
    width, height = (25000, 2048) if kernel == "dedispersion_milo" else (4096, 4096)
    groups = math.ceil(width / (x * tx)) * math.ceil(height / (y * ty))
    local = 0
    if kernel.startswith("convolution"):
        padding, used = (rest[0], 1) if kernel == "convolution" else (rest[1], rest[2])
        local = 4 * used * (x * tx + 14 + padding) * (y * ty + 14)
    return x * y, groups, tx * ty, local, x
