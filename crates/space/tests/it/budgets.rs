//! Expressions and spaces have budgets: what would take hours is refused with its name.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tunesmith_space::{Constraint, Expr, Limits, Parameter, Space, SpaceError, Value, Values};

fn refused(expression: &str) -> String {
    let expr = Expr::parse(expression).unwrap();
    expr.evaluate(&|_: &str| None::<Value>).unwrap_err().to_string()
}

#[test]
fn lists_that_an_expression_makes_again_and_again_share_one_budget() {
    for nested in [
        "sum([len(range(400000)) for i in range(1000000)])",
        "sum([sum([max(a) for i in range(1000000)]) for a in [range(400000)]])",
    ] {
        assert!(refused(nested).contains("elements are looked at"), "{nested}");
    }
    let expr = Expr::parse("sum([x for x in range(400000)])").unwrap();
    assert_eq!(expr.evaluate(&|_: &str| None::<Value>).unwrap(), Value::Int(79_999_800_000));
}

#[test]
fn a_space_that_takes_too_many_steps_names_the_constraints() {
    let parameter = |name: &str| Parameter::new(name, Values::list(0..100_i64)).unwrap();
    let builder = || {
        let all =
            ["A", "B", "C"].into_iter().fold(Space::builder(), |builder, name| builder.parameter(parameter(name)));
        all.constraint(Constraint::parse("(A * 7919 + B * 104729 + C * 1299709) % 1009 < 500").unwrap())
    };
    let size = builder().build().unwrap().size().to_string();
    assert_eq!(
        builder().limits(Limits { steps: 100_000_000, ..Limits::default() }).build().unwrap().size().to_string(),
        size
    );
    let error = builder().limits(Limits { steps: 5_000, ..Limits::default() }).build().unwrap_err();
    assert!(matches!(error, SpaceError::TooLarge { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("5000 steps") && text.contains("1009") && text.contains("shorten"), "{text}");
}

#[test]
fn long_lists_in_constraints_take_steps_too() {
    let values = Values::list(0..1000_i64);
    let builder = Space::builder().parameter(Parameter::new("A", values.clone()).unwrap());
    let builder = builder.parameter(Parameter::new("B", values).unwrap());
    let slow = "sum([x % (A + 1) for x in range(100000)]) % 7 < sum([x % (B + 1) for x in range(100000)]) % 5";
    let builder = builder.constraint(Constraint::parse(slow).unwrap());
    let error = builder.limits(Limits { steps: 1_000_000, ..Limits::default() }).build().unwrap_err();
    assert!(matches!(error, SpaceError::TooLarge { .. }), "{error}");
}

#[test]
fn long_lists_count_before_they_are_copied() {
    let parameter = |name: &str| Parameter::new(name, Values::range(1, 100_000, 1).unwrap()).unwrap();
    let builder = Space::builder().parameter(parameter("A")).parameter(parameter("B"));
    let builder = builder.constraint(Constraint::parse("A + B == 3").unwrap());
    // The diagram itself would fit: the limit is reached by the lists alone.
    let error = builder.limits(Limits { bytes: 4 << 20, ..Limits::default() }).build().unwrap_err();
    assert!(error.to_string().contains("4194304 bytes, because of constraint `A + B == 3`"), "{error}");
}

/// Returns the number of configurations of `A` and `B` that satisfy `constraint`.
fn count(a: &[i64], b: &[i64], constraint: &str) -> Option<u128> {
    let parameter = |name: &str, values: &[i64]| Parameter::new(name, Values::list(values.to_vec())).unwrap();
    let builder = Space::builder().parameter(parameter("A", a)).parameter(parameter("B", b));
    builder.constraint(Constraint::parse(constraint).unwrap()).build().unwrap().len()
}

#[test]
fn conditions_of_thousands_of_parts_need_little_stack() {
    // The stack of a test has 2 MiB. Walks must not go down the parts one by one.
    let allowed = |count: i64| (0..count).map(|number| (3 * number).to_string());
    let listed = format!("A * B in [{}]", allowed(10_000).collect::<Vec<_>>().join(", "));
    let (a, b) = ([1, 7, 3000], [1, 2, 3, 9]);
    assert_eq!(count(&a, &b, &listed), Some(8));
    let either = allowed(10_000).map(|number| format!("A * B == {number}")).collect::<Vec<_>>().join(" or ");
    assert_eq!(count(&a, &b, &either), Some(8));
    assert_eq!(count(&a, &b, &format!("not ({either})")), Some(4));
    let one: Vec<String> = (0..5_000).map(|number| format!("A == {}", 2 * number)).collect();
    assert_eq!(count(&(0..3_000).collect::<Vec<_>>(), &[1], &one.join(" or ")), Some(1_500));
    let value = vec!["A or B"; 5_000].join(" or ");
    assert_eq!(count(&[0, 2], &[0, 5], &format!("({value}) >= 2")), Some(3));
    let least = (0..5_000).map(|number| format!("A * {number} + B")).collect::<Vec<_>>().join(", ");
    assert_eq!(count(&[0, 2], &[0, 5], &format!("min({least}) == 5")), Some(2));
}

#[test]
fn powers_of_powers_take_the_memory_of_their_text() {
    // As a product it would have a thousand million factors.
    let power = (0..10).fold("A".to_string(), |base, _| format!("({base} ** 8)"));
    assert_eq!(count(&[0, 1], &[0, 1], &format!("{power} == B")), Some(2));
    // Products that fit no machine word are compared with a limit, factor by factor.
    let wide = |count: usize| format!("B * {} <= 1", ["(A ** 8) ** 8"].repeat(count).join(" * "));
    assert_eq!(count(&[1, 2], &[1, 2], &wide(9)), Some(1));
    // Longer ones are computed, and this one has no value.
    let parameter = |name: &str| Parameter::new(name, Values::list([1, 2])).unwrap();
    let builder = Space::builder().parameter(parameter("A")).parameter(parameter("B"));
    let error = builder.constraint(Constraint::parse(&wide(20)).unwrap()).build().unwrap_err();
    assert!(matches!(error, SpaceError::Evaluation { .. }), "{error}");
}

#[test]
fn a_term_that_is_used_again_and_again_is_looked_at_once() {
    // Each level uses the one below it eight times.
    let power = (0..12).fold("(A + B)".to_string(), |inner, _| format!("({inner} ** 8 % 2)"));
    assert_eq!(count(&[0, 1], &[0, 1], &format!("{power} == 1")), Some(2));
    assert_eq!(count(&[0, 1], &[0, 1], &format!("A == {}", power.replace("A + B", "B + B"))), Some(2));
    let distance = (0..40).fold("A - B".to_string(), |inner, _| format!("abs({inner}) - 1"));
    assert_eq!(count(&[0, 1, 2], &[0, 1, 2], &format!("{distance} == -1")), Some(4));
}

#[test]
fn a_construction_is_cancelled_before_it_begins_and_while_it_runs() {
    let long = || {
        let values = |first: i64| Values::list((0..200).map(|at| first + at * at * 7919 % 10_007));
        let builder = (0..4).fold(Space::builder(), |builder, at| {
            builder.parameter(Parameter::new(format!("P{at}"), values(at)).unwrap())
        });
        let text = "(P0 * P1 + P2 * P3) % 9973 < 4000";
        builder.constraint(Constraint::parse(text).unwrap())
    };
    let flag = Arc::new(AtomicBool::new(true));
    assert_eq!(long().cancel_on(Arc::clone(&flag)).build().unwrap_err(), SpaceError::Cancelled);
    flag.store(false, Ordering::Relaxed);
    let building = std::thread::spawn({
        let flag = Arc::clone(&flag);
        move || long().cancel_on(flag).build().map(|space| space.size())
    });
    flag.store(true, Ordering::Relaxed);
    assert_eq!(building.join().unwrap(), Err(SpaceError::Cancelled));
}
