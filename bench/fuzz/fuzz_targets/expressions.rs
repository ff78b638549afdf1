//! Expressions and constraints: the diagram of a constraint holds exactly the configurations on which
//! the expression is true.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_fuzz::{spaces, text};
use tunesmith_space::{Constraint, Expr, Parameter, Space, SpaceError, Value};

fuzz_target!(|input: &[u8]| {
    let Some(text) = text(input) else { return };
    let expr = match Expr::parse(text) {
        Ok(expr) => expr,
        Err(error) => return assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{error:?}"),
    };
    let again = Expr::parse(expr.text()).expect("its text is an expression");
    let truth = Expr::parse(&format!("bool(({text}\n))")).ok();
    for name in expr.names() {
        assert_eq!(&text[name.span.clone()], name.text);
    }
    let values = columns();
    for number in 0..SIZE {
        let scope = scope(&values, number);
        let value = expr.evaluate(&scope);
        match (&value, again.evaluate(&scope)) {
            (Ok(one), Ok(two)) => assert!(spaces::same(one, &two)),
            (Err(one), Err(two)) => assert_eq!(*one, two),
            _ => panic!("the same expression has two values"),
        }
        if let (Ok(Value::Int(value)), Ok(int)) = (&value, expr.evaluate_int(&scope)) {
            assert_eq!(*value, int);
        }
        if number == 0 && value.is_err() {
            break;
        }
    }
    // Of one parameter, these mean its list of values in a constraint, and nothing in an expression.
    let over_values = ["max", "min", "len", "sum"].iter().any(|name| text.contains(name));
    if let Some(truth) = truth.filter(|_| !over_values) {
        check_space(&expr, &truth);
    }
});

const SIZE: usize = 4 * 3 * 2 * 2;

fn columns() -> [(&'static str, Vec<Value>); 4] {
    [
        ("A", [1, 2, 3, 8].map(Value::Int).to_vec()),
        ("B", [-1, 0, 4].map(Value::Int).to_vec()),
        ("F", [0.5, 2.0].map(Value::Float).to_vec()),
        ("S", vec![Value::Str("x".into()), Value::Str("yy".into())]),
    ]
}

fn scope(columns: &[(&'static str, Vec<Value>); 4], number: usize) -> impl Fn(&str) -> Option<Value> {
    let mut rest = number;
    let mut values = vec![("N", Value::Int(96)), ("T", Value::Bool(true))];
    for (name, listed) in columns {
        values.push((name, listed[rest % listed.len()].clone()));
        rest /= listed.len();
    }
    move |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
}

/// Compares the space of the constraint with its truth, configuration by configuration.
fn check_space(expr: &Expr, truth: &Expr) {
    let columns = columns();
    let mut builder = Space::builder().constant("N", Value::Int(96)).constant("T", Value::Bool(true));
    for (name, values) in &columns {
        builder = builder.parameter(Parameter::new(*name, values.clone()).expect("a sound parameter"));
    }
    let built = builder.constraint(Constraint::new("fuzzed", expr.clone())).limits(spaces::SMALL).build();
    let truths: Vec<Option<bool>> = (0..SIZE)
        .map(|number| truth.evaluate(&scope(&columns, number)).ok().map(|value| value == Value::Bool(true)))
        .collect();
    match built {
        Ok(space) => {
            spaces::check(&space);
            for (number, truth) in truths.into_iter().enumerate() {
                let scope = scope(&columns, number);
                let pairs: Vec<(&str, Value)> =
                    columns.iter().map(|(name, _)| (*name, scope(name).expect("a column"))).collect();
                let configuration = space.configuration(&pairs, None).expect("listed values");
                let holds = space.contains(&configuration);
                // A part that cannot be evaluated must have been excluded by another part.
                assert_eq!(holds, truth.unwrap_or(false), "`{}` at {pairs:?}", expr.text());
            }
        }
        Err(SpaceError::Empty { .. }) => {
            assert!(!truths.contains(&Some(true)), "`{}` excludes too much", expr.text());
        }
        Err(_) => {}
    }
}
