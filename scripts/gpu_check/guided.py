"""Counter-guided search beside the default search, live, with a model of one input used on others.

The inputs are those of Table 7 of Filipovic et al. (2022): a square matrix product, a small one and two thin ones.
"""

import statistics

from .tool import times

GEMM = "examples/gemm/gemm-cuda.toml"
CONVOLUTION = "examples/conv2d/conv2d-cuda.toml"
SQUARE = {"M": 2048, "N": 2048, "K": 2048}

# Name, problem, input. The model of a problem is trained on its first input.
CASES = [
    ("gemm, thin rows", GEMM, {"M": 64, "N": 4096, "K": 4096}),
    ("convolution", CONVOLUTION, {"X": 4096, "Y": 4096}),
    ("gemm, square", GEMM, SQUARE),
    ("gemm, small", GEMM, {"M": 128, "N": 128, "K": 128}),
    ("gemm, thin columns", GEMM, {"M": 4096, "N": 64, "K": 4096}),
]
TRAINED_ON = {GEMM: SQUARE, CONVOLUTION: {"X": 2048, "Y": 2048}}
# On the scripted device, every input has this size.
SMALL = {GEMM: {"M": 256, "N": 256, "K": 64}, CONVOLUTION: {"X": 256, "Y": 256}}
TRAINING, BUDGET, WITHIN = 100, 40, 1.10
MOST_SEARCHES = 30


def run(check):
    models, rows = {}, []
    for number, (name, problem, size) in enumerate(check.each("inputs", CASES, least=8 if not check.dry else 0)):
        seconds = check.share(len(CASES) - number)
        if problem not in models:
            models[problem] = check.guarded(f"model of {problem}", trained, check, problem)
        if models[problem]:
            check.guarded(name, compared, check, (name, problem, size), models[problem], seconds, rows)
    head = ["input", "searches each", "guided: evaluations to within 1.10", "default", "guided: best / best of all",
            "default"]
    check.table(f"Guided and default searches of {check.count(BUDGET, 5)} evaluations", head, rows)


def trained(check, problem):
    """Returns the counter model of a problem, trained on one input."""
    stem = problem.split("/")[-1].removesuffix(".toml")
    size = check.count(TRAINED_ON[problem], SMALL[problem])
    options = ["--strategy", "random", "--seed", 1, "--stop", f"evaluations {check.count(TRAINING, 12)}", "--profile"]
    outcome, journal = check.tune(check.copy(problem), f"{stem}-train", *options, size=size)
    model = check.folder / f"{stem}.model.json"
    fit = check.call("train", "counters", journal, "-o", model)
    check.data[f"model of {stem}"] = {"held_out": fit["held_out"], "training_seconds": outcome["wall_seconds"]}
    return model


def compared(check, case, model, seconds, rows):
    """Runs both searches in turns, until as many are made as wanted or the time is over."""
    name, problem, size = case
    size = check.count(size, SMALL[problem])
    end, copy = check.left() - seconds, check.copy(problem)
    found = {"guided": [], "default": []}
    for seed in range(check.count(MOST_SEARCHES, 1)):
        for kind, searches in found.items():
            stem = f"{kind}-{name.replace(',', '').replace(' ', '-')}-{seed}"
            guide = ["profile_guided", "--model", model] if kind == "guided" else ["default"]
            stop = ["--stop", f"evaluations {check.count(BUDGET, 5)}"]
            _, journal = check.tune(copy, stem, "--strategy", *guide, "--seed", 100 + seed, *stop, size=size)
            searches.append(times(journal))
        if check.left() < end:
            break
    judge(check, name, found, rows)


def judge(check, name, found, rows):
    best = min((time for searches in found.values() for times in searches for time in times if time), default=None)
    if best is None:
        check.add(name, "correct configurations", "none", False)
        return
    hits = {kind: statistics.mean(first_hit(times, best) for times in searches) for kind, searches in found.items()}
    ends = {kind: statistics.mean(reached(times, best) for times in searches) for kind, searches in found.items()}
    check.data[name] = {"best_ms": best, "mean_hits": hits, "mean_ends": ends, "times_ms": found}
    searches = len(found["default"])
    rows.append([name, searches, f"{hits['guided']:.1f}", f"{hits['default']:.1f}", f"{ends['guided']:.3f}",
                 f"{ends['default']:.3f}"])
    text = f"{hits['guided']:.1f} evaluations, default {hits['default']:.1f} ({searches} searches each)"
    check.add(name, f"at most the default's until within {WITHIN} of the best", text, hits["guided"] <= hits["default"])


def first_hit(times, best):
    """Returns the evaluation, counted from 1, that is the first within 10 % of the best; the last where none is."""
    return next((at for at, time in enumerate(times, 1) if time and time <= WITHIN * best), len(times))


def reached(times, best):
    """Returns the best of all searches over the best of this one; 0 where nothing was correct."""
    own = min((time for time in times if time), default=None)
    return best / own if own else 0.0
