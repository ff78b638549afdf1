//! Constraints that are functions of the program.

use tunesmith_space::{Constraint, Parameter, Space, SpaceBuilder, Value, Values};

fn builder() -> SpaceBuilder {
    let parameter = |name: &str| Parameter::new(name, Values::range(1, 12, 1).unwrap()).unwrap();
    ["X", "Y", "Z", "FREE"]
        .into_iter()
        .fold(Space::builder(), |builder, name| builder.parameter(parameter(name)))
        .parameter(Parameter::new("FLAG", [Value::Bool(false), Value::Bool(true)]).unwrap())
        .constant("LIMIT", Value::Int(40))
}

#[test]
fn a_closure_leaves_what_the_same_expression_leaves() {
    let int = |value: &Value| value.as_int().unwrap();
    let closure = Constraint::closure("volume", 1, &["Z", "X", "LIMIT", "Y"], move |values| {
        int(&values[1]) * int(&values[3]) * int(&values[0]) <= int(&values[2])
    });
    let divides = || Constraint::parse("X % Y == 0").unwrap();
    let by_closure = builder().constraint(divides()).constraint(closure).build().unwrap();
    let volume = Constraint::parse("X * Y * Z <= LIMIT").unwrap();
    let by_text = builder().constraint(divides()).constraint(volume).build().unwrap();
    assert_eq!(by_closure.size(), by_text.size());
    assert!(by_text.iter().all(|id| by_closure.contains(&by_text.unrank(id))));
    // Only the parameters in the scope are joined.
    assert_eq!(by_closure.groups(), [vec![0, 1, 2], vec![3], vec![4]]);
    let broken = by_closure.configuration(&[("X", 12.into()), ("Y", 12.into())], None).unwrap();
    assert!(by_closure.violated(&broken).iter().any(|constraint| constraint.name() == "volume"));
}

#[test]
fn a_closure_gets_values_of_the_parameters_types() {
    let typed = Constraint::closure(
        "typed",
        1,
        &["FLAG", "X", "LIMIT"],
        |values| matches!(values, [Value::Bool(flag), Value::Int(x), Value::Int(40)] if *flag == (*x > 6)),
    );
    assert_eq!(builder().constraint(typed).build().unwrap().len(), Some(12 * 12 * 12 * 12));
}

#[test]
fn an_unknown_name_in_a_scope_is_an_error() {
    let error = builder().constraint(Constraint::closure("odd", 1, &["XX"], |_| true)).build().unwrap_err();
    assert!(error.to_string().starts_with("constraint `odd` uses `XX`"), "{error}");
}
