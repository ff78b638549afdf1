"""Chooses on a GPU held out, with and without public numbers of the GPUs.

Every variant orders the configurations that ran on the most training GPUs. The numbers are the speed of its
first one that runs on the GPU held out, and of the best of its first three and five, relative to the optimum
there: means over kernels. "three kernels" are the recordings of `bench/predictive/devices`, "five kernels"
all that ran on several GPUs.

A nested choice leaves out each of the other GPUs in turn, of all kernels, and takes what is best there. It
sees no recording of the GPU that is judged. Of equally good penalties it takes those in the middle of the
list or the first ones: if these differ, the choice is one of chance.
"""

import functools, itertools, math

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from recorded import gpus, launch, recordings

KERNELS, GPUS = recordings(), gpus()
ALL = {kernel: list(devices) for kernel, (_, devices) in KERNELS.items()}
PAGE = {
    "convolution": ["RTX 2080 Ti", "RTX 3060 laptop"],
    **{name: ALL[name] for name in ("convolution_milo", "dedispersion_milo")},
}
CONSIDERED = 600
# The most that a slow or failed neighbour counts, as a logarithm of time relative to the optimum.
WORST = 1.5


def times(kernel, gpu):
    return KERNELS[kernel][1][gpu]


@functools.cache
def optimum(kernel, gpu):
    return min(time for time in times(kernel, gpu).values() if time)


@functools.cache
def numbers(gpu):
    """The logarithms of a GPU's numbers and of four of their ratios."""
    of = GPUS[gpu]
    own = [of[name] for name in ("units", "clock_mhz", "bandwidth_gbs", "gflops", "l2_kib", "shared_kib", "threads")]
    ratios = [
        of["gflops"] / of["bandwidth_gbs"],
        of["gflops"] / of["units"],
        of["l2_kib"] / of["units"],
        of["bandwidth_gbs"] / of["units"],
    ]
    return [math.log(number) for number in own + ratios]


