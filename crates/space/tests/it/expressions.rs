//! Expressions agree with CPython, and no text makes them panic.

use proptest::prelude::*;
use serde_json::Value as Json;
use tunesmith_space::{Expr, ExprError, Value, parse_values};

fn nothing(_: &str) -> Option<Value> {
    None
}

fn value(json: &Json) -> Value {
    match json {
        Json::Bool(value) => Value::Bool(*value),
        Json::String(value) => Value::from(value.as_str()),
        Json::Number(number) => number.as_i64().map_or_else(|| number.as_f64().unwrap().into(), Value::Int),
        other => panic!("no value: {other}"),
    }
}

fn wanted(kind: &str, text: &str) -> Option<Value> {
    Some(match kind {
        "int" => Value::Int(text.parse().unwrap()),
        "float" => Value::Float(text.parse().unwrap()),
        "bool" => Value::Bool(text == "True"),
        "str" => Value::from(text),
        _ => return None,
    })
}

/// Removes the sign of a NaN. Python does not show it, and processors differ in it.
fn without_sign_of_nan(value: Value) -> Value {
    match value {
        Value::Float(float) if float.is_nan() => Value::Float(f64::NAN),
        other => other,
    }
}

/// Returns the rows of a table on which the crate and CPython differ.
fn differences(table: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for line in table.lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let text = row[0].as_str().unwrap();
        let wanted = wanted(row[2].as_str().unwrap(), row[3].as_str().unwrap());
        let found = Expr::parse(text).and_then(|expr| expr.evaluate(&|name| row[1].get(name).map(value)));
        let found = found.map(without_sign_of_nan);
        if found.as_ref().ok() != wanted.as_ref() {
            wrong.push(format!("{line}\n    gives {found:?}"));
        }
    }
    wrong
}

