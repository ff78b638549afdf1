"""Tables II to IV of CLTune's paper on this device, each figure beside the paper's."""

from . import published
from .tool import Failed, Overrun, sizes

CONVOLUTION = "suite/conv2d/conv2d-table2.toml"
PRODUCT = "suite/gemm/gemm-table4.toml"
IMAGE, SMALL_IMAGE = {"X": 8192, "Y": 4096}, {"X": 256, "Y": 128}
SQUARE, SMALL_SQUARE = {"M": 2048, "N": 2048, "K": 2048}, {"M": 128, "N": 128, "K": 128}

# The problems' names of the parameters, in the order of the paper's tables.
CONVOLUTION_NAMES = ("TBX", "TBY", "WPTX", "WPTY", "LOCAL", "VW", "PADDING", "UNROLL_FACTOR")
PRODUCT_NAMES = ("MWG", "NWG", "KWG", "MDIMC", "NDIMC", "SA", "SB", "MDIMA", "NDIMB", "STRM", "STRN", "VWM",
                 "VWN", "KWI")


def run(check):
    best = {}
    for number, width in enumerate(check.each("filters", published.FILTERS)):
        found = check.guarded(f"filter {width}x{width}", convolution, check, width, check.share(5 - number))
        if found:
            best[width] = found
    table_2(check, best)
    table_3(check, best)
    check.guarded("matrix product", table_4, check)


def image(check, width):
    return {**check.count(IMAGE, SMALL_IMAGE), "HFS": width // 2}


def convolution(check, width, seconds):
    """Returns the best configuration for a filter and its time."""
    stop = ["--stop", check.stop(seconds * 0.7), "--seed", 1]
    outcome, _ = check.tune(check.copy(CONVOLUTION, measure=""), f"conv2d-{width}", *stop, size=image(check, width))
    return outcome["best"]


def values_of(config, width):
    """Returns a configuration as the paper writes it."""
    values = [config[name] for name in CONVOLUTION_NAMES]
    return [*values[:-1], "yes" if values[-1] == width else "no"]


def table_2(check, best):
    rows = []
    for width in published.FILTERS:
        if width in best:
            rows.append([f"{width}x{width}", "this device", *values_of(best[width]["config"], width)])
        rows += [[f"{width}x{width}", f"the paper, {device}", *own[width]]
                 for device, own in published.CONVOLUTION_BEST.items()]
    head = ["filter", "device", "X_wg", "Y_wg", "X_wpt", "Y_wpt", "L$", "VW", "PAD", "UNR"]
    check.table("CLTune, table II: best parameters of the convolution", head, rows)


def table_3(check, best):
    """Applies the best of each filter to the others. The paper's figures are of the K40m."""
    problem = check.copy(CONVOLUTION, measure="")
    rows, merits = [], []
    for applied in check.each("table III", [width for width in published.FILTERS if width in best], least=0):
        row = [f"{applied}x{applied}"]
        for column, of in enumerate(published.FILTERS):
            theirs, share = published.MERITS[applied][column], None
            if of in best:
                config = dict(best[of]["config"])
                # Unrolled completely means by the width of the filter.
                config["UNROLL_FACTOR"] = 1 if config["UNROLL_FACTOR"] == 1 else applied
                time = best[of]["time_ms"] if of == applied else time_of(check, problem, config, image(check, applied))
                share = best[applied]["time_ms"] / time if time else None
                merits += [share] if share else []
            row.append(f"{f'{share:.0%}' if share else 'refused'} ({theirs} %)")
        rows.append(row)
    check.table("CLTune, table III: the best of one filter on the others (the paper's)",
                ["applied to a filter of", *(f"best of {width}x{width}" for width in published.FILTERS)], rows)
    least = f"{min(merits):.0%}" if merits else "none"
    name = "least merit of another filter's parameters"
    check.add(name, "told; the paper's is 64 %", least, True if merits else None)


def time_of(check, problem, config, size):
    """Returns the time of a configuration, or None where this device or this size refuses it."""
    options = ["--size", sizes(size), "--config", sizes(config)]
    try:
        ran = check.call("run", problem, "--device", "cuda", *options, codes=(0, 1))
    except Overrun:
        raise
    except Failed as refused:  # outside of the space: a constraint of the device or of the size
        check.data.setdefault("refused", []).append(str(refused))
        return None
    return ran["time_ms"] if ran["status"] == "correct" else None


def table_4(check):
    """Tunes the matrix product, and runs the best configurations of the paper's devices here (section VI-C)."""
    size, problem = check.count(SQUARE, SMALL_SQUARE), check.copy(PRODUCT, measure="")
    stop = ["--stop", check.stop(max(check.left() - 20, 5)), "--seed", 1]
    outcome, _ = check.tune(problem, "gemm-table4", *stop, size=size)
    own = outcome["best"]
    if not own:
        check.add("matrix product", "a correct configuration", "none", False)
        return
    gflops = 2e-6 * size["M"] * size["N"] * size["K"] / own["time_ms"]
    rows = [["this device", *(own["config"][name] for name in PRODUCT_NAMES), "100 %", ""]]
    for device, values in published.PRODUCT_BEST.items():
        time = time_of(check, problem, dict(zip(PRODUCT_NAMES, values)), size)
        share = f"{own['time_ms'] / time:.0%}" if time else "refused"
        theirs = published.PRODUCT_ELSEWHERE.get(device)
        rows.append([f"the paper, {device}", *values, share, f"{theirs} %" if theirs else "100 %"])
    head = ["best of", "M_wg", "N_wg", "K_wg", "M_dimC", "N_dimC", "L$_A", "L$_B", "M_dimA", "N_dimB", "M_stride",
            "N_stride", "M_vec", "N_vec", "K_wi", "speed here", "on the paper's K40m"]
    title = f"CLTune, table IV and section VI-C: matrix product of {size['M']}^3, {gflops:.0f} GFLOP/s here"
    check.table(title, head, rows)
    check.add("matrix product of table IV", "told", f"{own['time_ms']:.4f} ms, {gflops:.0f} GFLOP/s", True)
