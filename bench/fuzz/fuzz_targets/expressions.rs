//! Expressions and constraints: the diagram of a constraint holds exactly the configurations on which
//! the expression is true.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;
use std::sync::LazyLock;
use tunesmith_fuzz::{spaces, text};
use tunesmith_space::{Configuration, Constraint, Expr, Parameter, Space, SpaceBuilder, SpaceError, Value};

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
    for (number, scope) in SCOPES.iter().enumerate() {
        let value = expr.evaluate(&|name| lookup(scope, name));
        // The same text has the same values everywhere if it has so once.
        if number == 0 || again.text() != text {
            match (&value, again.evaluate(&|name| lookup(scope, name))) {
                (Ok(one), Ok(two)) => assert!(spaces::same(one, &two)),
                (Err(one), Err(two)) => assert_eq!(*one, two),
                _ => panic!("the same expression has two values"),
            }
        }
        if let (Ok(Value::Int(value)), Ok(int)) = (&value, expr.evaluate_int(&|name| lookup(scope, name))) {
            assert_eq!(*value, int);
        }
        if number == 3 || number == 0 && value.is_err() {
            break;
        }
    }
    // Of one parameter, these mean its list of values in a constraint, and nothing in an expression.
    let over_values = ["max", "min", "len", "sum"].iter().any(|name| text.contains(name));
    if let Some(truth) = truth.filter(|_| !over_values) {
        check_space(&expr, &truth, input);
    }
});

type Scope = [(&'static str, Value); 6];

static COLUMNS: LazyLock<[(&'static str, Vec<Value>); 4]> = LazyLock::new(|| {
    [
        ("A", [1, 2, 3, 8].map(Value::Int).to_vec()),
        ("B", [-1, 0, 4].map(Value::Int).to_vec()),
        ("F", [0.5, 2.0].map(Value::Float).to_vec()),
        ("S", vec![Value::Str("x".into()), Value::Str("yy".into())]),
    ]
});

/// The values of all configurations, then those of the constants.
static SCOPES: LazyLock<Vec<Scope>> = LazyLock::new(|| {
    let size = COLUMNS.iter().map(|(_, values)| values.len()).product();
    let scope = |mut rest: usize| {
        let own = COLUMNS.each_ref().map(|(name, listed)| {
            let value = listed[rest % listed.len()].clone();
            rest /= listed.len();
            (*name, value)
        });
        let [a, b, f, s] = own;
        [a, b, f, s, ("N", Value::Int(96)), ("T", Value::Bool(true))]
    };
    (0..size).map(scope).collect()
});

/// The space without a constraint.
static BUILDER: LazyLock<SpaceBuilder> = LazyLock::new(|| {
    let builder = Space::builder().constant("N", Value::Int(96)).constant("T", Value::Bool(true));
    let parameters = COLUMNS.iter().map(|(name, values)| Parameter::new(*name, values.clone()));
    let builder = parameters.fold(builder, |builder, one| builder.parameter(one.expect("a sound parameter")));
    builder.limits(spaces::SMALL).threads(NonZeroUsize::MIN)
});

/// The configurations, which are the same in every space of these parameters.
static CONFIGURATIONS: LazyLock<Vec<Configuration>> = LazyLock::new(|| {
    let space = BUILDER.clone().build().expect("a sound space");
    let of = |scope: &Scope| space.configuration(&scope[..COLUMNS.len()], None).expect("listed values");
    SCOPES.iter().map(of).collect()
});

fn lookup(scope: &Scope, name: &str) -> Option<Value> {
    scope.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
}

/// Compares the space of the constraint with its truth, configuration by configuration.
fn check_space(expr: &Expr, truth: &Expr, input: &[u8]) {
    let built = BUILDER.clone().constraint(Constraint::new("fuzzed", expr.clone())).build();
    let is_true = |scope: &Scope| truth.evaluate(&|name| lookup(scope, name)) == Ok(Value::Bool(true));
    match built {
        Ok(space) => {
            spaces::check(&space, input);
            for (configuration, scope) in CONFIGURATIONS.iter().zip(SCOPES.iter()) {
                // A part that cannot be evaluated must have been excluded by another part.
                assert_eq!(space.contains(configuration), is_true(scope), "`{}` at {scope:?}", expr.text());
            }
        }
        Err(SpaceError::Empty { .. }) => {
            assert!(!SCOPES.iter().any(is_true), "`{}` excludes too much", expr.text());
        }
        Err(_) => {}
    }
}
