"""Compares the shares of `tunesmith explain` with those of Python's fanova.

    python reference.py --tunesmith target/release/tunesmith [--trees N] [--numbers] RECORDING.csv.gz...

Prints a row of a table for each recording, and the shares themselves as JSON on standard error.

fanova takes the parameters as ordinal ones, which is its form of a list of values: each value has
the same weight. With `--numbers`, a parameter is a number from -0.5 to n - 0.5 instead: the position
of its value among the listed ones. The target is the logarithm of the time.
"""

import argparse
import json
import logging
import pathlib
import subprocess
import sys
import time

import ConfigSpace
import numpy
import pandas

numpy.float = float  # fanova 2.0.19 uses an alias that NumPy 1.24 removed
import fanova  # noqa: E402


def read(path):
    """Returns the parameters with their listed values, and the correct rows."""
    about = json.loads(pathlib.Path(str(path).removesuffix(".csv.gz") + ".json").read_text())
    rows = pandas.read_csv(path)
    rows = rows[rows["status"].str.lower() == "ok"]
    return {name: sorted(map(float, values)) for name, values in about["params"].items() if len(values) > 1}, rows


def encoded(parameters, rows, as_numbers):
    """Returns fanova's space, and the rows as positions in the lists of values."""
    space, columns = ConfigSpace.ConfigurationSpace(), []
    for name, values in parameters.items():
        if as_numbers:
            parameter = ConfigSpace.UniformFloatHyperparameter(name, -0.5, len(values) - 0.5)
        else:
            parameter = ConfigSpace.OrdinalHyperparameter(name, list(range(len(values))))
        space.add_hyperparameter(parameter)
        places = {value: float(at) for at, value in enumerate(values)}
        columns.append(rows[name].astype(float).map(places).rename(name))
    frame = pandas.concat(columns, axis=1).astype(float)
    return space, frame[[parameter.name for parameter in space.values()]]


class Mean:
    """The statistic that fanova reads of a marginal. Without cut-offs, all weights are the same."""

    def __init__(self, mean):
        self._mean = mean

    def mean(self):
        return self._mean

    def sum_of_weights(self):
        return 1.0


class OneTree:
    """A forest of one tree. With recent versions of SWIG, pyrfr cannot return the statistic of a tree
    to Python, but it can return the mean of the forest, which is that of its only tree."""

    def __init__(self, forest):
        self._forest = forest

    def marginal_prediction_stat_of_tree(self, _tree, sample):
        return Mean(self._forest.marginal_mean_prediction(sample))


def shares_of_tree(space, frame, target, seed):
    """Returns the share of each parameter in the variance of one tree of fanova."""
    found = fanova.fANOVA(frame, target, config_space=space, n_trees=1, seed=seed)
    found.the_forest = OneTree(found.the_forest)
    return [float(found.quantify_importance((at,))[(at,)]["individual importance"]) for at in range(frame.shape[1])]


def shares_of_fanova(path, trees, as_numbers):
    parameters, rows = read(path)
    space, frame = encoded(parameters, rows, as_numbers)
    target = numpy.log(rows["time_ms"].to_numpy(dtype=float))
    all_shares = [shares_of_tree(space, frame, target, seed) for seed in range(1, trees + 1)]
    return dict(zip(frame.columns, numpy.mean(all_shares, axis=0)))


def shares_of_tunesmith(path, tunesmith):
    printed = subprocess.run([tunesmith, "explain", str(path), "--json"], check=True, capture_output=True)
    return {entry["parameter"]: entry["share"] for entry in json.loads(printed.stdout)["importance"]}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("recordings", nargs="+", type=pathlib.Path)
    arguments.add_argument("--tunesmith", required=True)
    arguments.add_argument("--trees", type=int, default=64)
    arguments.add_argument("--numbers", action="store_true")
    options = arguments.parse_args()
    logging.disable(logging.WARNING)
    print("| recording | largest difference | parameter | tunesmith | fanova | seconds, in that order |")
    print("|---|---|---|---|---|---|")
    for path in options.recordings:
        start = time.monotonic()
        ours = shares_of_tunesmith(path, options.tunesmith)
        middle = time.monotonic()
        reference = shares_of_fanova(path, options.trees, options.numbers)
        end = time.monotonic()
        name = path.name.removesuffix(".csv.gz")
        print(json.dumps({"recording": name, "tunesmith": ours, "fanova": reference}), file=sys.stderr)
        worst = max(reference, key=lambda parameter: abs(ours[parameter] - reference[parameter]))
        print(f"| {name} | {abs(ours[worst] - reference[worst]):.3f} | {worst} | {ours[worst]:.3f} "
              f"| {reference[worst]:.3f} | {middle - start:.1f}, {end - middle:.1f} |", flush=True)


if __name__ == "__main__":
    main()
