"""Searches with Optuna: `tpe` or `gp`, each parameter categorical, minimising the logarithm of the time.

Optuna's search spaces have no constraints between parameters. Its documentation recommends
`constraints_func`: the samplers learn which configurations are infeasible from a number for each
constraint, positive where it is violated. A configuration outside of the space counts as no
evaluation and costs nothing. One that fails counts, and is infeasible by one more constraint.
Infeasible trials need a value as well and get the slowest time so far.
"""

import math

import optuna

from recording import Ledger

SAMPLERS = {"tpe": optuna.samplers.TPESampler, "gp": optuna.samplers.GPSampler}


def search(recording, strategy, seed, budget):
    """Keys of distinct evaluations in order, and the number of all that were asked."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = SAMPLERS[strategy](seed=seed, constraints_func=lambda trial: trial.user_attrs["violations"])
    study = optuna.create_study(sampler=sampler, direction="minimize")
    ledger = Ledger(recording, budget)
    while not ledger.spent():
        trial = study.ask()
        values = {name: trial.suggest_categorical(name, choices) for name, choices in recording.parameters.items()}
        time = ledger.ask(values)
        failed = time is None and recording.contains(values)
        trial.set_user_attr("violations", recording.violations(values) + [1.0 if failed else -1.0])
        study.tell(trial, math.log(ledger.worst() if time is None else time))
    return ledger.order, ledger.asked
