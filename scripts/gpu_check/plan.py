"""Lists the parts with their time budgets, in the order in which they run.

The most valuable results come first, because a device may be taken away at any moment. The budgets add up to the 25
minutes of `MINUTES`. A part that reaches the end of its budget is cut short, and says so.
"""

import collections

from . import (calibration, cltune, conformance, counter_paper, counters, energy, environment, guided, peers,
               prediction, profiles, samples, tuning)

MINUTES = 25

Part = collections.namedtuple("Part", "name seconds run purpose")

PARTS = [
    Part("environment", 20, environment.run, "the GPU, its driver, tools and other processes; its counters, in passes"),
    Part("conformance", 40, conformance.run, "every kind of failure gets its status, and the run goes on"),
    Part("counters", 40, counters.run, "counters of kernels whose work is known: a copy, multiply-adds"),
    Part("tuning", 240, tuning.run, "six kernels tuned: GFLOP/s, and the share of cuBLAS and cuDNN"),
    Part("suite", 200, samples.run, "sampled configurations of every problem against its reference"),
    Part("peers", 120, peers.run, "overhead and rate of compilations, beside Kernel Tuner"),
    Part("profiles", 90, profiles.run, "counters of every kernel of the suite, and the passes that read them"),
    Part("guided", 180, guided.run, "counter-guided search beside the default search, live"),
    Part("calibration", 150, calibration.run, "the cost model, fitted and judged; the table of its paper"),
    Part("prediction", 110, prediction.run, "configurations predicted for sizes that were not tuned"),
    Part("energy", 80, energy.run, "energy of a launch, and the front of energy against time"),
    Part("cltune", 120, cltune.run, "tables II to IV of CLTune's paper on this device"),
    Part("counter-paper", 110, counter_paper.run, "tables 2 and 4 to 6 of the counter paper on this device"),
]

NAMES = [part.name for part in PARTS]
