"""Searches with Kernel Tuner in its simulation mode.

Its strategies get the constraints as `restrictions`, as its documentation says: their search space
holds valid configurations only. Where the recording's constraints do not give exactly its rows,
membership in the rows is the restriction.
"""

import kernel_tuner
from kernel_tuner.searchspace import Searchspace


# Its default, gp_hedge, raises an error as soon as a configuration has failed: a failure is the largest
# float, which makes the probabilities of its choice NaN.
OPTIONS = {"skopt": {"acq_func": "EI"}}


def restrictions(recording):
    unlimited = 1_000_000_000
    constraints = recording.constraints
    if constraints and Searchspace(recording.parameters, constraints, unlimited).size == len(recording.cache):
        return constraints
    return recording.contains


def search(recording, strategy, seed, budget):
    """Keys of distinct evaluations in order, and the number of all that were asked."""
    results, _ = kernel_tuner.tune_kernel(
        recording.kernel,
        "",
        recording.problem_size,  # it refuses a cache of another one
        [],
        recording.parameters,
        restrictions=restrictions(recording),
        lang="C",
        quiet=True,
        strategy=strategy,
        strategy_options={"max_fevals": min(budget, len(recording.cache)), **OPTIONS.get(strategy, {})},
        cache=recording.path,
        simulation_mode=True,
        seed=seed,
    )
    asked = [recording.key(result) for result in results]
    return [key for key in dict.fromkeys(asked) if key in recording.cache], len(asked)