@functools.cache
def ratios(kernel, config, gpu):
    """Numbers of a launch relative to the GPU's: local memory, occupancy, waves of groups, filling of sub-groups."""
    items, groups, _, local, first = launch(kernel, config)
    of = GPUS[gpu]
    by_local = of["shared_kib"] * 1024 // local if local else 32
    resident = max(1, min(of["threads"] // items, by_local, 32))
    waves = groups / (of["units"] * resident)
    width = of["sub_group"]
    return (
        local / (of["shared_kib"] * 1024),
        min(1, resident * items / of["threads"]),
        math.log(waves),
        math.ceil(waves) / waves,
        math.ceil(items / width) * width / items,
        min(first, width) / width,
        math.log(groups * items / (of["units"] * of["threads"])),
        resident,
    )


@functools.cache
def generic(kernel, config):
    """Numbers of a launch that all kernels have."""
    items, groups, outputs, local, first = launch(kernel, config)
    return (math.log(items), math.log(groups), math.log(outputs), math.log1p(local), float(local > 0), math.log(first))


def row(kernel, config, gpu, columns):
    """Columns by letter: parameters, generic numbers, ratios, device numbers."""
    parts = {
        "p": lambda: config,
        "g": lambda: generic(kernel, config),
        "r": lambda: ratios(kernel, config, gpu),
        "d": lambda: numbers(gpu),
    }
    return [number for column in columns for number in parts[column]()]


@functools.cache
def table(kernel, gpu, columns):
    return np.array([row(kernel, config, gpu, columns) for config, time in times(kernel, gpu).items() if time])


@functools.cache
def targets(kernel, gpu, kind):
    """Logarithms of time relative to the median, or to the optimum and at most 3 times it, or ranks."""
    logs = np.log([time for time in times(kernel, gpu).values() if time])
    if kind == "rank":
        return logs.argsort().argsort() / len(logs)
    return logs - np.median(logs) if kind == "median" else np.minimum(logs - logs.min(), math.log(3))


def nearness(train, gpu, range_of):
    """The weights of training GPUs by the distance of their numbers, whose sum is 1; equal ones without a range."""
    if not range_of:
        return np.full(len(train), 1 / len(train))
    spread = np.array([numbers(name) for name in GPUS]).std(0)
    distances = [np.sqrt((((np.array(numbers(name)) - numbers(gpu)) / spread) ** 2).mean()) for name in train]
    weights = np.exp(-np.array(distances) / range_of)
    return weights / weights.sum()


@functools.cache
def candidates(kernel, train):
    """The configurations that ran on the most training GPUs, with the logarithms of their relative times on each."""
    of = [
        {config: math.log(time / optimum(kernel, gpu)) for config, time in times(kernel, gpu).items() if time}
        for gpu in train
    ]
    counts = {}
    for config in itertools.chain(*of):
        counts[config] = counts.get(config, 0) + 1
    configs = sorted(config for config, count in counts.items() if count == max(counts.values()))
    return configs, np.array([[own.get(config, np.nan) for own in of] for config in configs])


def measured(kernel, train, gpu, range_of):
    configs, logs = candidates(kernel, train)
    weights = nearness(train, gpu, range_of) * ~np.isnan(logs)
    return configs, np.nansum(logs * weights, 1) / weights.sum(1)


@functools.cache
def levels(kernel):
    """The values of each parameter, and the parameters of three or more values with some that are no powers of two."""
    found = [
        sorted({config[at] for device in KERNELS[kernel][1].values() for config in device})
        for at in range(len(KERNELS[kernel][0]))
    ]
    return found, [at for at, values in enumerate(found) if len(values) > 2 and any(map(is_odd, values))]


def is_odd(value):
    return value > 0 and math.log2(value) % 1 != 0


@functools.cache
def neighbours(kernel, config, train):
    """The mean relative time, as a logarithm, of the configurations one step away in one parameter."""
    found = []
    for at, values in enumerate(levels(kernel)[0]):
        place = values.index(config[at])
        for other in values[max(0, place - 1) : place] + values[place + 1 : place + 2]:
            near = (*config[:at], other, *config[at + 1 :])
            own = [(gpu, times(kernel, gpu)[near]) for gpu in train if near in times(kernel, gpu)]
            relative = [math.log(time / optimum(kernel, gpu)) if time else WORST for gpu, time in own]
            found += [min(number, WORST) for number in relative]
    return sum(found) / len(found) if found else WORST


@functools.cache
def costs(kernel, train, gpu, range_of):
    """The configurations of the least mean relative times, and what penalties multiply."""
    configs, logs = candidates(kernel, train)
    _, means = measured(kernel, train, gpu, None)
    best = np.argsort(means, kind="stable")[:CONSIDERED]
    _, weighted = measured(kernel, train, gpu, range_of)
    configs, spread = [configs[at] for at in best], np.nanmax(logs[best], 1) - means[best]
    odd = [sum(is_odd(config[at]) for at in levels(kernel)[1]) for config in configs]
    outputs = [generic(kernel, config)[2] / math.log(2) for config in configs]
    share = [ratios(kernel, config, gpu)[0] for config in configs]
    near = np.array([neighbours(kernel, config, train) for config in configs]) - means[best]
    return configs, np.stack([weighted[best], odd, outputs, share, near, spread], 1)


def speeds(kernel, gpu, configs):
    own = times(kernel, gpu)
    found = [optimum(kernel, gpu) / own[config] if own.get(config) else 0.0 for config in configs[:50]]
    return np.array([next(filter(None, found), 0.0), max(found[:3]), max(found[:5])])


@functools.cache
def of_penalties(kernel, train, gpu, grid):
    """The speeds of each entry of a grid: a range of nearness, and penalties for the columns of `costs`."""
    rows = []
    for range_of, *penalties in grid:
        configs, columns = costs(kernel, train, gpu, range_of)
        order = np.argsort(columns @ [1, *penalties], kind="stable")[:50]
        rows.append(speeds(kernel, gpu, [configs[at] for at in order]))
    return np.array(rows)


@functools.cache
def of_worths(kernel, train, gpu):
    """The speeds with each of `WORTHS`: each further configuration gains by the parameters in which it differs."""
    configs, columns = costs(kernel, train, gpu, None)
    cost, values = columns @ [1, *FIXED[SHIPPED][1:]], np.array(configs)
    varying = sum(len(values) > 1 for values in levels(kernel)[0])
    rows = []
    for worth in WORTHS:
        distances, chosen = np.full(len(configs), np.inf), []
        while len(chosen) < 5:
            chosen.append(int(np.argmin(np.where(distances > 0, cost - worth * np.minimum(distances, 1), np.inf))))
            distances = np.minimum(distances, (values != values[chosen[-1]]).sum(1) / varying)
        rows.append(speeds(kernel, gpu, [configs[at] for at in chosen]))
    return np.array(rows)


@functools.cache
def fitted(kernels, columns, kind, weights):
    """Trees for the recordings of `kernels`, with weights of their GPUs. All recordings of pools weigh the same."""
    tables, logs, scales = [], [], []
    for kernel, train in kernels:
        for gpu, weight in zip(train, weights or [1] * len(train)):
            tables.append(table(kernel, gpu, columns))
            logs.append(targets(kernel, gpu, kind))
            scales.append(np.full(len(logs[-1]), weight * (1 if len(kernels) == 1 else 2000 / len(logs[-1]))))
    trees = HistGradientBoostingRegressor(
        max_iter=100, learning_rate=0.1, max_depth=4, max_leaf_nodes=None, min_samples_leaf=10, early_stopping=False
    )
    return trees.fit(np.vstack(tables), np.concatenate(logs), sample_weight=np.concatenate(scales))


@functools.cache
def of_trees(kernel, train, gpu, pool, columns, kind="median", range_of=None, pooled=False, blend=0.0):
    """The speeds of the order by trees; `blend` is the weight of the measured mean."""
    kernels = pool if pooled else ((kernel, train),)
    weights = tuple(nearness(train, gpu, range_of) * len(train)) if range_of else None
    configs, means = measured(kernel, train, gpu, None)
    predicted = fitted(kernels, columns, kind, weights).predict(
        np.array([row(kernel, config, gpu, columns) for config in configs])
    )
    order = np.argsort((1 - blend) * predicted + blend * means, kind="stable")
    return speeds(kernel, gpu, [configs[at] for at in order[:50]])


NONE = (None, 0, 0, 0, 0, 0)
HALF = "trees: parameters, ratios; half the measured mean"
SHIPPED = "values that are no powers of two cost 5 %, as shipped"
TREES = {
    "trees: parameters": dict(columns="p"),
    "trees: parameters, device numbers": dict(columns="pd"),
    "trees: parameters, ratios": dict(columns="pr"),
    "trees: parameters, launch, ratios, device numbers": dict(columns="pgrd"),
    "trees: parameters, ratios; times over the optimum, at most 3": dict(columns="pr", kind="clipped"),
    "trees: parameters, ratios; ranks": dict(columns="pr", kind="rank"),
    "trees: parameters; the nearest GPUs weigh more": dict(columns="p", range_of=0.5),
    HALF: dict(columns="pr", kind="clipped", blend=0.5),
    "trees over all kernels: launch, ratios": dict(columns="gr", kind="clipped", pooled=True),
    "trees over all kernels: launch, ratios, device numbers": dict(columns="grd", kind="clipped", pooled=True),
    "trees over all kernels: launch, ratios; half the measured mean": dict(
        columns="gr", kind="clipped", pooled=True, blend=0.5
    ),
}
FIXED = {
    "best single configuration": NONE,
    SHIPPED: (None, 0.05, 0, 0, 0, 0),
    "the same; the nearest GPUs weigh more": (0.5, 0.05, 0, 0, 0, 0),
}
WORTHS = (0.2, 0, 0.1, 0.3, 0.5, 1)
STEPS, FINE = (0, 0.02, 0.05, 0.1), (0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15)
GRIDS = {
    "cost of values that are no powers of two": tuple((None, odd, 0, 0, 0, 0) for odd in FINE),
    "that and a cost of each doubling of outputs of an item": tuple(
        (None, odd, outputs, 0, 0, 0) for odd in FINE for outputs in FINE
    ),
    "that and nearness of GPUs": tuple(itertools.product((None, 0.5, 0.2), STEPS, STEPS, (0,), (0,), (0,))),
    "that, share of local memory, neighbours, spread over GPUs": tuple(
        itertools.product((None, 0.5, 0.2), STEPS, STEPS, (0, 0.1, 0.3), (0, 0.3), (0, 0.3))
    ),
    "the same in other steps": tuple(
        itertools.product(
            (None, 0.3, 0.7),
            (0, 0.01, 0.03, 0.05, 0.08),
            (0, 0.01, 0.03, 0.05, 0.08, 0.12),
            (0, 0.05, 0.2),
            (0, 0.2),
            (0, 0.2),
        )
    ),
}


def without(setting, *left_out):
    return {kernel: tuple(gpu for gpu in devices if gpu not in left_out) for kernel, devices in setting.items()}


def pairs(setting, judged=None):
    """Each kernel and GPU left out of it, with the training GPUs and all training sets, none of which has `judged`."""
    for kernel, devices in without(setting, judged).items():
        for gpu in devices:
            pool = without(setting, judged, gpu)
            if pool[kernel]:
                yield kernel, pool[kernel], gpu, tuple((name, train) for name, train in pool.items() if train)


def by_kernel(results):
    """The mean over kernels of the mean over GPUs, from pairs of a kernel and numbers."""
    of = {}
    for kernel, numbers_of in results:
        of.setdefault(kernel, []).append(numbers_of)
    return np.mean([np.mean(rows, 0) for rows in of.values()], 0)


def nested(setting, evaluate, pick, column=0):
    """The speeds, for each GPU held out, of the variant that `pick` takes by a column of those on the others."""
    results, of_judged = [], {}
    for kernel, train, gpu, pool in pairs(setting):
        if gpu not in of_judged:
            inner = [(other[0], evaluate(*other)) for other in pairs(ALL, gpu)]
            of_judged[gpu] = by_kernel(inner)[:, column]
        results.append((kernel, evaluate(kernel, train, gpu, pool)[pick(of_judged[gpu])]))
    return results


def middle(scores):
    best = np.flatnonzero(scores > scores.max() - 1e-9)
    return best[len(best) // 2]


def show(name, run):
    """Prints a line: the means on three and on five kernels, and the first candidates on the three."""
    page, every = run(PAGE), run(ALL)
    cells = ["/".join(f"{number:.3f}".lstrip("0") for number in by_kernel(results)) for results in (page, every)]
    first = " ".join(f"{numbers_of[0]:.2f}".lstrip("0") for _, numbers_of in page)
    print(f"| {name} | {cells[0]} | {cells[1]} | {first} |", flush=True)


def after_one_gpu(judged):
    """The first candidates after training on one GPU, without `judged`: of the penalty as shipped, and of trees."""
    results = []
    for kernel, devices in without(ALL, judged).items():
        for trained, gpu in itertools.permutations(devices, 2):
            robust = of_penalties(kernel, (trained,), gpu, (FIXED[SHIPPED],))[0]
            results.append(
                (kernel, [robust[0], of_trees(kernel, (trained,), gpu, (), **TREES["trees: parameters"])[0]])
            )
    return by_kernel(results)


def main():
    print("| variant | three kernels: first/of 3/of 5 | five kernels | first, for each GPU of the three |")
    print("|---|---|---|---|")
    for name, penalties in FIXED.items():
        show(
            name,
            lambda setting: [
                (kernel, of_penalties(kernel, train, gpu, (penalties,))[0]) for kernel, train, gpu, _ in pairs(setting)
            ],
        )
    for name, options in TREES.items():
        show(
            name,
            lambda setting: [
                (kernel, of_trees(kernel, train, gpu, pool, **options)) for kernel, train, gpu, pool in pairs(setting)
            ],
        )
    for name, grid in GRIDS.items():
        evaluate = lambda kernel, train, gpu, pool: of_penalties(kernel, train, gpu, grid)
        show(f"nested: {name} (first of equal ones)", lambda setting: nested(setting, evaluate, np.argmax))
        show(f"nested: {name} (middle of equal ones)", lambda setting: nested(setting, evaluate, middle))

    worths = lambda kernel, train, gpu, pool: of_worths(kernel, train, gpu)
    show(
        "as shipped, and differing in all parameters is worth 20 %",
        lambda setting: [(of[0], worths(*of)[0]) for of in pairs(setting)],
    )
    for column, count in ((1, 3), (2, 5)):
        show(f"nested: that worth, by the best of {count}", lambda setting: nested(setting, worths, np.argmax, column))

    def measured_or_trees(kernel, train, gpu, pool):
        fixed = of_penalties(kernel, train, gpu, tuple(FIXED.values()))
        return np.array([*fixed, of_trees(kernel, train, gpu, pool, **TREES[HALF])])

    show(f"nested: one of the first three, or {HALF}", lambda setting: nested(setting, measured_or_trees, np.argmax))
    for judged in PAGE["convolution"]:
        robust, trees = after_one_gpu(judged)
        print(f"\nAfter training on one GPU, without {judged}: robust configuration {robust:.3f}, trees {trees:.3f}.")


if __name__ == "__main__":
    main()
