#!/usr/bin/env python3
"""Proposes configurations near the best so far.

    tunesmith tune problem.toml --propose "python3 examples/propose/propose.py"

Each answer has the best configuration with one parameter changed to the next or the previous value
of its list. Any program that reads and writes such lines can take the place of this one; see
docs/proposals.md.
"""

import json
import random
import sys

random.seed(0)
parameters, best, best_score, known = {}, None, None, set()


def key(config):
    return json.dumps([config[name] for name in parameters])


def neighbour():
    config = dict(best)
    name = random.choice([name for name in parameters if len(parameters[name]) > 1])
    values = parameters[name]
    at = values.index(config[name]) + random.choice([-1, 1])
    config[name] = values[at % len(values)]
    return config


def answer(most):
    proposals = []
    for _ in range(100):
        config = neighbour() if best else {name: random.choice(parameters[name]) for name in parameters}
        if key(config) not in known:
            known.add(key(config))
            proposals.append(config)
        if len(proposals) == most:
            break
    return proposals


for line in sys.stdin:
    event = json.loads(line)
    if event["event"] == "problem":
        parameters = event["parameters"]
    elif event["event"] == "evaluation":
        known.add(key(event["config"]))
        score = event["score"]
        if score is not None and (best_score is None or score < best_score):
            best, best_score = event["config"], score
    elif event["event"] == "request":
        print(json.dumps(answer(event["most"])), flush=True)
    elif event["event"] == "end":
        break
