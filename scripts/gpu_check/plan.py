"""Lists the parts with their time budgets and requirements, in the order in which they run.

The most valuable results come first, because a device may be taken away at any moment: a first visit of eight minutes
makes the parts up to `guided`. A part that reaches the end of its budget is cut short, and says so.
"""

import collections

from . import (calibration, cltune, clocks, conformance, counter_paper, counters, energy, environment, guided, peers,
               prediction, profiles, samples, tuning)
from .preflight import C_COMPILER, COUNTERS, NVRTC

# A part: its name, its seconds, its function, what it shows, and the findings without which it does not run.
Part = collections.namedtuple("Part", "name seconds run purpose needs")

COMPILED, VERIFIED, COUNTED = (NVRTC,), (NVRTC, C_COMPILER), (NVRTC, COUNTERS)

PARTS = [
    Part("environment", 10, environment.run, "the GPU, its driver, tools and other processes; its counters, in passes",
         ()),
    Part("conformance", 30, conformance.run, "every kind of failure gets its status, and the run goes on", VERIFIED),
    Part("suite", 70, samples.run, "sampled configurations of every problem against its reference", VERIFIED),
    Part("tuning", 120, tuning.run, "matrix product and transposition tuned: the share of cuBLAS and of the copy rate",
         COMPILED),
    Part("counters", 30, counters.run, "counters of kernels whose work is known: a copy, multiply-adds",
         (*VERIFIED, COUNTERS)),
    Part("peers", 60, peers.run, "overhead and rate of compilations, beside Kernel Tuner", COMPILED),
    Part("profiles", 40, profiles.run, "counters of every kernel of the suite, and the passes that read them", COUNTED),
    Part("guided", 100, guided.run, "counter-guided search beside the default search, live", COUNTED),
    Part("calibration", 100, calibration.run, "the cost model, fitted and judged; the table of its paper", COMPILED),
    Part("energy", 50, energy.run, "energy of a launch, and the front of energy against time", COMPILED),
    Part("clocks", 30, clocks.run, "the front of one configuration over the device's clocks", COMPILED),
    Part("prediction", 100, prediction.run, "configurations predicted for sizes that were not tuned", COMPILED),
    Part("kernels", 120, tuning.others, "four more kernels tuned: GFLOP/s, and the share of cuDNN", VERIFIED),
    Part("cltune", 80, cltune.run, "tables II to IV of CLTune's paper on this device", COMPILED),
    Part("counter-paper", 70, counter_paper.run, "tables 2 and 4 to 6 of the counter paper on this device", COUNTED),
]

NAMES = [part.name for part in PARTS]

# The minutes of all parts.
MINUTES = -(-sum(part.seconds for part in PARTS) // 60)
