"""Restrictions of Kernel Tuner's scripts, called as Kernel Tuner calls them. Spaces are those of Kernel Tuner 1.5.0."""

import functools
import itertools
import json

import constraint
import pytest

from tunesmith.compat.kernel_tuner import Refused, tune_kernel

PARAMETERS = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}
LIMIT = 5


@pytest.fixture
def space(tmp_path):
    """The configurations that restrictions leave."""

    def of(restrictions, parameters=PARAMETERS):
        names = list(parameters)
        rows = {",".join(map(str, row)): dict(zip(names, row)) for row in itertools.product(*parameters.values())}
        document = {
            "device_name": "any", "kernel_name": "k", "problem_size": 1,
            "tune_params_keys": names, "tune_params": parameters, "cache": {key: {**row, "time": 1.0} for key, row in rows.items()},
        }  # fmt: skip
        cache = tmp_path / "cache.json"
        cache.write_text(json.dumps(document))
        results, _ = tune_kernel(
            "k", "", 1, [], parameters, restrictions=restrictions, simulation_mode=True, cache=cache, quiet=True
        )
        return sorted(tuple(row[name] for name in names) for row in results)

    return of


def pairs(condition):
    return [(a, b) for a, b in itertools.product(*PARAMETERS.values()) if condition(a, b)]


def star(*args):
    return args[0] * args[1] <= 4


def counted(*args):
    return len(args) == 2 and args[1] > 2


def with_default(a, b, m=12):
    return m % (a * b) == 0


def with_two_defaults(a, b, c=1, d=2):
    return a + b < c + d


def with_keyword(a, b, *, m=12):
    return m % (a * b) == 0


def swapped(b, a):
    return a < b


def other_names(x, y):
    return x < y


def of_dictionary(p):
    return p["a"] < p["b"]


def of_dictionary_called_as_a_parameter(a):
    return a["b"] > 1


def of_dictionary_with_default(p, most=3):
    return p["a"] < most


def by_keyword(**p):
    return p["a"] < p["b"]


def of_one(b):
    return b > 2


def required_keyword(a, *, b):
    return a < b


def nothing(a, b):
    return None if a == b else a is not b


class Conditions:
    def __call__(self, first, second):
        return first < second

    def method(self, x, y):
        return x < y

    @staticmethod
    def static(x, y):
        return x < y


by_name = lambda b, a: a < b  # noqa: E731
captured = lambda p: p["a"] + p["b"] < LIMIT  # noqa: E731
captured_position = lambda x, y: x + y < LIMIT  # noqa: E731
LESS = pairs(lambda a, b: a < b)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (star, pairs(lambda a, b: a * b <= 4)),
        (counted, pairs(lambda a, b: b > 2)),
        (with_default, pairs(lambda a, b: 12 % (a * b) == 0)),
        (with_two_defaults, [(1, 1)]),
        (with_keyword, pairs(lambda a, b: 12 % (a * b) == 0)),
        (swapped, pairs(lambda a, b: b < a)),
        (other_names, LESS),
        (of_dictionary, LESS),
        (of_dictionary_called_as_a_parameter, pairs(lambda a, b: b > 1)),
        (of_dictionary_with_default, pairs(lambda a, b: a < 3)),
        (by_keyword, LESS),
        (of_one, pairs(lambda a, b: b > 2)),
        (required_keyword, LESS),
        (nothing, pairs(lambda a, b: a != b)),
        (Conditions(), LESS),
        (Conditions().method, LESS),
        (Conditions.static, LESS),
        (functools.partial(lambda m, a, b: a % m == 0, 2), pairs(lambda a, b: a % 2 == 0)),
        (by_name, LESS),
        (captured, pairs(lambda a, b: a + b < LIMIT)),
        (captured_position, pairs(lambda a, b: a + b < LIMIT)),
        (eval("lambda b, a: a < b"), pairs(lambda a, b: b < a)),
    ],
)
def test_a_function_is_called_as_kernel_tuner_calls_it(space, function, expected):
    assert space(function) == space([function]) == expected
    assert space([function, "a < 3"]) == [(a, b) for a, b in expected if a < 3]


def test_a_pair_names_the_parameters_of_a_condition(space):
    assert space([(lambda x, y: x < y, ["b", "a"])]) == space((other_names, ("b", "a"))) == pairs(lambda a, b: b < a)
    assert space([(lambda x: x > 2, ["b"]), "a < 3"]) == pairs(lambda a, b: b > 2 and a < 3)
    assert space([(constraint.ExactSumConstraint(5), ["a", "b"])]) == pairs(lambda a, b: a + b == 5)
    with pytest.raises(Refused, match="restrictions names the parameters .'a', 'c'.; there are a, b"):
        space([(other_names, ["a", "c"])])


@pytest.mark.parametrize(
    ("made", "condition"),
    [
        (constraint.MaxProdConstraint(4), lambda a, b: a * b <= 4),
        (constraint.MinSumConstraint(6), lambda a, b: a + b >= 6),
        (constraint.AllDifferentConstraint(), lambda a, b: a != b),
        (constraint.InSetConstraint({1, 3}), lambda a, b: a in (1, 3) and b in (1, 3)),
        (constraint.SomeInSetConstraint({4}), lambda a, b: 4 in (a, b)),
        (constraint.FunctionConstraint(lambda x, y: x < y), lambda a, b: a < b),
    ],
)
def test_an_object_of_python_constraint_is_a_restriction(space, made, condition):
    assert space([made]) == pairs(condition)
    assert space([made, "a > 1"]) == [row for row in pairs(condition) if row[0] > 1]


def test_texts_are_expressions_of_python(space):
    assert space(["a is not None and str(a) != '2'"]) == pairs(lambda a, b: a != 2)
    assert space(["[1, 2, 3, 4][a - 1] == b"]) == pairs(lambda a, b: a == b)
    assert space({"a < b"}) == space(("a < b", "b > 1")) == LESS
    with pytest.raises(Refused, match="restrictions uses `p`, which is no parameter: .*; there are a, b"):
        space("p['a'] < p['b']")


@pytest.mark.parametrize(
    ("restrictions", "reason"),
    [
        ("c > 1", "^constraint `restriction 0: c > 1` uses `c`"),
        (["a < 9", "4 % (a - 1) == 0"], "^constraint `restriction 1: .* for a = 1: division by zero"),
        ([lambda x, y, z: True], "^restrictions is a function of x, y, z, and it gets the values of a, b by position"),
        ([lambda: True], "^restrictions is a function of no argument"),
        ([None], "^restrictions is a NoneType"),
        (["a <"], "^in `a <`"),
    ],
)
def test_an_error_names_the_restriction_and_no_file_of_ours(space, restrictions, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        space(restrictions)
    assert "tunesmith-" not in str(caught.value)


def test_a_parameter_may_have_values_of_mixed_types(space):
    rows = space([lambda p: p["a"] == 1, "m is True or m == 2.5"], {"a": [1, 2], "m": [1, True, 2.5]})
    assert rows == [(1, True), (1, 2.5)] and rows[0][1] is True
    with pytest.raises(Refused, match="two values with the same text"):
        space("a == 1", {"a": [1, 2], "m": ["1", 1]})
