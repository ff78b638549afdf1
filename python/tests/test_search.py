"""Ask and tell."""

import pytest

import tunesmith
from tunesmith import Failure, Search, Space


def space():
    return Space({"X": range(20), "Y": range(20)}, ["(X + Y) % 3 != 0"])


def cost(config):
    return 1.0 + (config["X"] - 7) ** 2 + (config["Y"] - 11) ** 2


def test_a_search_finds_a_good_configuration_in_few_questions():
    search = Search(space(), seed=2)
    for _ in range(30):
        for config in search.ask(2):
            search.tell(config, cost(config))
    best, least = search.best
    assert cost(best) == least < 20
    assert (search.told, search.failed, search.in_flight) == (60, 0, 0)


@pytest.mark.parametrize("strategy", ["random", "default", "annealing", "genetic", "exhaustive", "swarm"])
def test_equal_seeds_and_answers_give_equal_questions(strategy):
    def asked(seed):
        search, configs = Search(space(), strategy, seed), []
        for _ in range(12):
            configs += (new := search.ask(3))
            # The answers come in another order than the questions.
            for config in reversed(new):
                search.tell(config, cost(config))
        return configs

    assert asked(1) == asked(1)
    assert len({repr(config) for config in asked(1)}) == len(asked(1))
    if strategy not in ("exhaustive",):
        assert asked(1) != asked(2)


def test_an_exhausted_space_ends_the_search():
    small = Space({"X": [1, 2, 3]})
    search, seen = Search(small, "random"), []
    while configs := search.ask(2):
        for config in configs:
            seen.append(config["X"])
            search.tell(config, float(config["X"]))
    assert sorted(seen) == [1, 2, 3] and search.best == ({"X": 1}, 1.0)


def test_failures_are_told_as_exceptions():
    search = Search(space(), "random")
    for config, failure in zip(search.ask(3), [Failure("compile", "too large"), TimeoutError(), ValueError("x")]):
        search.tell(config, failure)
    assert (search.told, search.failed, search.best) == (3, 3, None)


def test_a_configuration_that_was_not_asked_may_be_told():
    search = Search(space())
    search.tell({"X": 1, "Y": 1}, 3.0)
    assert search.best == ({"X": 1, "Y": 1}, 3.0)
    assert {"X": 1, "Y": 1} not in search.ask(50)


def test_several_searches_in_threads_do_not_wait_for_each_other():
    from threading import Thread

    def run(seed, bests):
        search = Search(space(), "random", seed)
        for _ in range(50):
            for config in search.ask(2):
                search.tell(config, cost(config))
        bests.append(search.best)

    bests = []
    threads = [Thread(target=run, args=(seed, bests)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(bests) == 4 and all(best is not None for best in bests)


@pytest.mark.parametrize("strategy", ["default", "random", "annealing", "boosted_trees", "nelder_mead"])
def test_costs_have_any_sign(strategy):
    search = Search(Space({"X": range(40)}), strategy)
    while asked := search.ask(4):
        for config in asked:
            search.tell(config, config["X"] - 20.0)
    assert search.best == ({"X": 0}, -20.0)


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        (lambda search, config: [search.tell(config, 1.0), search.tell(config, 2.0)], "was told before"),
        (lambda search, config: search.tell({"X": 0, "Y": 0}, 1.0), "violates"),
        (lambda search, config: search.tell({"X": 0}, 1.0), "name every parameter"),
        (lambda search, config: Search(space(), "anealing"), "did you mean `annealing`"),
        (lambda search, config: Search(space(), "annealing(temperatur=1)"), "did you mean `temperature`"),
        (lambda search, config: Failure("slow", "x"), "kinds are compile, runtime"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(wrong, remedy):
    search = Search(space(), "random")
    with pytest.raises(tunesmith.RequestError, match=remedy):
        wrong(search, search.ask(1)[0])


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        (float("nan"), "must be a finite number.*counts as failed"),
        (float("-inf"), "must be a finite number"),
        ("fast", "a cost is a number, and fast is not.*tell an exception"),
        (None, "a cost is a number"),
    ],
)
def test_an_answer_that_is_refused_closes_its_request(wrong, remedy):
    search = Search(Space({"X": range(4)}), "exhaustive")
    while asked := search.ask(1):
        with pytest.raises(tunesmith.RequestError, match=remedy):
            search.tell(asked[0], wrong)
    assert (search.told, search.failed, search.best) == (4, 4, None)


def test_what_has_a_wrong_type_is_a_type_error():
    with pytest.raises(TypeError):
        Search({"X": [1]})
    with pytest.raises(TypeError):
        Search(space()).tell(["X", 1], 1.0)