#[test]
fn three_thousand_random_expressions_give_what_cpython_gives() {
    let wrong = differences(include_str!("../fixtures/expressions.txt"));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn operands_at_the_edges_of_types_give_what_cpython_gives() {
    let wrong = differences(include_str!("../fixtures/edges.txt"));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn value_lists_of_t1_files_are_read() {
    let ints = |text: &str| -> Vec<i64> {
        parse_values(text, &nothing).unwrap().iter().map(|value| value.as_int().unwrap()).collect()
    };
    assert_eq!(ints("[1, 2, 4]"), [1, 2, 4]);
    assert_eq!(ints("list(range(1, 9))"), (1..9).collect::<Vec<_>>());
    assert_eq!(ints("[2**i for i in range(0, 6)]"), [1, 2, 4, 8, 16, 32]);
    assert_eq!(ints("[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))").len(), 37);
    assert_eq!(ints("[i for i in range(1, 11) if i % 2 == 0]"), [2, 4, 6, 8, 10]);
}

fn error(text: &str) -> ExprError {
    Expr::parse(text).unwrap_err()
}

#[test]
fn messages_say_where_and_what() {
    let cut = error("MWG <=");
    assert_eq!(cut.message, "expression ends after `<=`, expected a number, a name or `(`");
    assert_eq!(cut.span, 6..6);

    let assigned = error("a = b");
    assert_eq!((assigned.span, assigned.remedy.as_deref()), (2..3, Some("write `==` to compare")));

    let misspelt = error("mun(a, b)");
    assert_eq!(misspelt.message, "there is no function `mun`");
    assert!(misspelt.remedy.unwrap().starts_with("did you mean `"));

    assert_eq!(error("(a + b").message, "expression ends after `b`, expected `,` or `)`");
    assert_eq!(error("a b").message, "expected an operator or the end, found `b`");
    assert_eq!(error("").message, "the expression is empty");
    assert_eq!(error("abs(1, 2)").message, "`abs` takes 1 arguments, not 2");
    assert_eq!(error("'open").message, "the string is not closed");
    assert_eq!(error("1__0").message, "`1__0` is not a number");
}

#[test]
fn evaluation_errors_point_to_the_smallest_part() {
    let evaluated = |text: &str| Expr::parse(text).unwrap().evaluate(&nothing).unwrap_err();
    let zero = evaluated("1 + 4 % (2 - 2)");
    assert_eq!((zero.message.as_str(), zero.span.clone()), ("division by zero", 4..15));
    let types = evaluated("1 < 'a'");
    assert_eq!(types.message, "`<` does not work between integer and string");
    assert_eq!(evaluated("2 ** 200").message, "the result does not fit into 128 bits");
    assert_eq!(evaluated("size").message, "`size` is not known here");
}

#[test]
fn sizes_must_be_whole() {
    let int = |text: &str| Expr::parse(text).unwrap().evaluate_int(&nothing);
    assert_eq!(int("8 / 2"), Ok(4));
    assert_eq!(int("ceildiv(7, 2)"), Ok(4));
    let refused = int("7 / 2").unwrap_err();
    assert_eq!(refused.message, "must give an integer, gives 3.5");
    assert_eq!(refused.remedy.as_deref(), Some("divide with `//` to round down or `ceildiv(a, b)` to round up"));
}

#[test]
fn other_tuners_spellings_are_read() {
    let value = |text: &str| Expr::parse(text).unwrap().evaluate(&nothing).unwrap();
    assert_eq!(value("true && !false || 1 > 2"), Value::Bool(true));
    assert_eq!(value("!0 == true"), Value::Bool(true));
    assert_eq!(value("0x10 + 1_000"), Value::Int(1016));
}

#[test]
fn dotted_names_are_one_name() {
    let expr = Expr::parse("device.max_work_group_size >= a * a").unwrap();
    let names: Vec<_> = expr.names().iter().map(|name| (name.text.as_str(), name.span.clone())).collect();
    assert_eq!(names, [("device.max_work_group_size", 0..26), ("a", 30..31)]);
}

#[test]
fn every_operator_may_nest_up_to_the_limit_in_a_small_stack() {
    let level = "0 or 1 and 1 == 1 | 1 ^ 1 & 1 << 3 + 1 * -2 ** (1 if ";
    let deep = |levels: usize| format!("{}1{}", level.repeat(levels), " else 0)".repeat(levels));
    let value = Expr::parse(&deep(32)).unwrap().evaluate(&nothing).unwrap();
    assert!(matches!(value, Value::Bool(_)), "{value:?}");
    let refused = error(&deep(200));
    assert_eq!(refused.message, "nested more than 100 deep");
}

#[test]
fn deep_and_long_texts_are_refused_or_read_without_overflow() {
    assert!(Expr::parse(&"(".repeat(100_000)).is_err());
    assert!(Expr::parse(&"-".repeat(100_000)).is_err());
    assert!(Expr::parse(&"not ".repeat(100_000)).is_err());
    assert!(Expr::parse(&format!("1{}", "+1".repeat(100_000))).is_err());
    assert!(Expr::parse(&format!("1{}", "**1".repeat(100_000))).is_err());
    assert!(Expr::parse(&"[x for x in ".repeat(50_000)).is_err());
    let wide = format!("1{}", " or 1".repeat(10_000));
    assert_eq!(Expr::parse(&wide).unwrap().evaluate(&nothing), Ok(Value::Int(1)));
    let long = format!("1{}", "+1".repeat(400));
    assert_eq!(Expr::parse(&long).unwrap().evaluate(&nothing), Ok(Value::Int(401)));
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        if let Err(error) = Expr::parse(&text).and_then(|expr| expr.evaluate(&|_| Some(Value::Int(3)))) {
            prop_assert!(text.get(error.span).is_some());
        }
    }

    #[test]
    fn no_sequence_of_tokens_panics(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..25)) {
        let text = tokens.join(" ");
        let result = Expr::parse(&text).and_then(|expr| expr.evaluate(&|_| Some(Value::Float(2.5))));
        if let Err(error) = result {
            prop_assert!(text.get(error.span).is_some());
        }
    }
}

const TOKENS: &[&str] = &[
    "a", "b.c", "1", "2.5", "'s'", "0", "+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", "and", "or", "not",
    "in", "if", "else", "for", "(", ")", "[", "]", ",", "min(", "max(", "len(", "range(", "list(", "round(", "True",
    "!", "&", "|", "<<", "~",
];
