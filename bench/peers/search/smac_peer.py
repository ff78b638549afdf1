"""Searches with SMAC3: `hpo`, its facade with random forests for categorical and ordinal parameters.

ConfigSpace's forbidden clauses relate two parameters at most and cannot state the constraints of
these spaces. A configuration outside of the space is told as a crashed trial, which is SMAC3's
documented way for configurations that cannot be evaluated. It counts as no evaluation and costs
nothing. One that fails counts, and is a crashed trial too.
"""

import tempfile

from ConfigSpace import Categorical, ConfigurationSpace, OrdinalHyperparameter
from smac import HyperparameterOptimizationFacade, Scenario
from smac.runhistory.dataclasses import TrialValue
from smac.runhistory.enumerations import StatusType

from recording import Ledger


def numeric(choices):
    return all(isinstance(choice, (int, float)) and not isinstance(choice, bool) for choice in choices)


def space(recording, seed):
    built = ConfigurationSpace(seed=seed)
    for name, choices in recording.parameters.items():
        kind = OrdinalHyperparameter if numeric(choices) and len(choices) > 1 else Categorical
        built.add(kind(name, sorted(choices) if kind is OrdinalHyperparameter else list(choices)))
    return built


def search(recording, strategy, seed, budget):
    """Keys of distinct evaluations in order, and the number of all that were asked."""
    assert strategy == "hpo", f"SMAC3 is run by its facade `hpo`, not `{strategy}`"
    ledger = Ledger(recording, budget)
    with tempfile.TemporaryDirectory() as folder:
        # As many trials as the ledger may be asked; the initial design is a quarter of the budget, as by default.
        trials = 10 * budget
        scenario = Scenario(
            space(recording, seed), deterministic=True, n_trials=trials, seed=seed, output_directory=folder
        )
        design = HyperparameterOptimizationFacade.get_initial_design(scenario, max_ratio=0.25 * budget / trials)
        facade = HyperparameterOptimizationFacade(
            scenario, lambda config, seed=0: 0.0, initial_design=design, logging_level=False, overwrite=True
        )
        while not ledger.spent():
            trial = facade.ask()
            time = ledger.ask(dict(trial.config))
            status = StatusType.CRASHED if time is None else StatusType.SUCCESS
            facade.tell(trial, TrialValue(cost=ledger.worst() if time is None else time, status=status), save=False)
    return ledger.order, ledger.asked
