"""Search spaces."""

import itertools
import random

import pytest

import tunesmith
from tunesmith import Space


def test_a_space_is_the_configurations_that_every_constraint_allows():
    values = {"A": [1, 2, 3, 4, 6], "B": range(1, 7), "C": ["row", "column"], "D": [True, False]}
    rules = [lambda A, B: A % B == 0, "A + B < 8 or C == 'row'", (["D", "A"], lambda fast, tile: not fast or tile > 2)]
    space = Space(values, rules)
    combinations = [dict(zip(values, combination)) for combination in itertools.product(*values.values())]
    valid = [
        c
        for c in combinations
        if c["A"] % c["B"] == 0 and (c["A"] + c["B"] < 8 or c["C"] == "row") and (not c["D"] or c["A"] > 2)
    ]
    assert space.size == len(space) == len(valid)
    assert space.cartesian_size == len(combinations)
    assert sorted(map(repr, space)) == sorted(map(repr, valid))
    assert all((config in space) == (config in valid) for config in combinations)
    assert [space.index(config) for config in space] == list(range(space.size))
    assert space[-1] == space[space.size - 1]


def test_a_huge_space_is_counted_sampled_and_walked():
    space = Space({f"P{i}": range(1, 1001) for i in range(12)}, {"first": "P0 % P1 == 0"})
    assert space.size > 10**33
    sample = space.sample(50, seed=3)
    assert len({repr(config) for config in sample}) == 50
    assert all(config["P0"] % config["P1"] == 0 and config in space for config in sample)
    assert sample == space.sample(50, seed=3) != space.sample(50, seed=4)
    config = sample[0]
    assert space[space.index(config)] == config
    with pytest.raises(OverflowError, match="use its attribute `size`"):
        len(space)


def test_neighbours_differ_in_one_parameter():
    space = Space({"A": range(8), "B": range(8)}, ["(A + B) % 2 == 0"])
    centre = {"A": 4, "B": 4}
    near = space.neighbours(centre)
    assert all(sum(config[name] != centre[name] for name in config) == 1 for config in near)
    assert len(near) == 6
    assert space.neighbours(centre, kind="adjacent") == [
        {"A": 2, "B": 4}, {"A": 6, "B": 4}, {"A": 4, "B": 2}, {"A": 4, "B": 6},
    ]


def test_sizes_are_constants_of_constraints():
    space = Space({"TILE": tunesmith.divisors(12)}, ["N % TILE == 0", lambda TILE, N: TILE < N], sizes={"N": 6})
    assert [config["TILE"] for config in space] == [1, 2, 3]


def test_numpy_scalars_and_equal_numbers_are_values():
    numpy = pytest.importorskip("numpy")
    space = Space({"A": numpy.array([1, 2]), "B": [numpy.float32(0.5), 1.5], "C": [numpy.True_, False]})
    assert space.parameters == {"A": [1, 2], "B": [0.5, 1.5], "C": [True, False]}
    assert {"A": numpy.int64(2), "B": numpy.float64(0.5), "C": numpy.False_} in space
    assert {"A": 2.0, "B": 0.5, "C": 1} in space
    assert {"A": 2.5, "B": 0.5, "C": 1} not in space


def test_equal_spaces_have_equal_digests():
    one = Space({"A": [1, 2, 3]}, ["A > 1"])
    other = Space({"A": [1, 2, 3]}, {"above one": lambda A: not A <= 1})
    assert one == other and hash(one) == hash(other) and one.digest == other.digest
    assert one != Space({"A": [1, 2, 3]}) and one != 3


def test_a_configuration_says_which_constraints_exclude_it():
    space = Space({"A": [1, 2, 3]}, {"odd": "A % 2 == 1", "small": "A < 3"})
    assert space.violated({"A": 2}) == ["odd"]
    assert space.violated({"A": 1}) == []


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda: Space({}), "no tuning parameters"),
        (lambda: Space({"A": []}), "parameter `A` has no values"),
        (lambda: Space({"A": [1, 1]}), "lists the value 1 twice"),
        (lambda: Space({"A": [1, "x"]}), "a parameter has one type"),
        (lambda: Space({"A": 3}), r"give a list, such as \[3\]"),
        (lambda: Space({"A": "abc"}), r"give a list, such as \['abc'\]"),
        (lambda: Space({"A": [2**70]}), "does not fit into 64 bits"),
        (lambda: Space({"A": [float("nan")]}), "not a finite number"),
        (lambda: Space({"TILE": [1]}, ["TIEL > 0"]), "did you mean `TILE`?"),
        (lambda: Space({"TILE": [1]}, [lambda TIEL: True]), "did you mean `TILE`?"),
        (lambda: Space({"A": [1]}, ["A >"]), "constraint `A >`"),
        (lambda: Space({"A": [1]}, ["A > 1"]), "no configuration satisfies constraint `A > 1`"),
        (lambda: Space({"A": [0, 1]}, ["1 / A > 0"]), "division by zero"),
        (lambda: Space({"A": [1]}, "A > 0"), r"give a list: \['A > 0'\]"),
        (lambda: Space({"A": [1]}, [3]), "write an expression or a function"),
        (lambda: Space({"A": [1]}, [lambda *all: True]), "does not say which parameters it reads"),
        (lambda: Space({"A": [1, 2]}).index({"A": 3}), "it takes 1, 2"),
        (lambda: Space({"A": [1, 2]}).index({"B": 1}), "there is no parameter `B`"),
        (lambda: Space({"A": [1], "B": [1]}).index({"A": 1}), "lacks B; name every parameter"),
        (lambda: Space({"A": [1, 2]}, ["A > 1"]).index({"A": 1}), "violates `A > 1`"),
        (lambda: Space({"A": [1, 2]}).neighbours({"A": 1}, kind="near"), "name hamming, adjacent or coordinates"),
        (lambda: Space({f"P{i}": range(1000) for i in range(40)}).sample(1), r"more than 2\^128"),
        (lambda: tunesmith.pow2(8, 1), "no values"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(make, remedy):
    with pytest.raises(tunesmith.RequestError, match=remedy):
        make()


def test_an_exception_of_a_constraint_names_the_configuration_and_is_its_cause():
    with pytest.raises(tunesmith.RequestError, match=r"constraint `fits` raised KeyError: 2 for A = 2") as raised:
        Space({"A": [1, 2, 3]}, {"fits": lambda A: {1: True}[A]})
    assert isinstance(raised.value.__cause__, KeyError)


def test_a_value_of_another_type_is_a_type_error():
    with pytest.raises(TypeError, match="values are int, float, bool and str"):
        Space({"A": [None]})
    with pytest.raises(IndexError, match="it has 2 of them"):
        Space({"A": [1, 2]})[2]


def test_random_constraints_agree_with_python():
    generator = random.Random(7)
    operators = ["+", "-", "*", "%", "//"]
    for _ in range(60):
        text = "{} {} {} {} {} {}".format(
            generator.choice("AB"), generator.choice(operators), generator.choice("BC"),
            generator.choice(["<", "<=", "!=", "=="]), generator.choice("ABC"), generator.choice(["", "+ 1", "* 2"]),
        )
        values = {"A": [1, 2, 3, 5], "B": [1, 2, 4], "C": [-2, 1, 3]}
        expected = [c for c in itertools.product(*values.values()) if eval(text, dict(zip("ABC", c)))]
        if expected:
            assert Space(values, [text]).size == len(expected), text
