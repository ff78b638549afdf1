"""Profile-guided against random search, live, with a model trained on one input and used on others.

As in Table 7 of Filipovic et al. (2022): a square matrix product, a small one and two thin ones.
"""

import statistics

from .tool import Failed, sizes, times

GEMM = "gemm/gemm-cuda.toml"
CONVOLUTION = "conv2d/conv2d-cuda.toml"
SQUARE = {"M": 2048, "N": 2048, "K": 2048}

# Name, example, input. The model of an example is trained on its first input.
CASES = [
    ("gemm, square", GEMM, SQUARE),
    ("gemm, small", GEMM, {"M": 128, "N": 128, "K": 128}),
    ("gemm, thin rows", GEMM, {"M": 64, "N": 4096, "K": 4096}),
    ("gemm, thin columns", GEMM, {"M": 4096, "N": 64, "K": 4096}),
    ("convolution", CONVOLUTION, {"X": 2048, "Y": 2048}),
]
TRAINING = 120
BUDGET = 40
WITHIN = 1.10


def run(check):
    models = {}
    for number, (name, example, size) in enumerate(CASES):
        deadline = check.left() / (len(CASES) - number)
        try:
            if example not in models:
                models[example] = trained(check, example, size)
            compared(check, name, example, size, models[example], deadline)
        except Failed as failed:
            check.add(name, "to run", str(failed), False)


def trained(check, example, size):
    stem = example.replace("/", "-")
    journal, model = check.folder / f"{stem}.train.jsonl", check.folder / f"{stem}.model.json"
    options = ["--size", sizes(size), "--strategy", "random", "--seed", 1, "--stop", f"evaluations {TRAINING}"]
    outcome = check.tool.json("tune", check.searching(example), *options, "--profile", "--out", journal)
    fit = check.tool.json("train", "counters", journal, "-o", model)
    check.data[f"model of {example}"] = {"held_out": fit["held_out"], "training_seconds": outcome["wall_seconds"]}
    return model


def compared(check, name, example, size, model, seconds):
    """Both strategies in turns, until as many searches are made as wanted or the time is over."""
    end = check.left() - seconds
    problem = check.searching(example)
    found = {"profile_guided": [], "random": []}
    for seed in range(check.runs):
        for strategy, journals in found.items():
            journal = check.folder / f"{strategy}-{name.replace(' ', '-')}-{seed}.jsonl"
            guide = ["--model", model] if strategy == "profile_guided" else []
            options = ["--size", sizes(size), "--strategy", strategy, *guide, "--seed", 100 + seed]
            check.tool.json("tune", problem, *options, "--stop", f"evaluations {BUDGET}", "--out", journal, "--quiet")
            journals.append(times(journal))
        if check.left() < end:
            break
    judge(check, name, found)


def judge(check, name, found):
    best = min((time for searches in found.values() for times in searches for time in times if time), default=None)
    if best is None:
        check.add(name, "correct configurations", "none", False)
        return
    hits = {strategy: [first_hit(times, best) for times in searches] for strategy, searches in found.items()}
    mean = {strategy: statistics.mean(numbers) for strategy, numbers in hits.items()}
    check.data[name] = {"best_ms": best, "first_hits": hits, "mean": mean, "times_ms": found}
    runs = len(hits["random"])
    text = f"{mean['profile_guided']:.1f} evaluations, random {mean['random']:.1f} ({runs} searches each)"
    check.add(name, f"fewer than random until within {WITHIN} of the best", text, mean["profile_guided"] < mean["random"])


def first_hit(times, best):
    """The evaluation, counted from 1, that is the first within 10 % of the best; the budget where none is."""
    return next((at for at, time in enumerate(times, 1) if time and time <= WITHIN * best), len(times))
