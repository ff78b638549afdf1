"""Stands in for Kernel Tuner: checks the request as Kernel Tuner would, and invents times."""

import itertools


def tune_kernel(name, source, size, arguments, parameters, lang, grid_div_x, grid_div_y, answer, atol, restrictions,
                iterations, quiet):
    assert f"void {name}(" in source and lang == "CUPY" and quiet and iterations == 7
    assert grid_div_x == grid_div_y == ["TILE"] and size[0] == size[1]
    assert len(answer) == len(arguments) and answer[2].shape == size and atol > 0
    results = []
    for values in itertools.product(*parameters.values()):
        config = dict(zip(parameters, values))
        # The expressions are Python, over the parameters.
        if all(eval(restriction, {}, config) for restriction in restrictions):
            results.append({**config, "time": 0.1 + len(results), "compile_time": 20.0, "verification_time": 1.0,
                            "benchmark_time": 2.0})
    return results, {}
