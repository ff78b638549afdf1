//! Errors of spaces that cannot be built, and the answers of spaces without ranks.

use tunesmith_space::{Constraint, Expr, Parameter, Space, SpaceBuilder, SpaceError, Value, Values};

fn over(names: &[&str], last: i64) -> SpaceBuilder {
    let parameter = |name: &&str| Parameter::new(*name, Values::range(0, last, 1).unwrap()).unwrap();
    names.iter().map(parameter).fold(Space::builder(), SpaceBuilder::parameter)
}

fn refused(builder: SpaceBuilder, constraints: &[&str]) -> SpaceError {
    let parsed = constraints.iter().map(|text| Constraint::parse(text).unwrap());
    parsed.fold(builder, SpaceBuilder::constraint).build().unwrap_err()
}

#[test]
fn the_configuration_of_a_failure_is_one_that_nothing_else_excludes() {
    // `a % b` fails first for a = 0, which the last constraint excludes; a = 1 remains.
    let error = refused(over(&["a", "b", "c"], 2), &["a % b == 0", "a + c == 3"]);
    let SpaceError::Evaluation { configuration, .. } = error else { panic!("{error}") };
    assert_eq!(configuration, [("a".to_owned(), Value::Int(1)), ("b".to_owned(), Value::Int(0))]);
}

#[test]
fn a_division_by_zero_names_the_constraint_the_values_and_a_remedy() {
    let error = refused(over(&["a", "b"], 2), &["a % b == 0"]);
    assert_eq!(
        error.to_string(),
        "constraint `a % b == 0` cannot be evaluated for a = 0, b = 0: division by zero; \
         test the divisor first, as in `d != 0 and n % d == 0`"
    );
}

#[test]
fn an_unknown_name_is_pointed_at_and_the_known_one_suggested() {
    let error = refused(over(&["TILE"], 2).constant("SIZE", Value::Int(8)), &["1 < TIEL"]);
    assert_eq!(
        error.to_string(),
        "constraint `1 < TIEL` uses `TIEL`, which is neither a parameter nor a constant; did you mean `TILE`?"
    );
    let SpaceError::UnknownName { span, .. } = error else { panic!("{error}") };
    assert_eq!(span, 4..8);
}

#[test]
fn a_number_compared_with_a_string_names_both_types() {
    let order = Parameter::new("order", Values::list(["row", "column"])).unwrap();
    let error = refused(over(&["a"], 2).parameter(order), &["order < a"]);
    assert_eq!(
        error.to_string(),
        "constraint `order < a` cannot be evaluated for order = row, a = 0: `<` does not work between string and integer"
    );
}

#[test]
fn only_the_constraints_that_are_needed_to_leave_nothing_are_named() {
    let constraints = ["a != b", "a > 1", "b % 2 == 0", "a * b == 0", "b > 0"];
    let error = refused(over(&["a", "b"], 3), &constraints);
    assert_eq!(error.to_string(), "no configuration satisfies constraints `a > 1`, `a * b == 0`, `b > 0` together");
}

#[test]
fn a_guard_is_no_culprit_for_being_needed_by_evaluation_alone() {
    // Without `b > 0`, the second constraint fails. So the guard counts as needed, and nothing
    // worse happens.
    let error = refused(over(&["a", "b"], 3), &["b > 0", "a % b == 0", "a == 5"]);
    let SpaceError::Empty { culprits } = error else { panic!("{error}") };
    assert!(culprits.contains(&"a == 5".to_owned()), "{culprits:?}");
}

#[test]
fn an_empty_group_leaves_nothing_on_which_another_group_could_fail() {
    let error = refused(over(&["a", "b"], 3), &["1 % a == 0", "b > 3"]);
    assert_eq!(error, SpaceError::Empty { culprits: vec!["b > 3".to_owned()] });
}

#[test]
fn names_given_twice_are_refused() {
    let error = refused(over(&["a", "a"], 1), &[]);
    assert_eq!(error.to_string(), "the name `a` is given twice");
    let error = refused(over(&["a"], 1).constant("a", Value::Int(1)), &[]);
    assert_eq!(error.to_string(), "the name `a` is given twice");
    assert_eq!(Space::builder().build().unwrap_err(), SpaceError::NoParameters);
}

#[test]
fn functions_of_one_parameter_are_over_its_values_except_the_length_of_a_string() {
    let order = Parameter::new("order", Values::list(["row", "column", "tile"])).unwrap();
    let builder = over(&["a"], 5).parameter(order);
    let size = |text: &str| {
        let constraint = Constraint::new("c", Expr::parse(text).unwrap());
        builder.clone().constraint(constraint).build().unwrap().size().to_string()
    };
    assert_eq!(size("a == max(a)"), "3");
    assert_eq!(size("a == len(a) - 1 and sum(a) == 15"), "3");
    assert_eq!(size("len(order) == 6"), "6");
}

/// As functions of 16 parameters at once, these would be tried with 10^16 combinations.
#[test]
fn functions_of_written_lists_are_taken_apart_as_operators_are() {
    let names: Vec<String> = (0..16).map(|index| format!("p{index}")).collect();
    let builder = over(&names.iter().map(String::as_str).collect::<Vec<_>>(), 9);
    let size = |text: String| {
        let constraint = Constraint::parse(&text).unwrap();
        builder.clone().constraint(constraint).build().unwrap().size().to_string()
    };
    let joined = |by: &str, item: fn(&String) -> String| names.iter().map(item).collect::<Vec<_>>().join(by);
    let own = |by: &str| joined(by, String::clone);
    let positive = |by: &str| joined(by, |name| format!("{name} > 0"));
    for (list, operators) in [
        (format!("sum([{}]) <= 10", own(", ")), format!("{} <= 10", own(" + "))),
        (format!("all([{}])", positive(", ")), positive(" and ")),
        (format!("any([{}])", own(", ")), own(" or ")),
        (format!("max(({})) == 3", own(", ")), format!("max({}) == 3", own(", "))),
        (
            format!("len([{}]) == 16 and min([{}]) > 1", own(", "), own(", ")),
            joined(" and ", |name| format!("{name} > 1")),
        ),
    ] {
        assert_eq!(size(list), size(operators));
    }
}

#[test]
fn beyond_128_bits_only_ranks_are_missing() {
    let names: Vec<String> = (0..64).map(|index| format!("p{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let chained = names.windows(2).map(|pair| format!("{} != {}", pair[0], pair[1]));
    let free = over(&names, 9);
    let joined = chained.fold(free.clone(), |builder, text| builder.constraint(Constraint::parse(&text).unwrap()));
    // 10 * 9^63: every two neighbours differ.
    let differing = "13100205086376203523912080957125020739642457324750934565663290";
    for (space, size) in [(free, &*format!("1{}", "0".repeat(64))), (joined, differing)] {
        let space = space.build().unwrap();
        assert_eq!(space.size().to_string(), size);
        assert_eq!((space.len(), space.is_empty(), space.id(0), space.iter().next()), (None, false, None, None));
        // Every other parameter is 7; those between have the first value, 0.
        let pairs: Vec<(&str, Value)> = names.iter().step_by(2).map(|name| (*name, Value::Int(7))).collect();
        let configuration = space.configuration(&pairs, None).unwrap();
        assert!(space.contains(&configuration) && space.violated(&configuration).is_empty());
        assert_eq!(space.rank(&configuration), None);
        assert_eq!((space.parameters().len(), space.digest().len()), (64, 64));
    }
}
