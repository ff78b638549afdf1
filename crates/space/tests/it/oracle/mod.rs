//! Random small spaces, and brute force over them: every combination, and each constraint evaluated
//! as Python would.

#![allow(dead_code, unreachable_pub)]

use proptest::prelude::*;
use std::collections::HashSet;
use tunesmith_space::{Constraint, Expr, ExprError, Parameter, Space, SpaceError, Value, Values};

/// A space as a user describes it.
#[derive(Clone, Debug)]
pub struct Description {
    pub parameters: Vec<(String, Vec<Value>)>,
    pub constraints: Vec<Text>,
}

/// A constraint and its parts. A space splits at `and` and at chained comparisons; a configuration
/// that one part excludes is excluded, whatever the others give.
#[derive(Clone, Debug)]
pub struct Text {
    pub whole: String,
    pub parts: Vec<Expr>,
}

impl Text {
    pub fn new(whole: String, parts: &[String]) -> Self {
        Self { whole, parts: parts.iter().map(|part| Expr::parse(part).unwrap()).collect() }
    }

    pub fn simple(whole: String) -> Self {
        Self::new(whole.clone(), &[whole])
    }
}

/// The verdict of brute force on one combination.
pub enum Verdict {
    Valid,
    Excluded,
    Failing,
}

impl Description {
    pub fn build(&self) -> Result<Space, SpaceError> {
        let mut builder = Space::builder().constant("N", Value::Int(12));
        for (name, values) in &self.parameters {
            builder = builder.parameter(Parameter::new(name.as_str(), values.iter().cloned())?);
        }
        for (index, text) in self.constraints.iter().enumerate() {
            builder = builder.constraint(Constraint::new(format!("c{index}"), Expr::parse(&text.whole).unwrap()));
        }
        builder.build()
    }

    /// Returns all combinations of value indices.
    pub fn combinations(&self) -> Vec<Vec<u32>> {
        self.parameters.iter().fold(vec![Vec::new()], |combinations, (_, values)| {
            let extend = |combination: &Vec<u32>| {
                let combination = combination.clone();
                (0..values.len() as u32).map(move |index| combination.iter().copied().chain([index]).collect())
            };
            combinations.iter().flat_map(extend).collect()
        })
    }

    pub fn judge(&self, indices: &[u32], constraints: &[Text]) -> Verdict {
        let results: Vec<_> = constraints.iter().flat_map(|text| self.truths(indices, text)).collect();
        if results.iter().any(|result| matches!(result, Ok(false))) {
            Verdict::Excluded
        } else if results.iter().any(Result::is_err) {
            Verdict::Failing
        } else {
            Verdict::Valid
        }
    }

    /// Evaluates the parts of a constraint.
    pub fn truths(&self, indices: &[u32], text: &Text) -> Vec<Result<bool, ExprError>> {
        let value = |name: &str| {
            let position = self.parameters.iter().position(|(known, _)| known == name);
            position
                .map(|at| self.parameters[at].1[indices[at] as usize].clone())
                .or((name == "N").then_some(Value::Int(12)))
        };
        let truth = |part: &Expr| part.evaluate(&value).map(|value| truthy(&value));
        text.parts.iter().map(truth).collect()
    }

    /// Returns the valid combinations, or `None` if a constraint fails on one that nothing
    /// excludes.
    pub fn valid(&self, constraints: &[Text]) -> Option<HashSet<Vec<u32>>> {
        let mut valid = HashSet::new();
        for combination in self.combinations() {
            match self.judge(&combination, constraints) {
                Verdict::Valid => valid.insert(combination),
                Verdict::Excluded => false,
                Verdict::Failing => return None,
            };
        }
        Some(valid)
    }
}

pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Int(value) => *value != 0,
        Value::Float(value) => *value != 0.0,
        Value::Bool(value) => *value,
        Value::Str(value) => !value.is_empty(),
    }
}

pub fn values() -> impl Strategy<Value = Vec<Value>> {
    prop_oneof![
        6 => proptest::sample::subsequence(vec![1_i64, 2, 3, 4, 6, 8, 12, 16], 2..=6).prop_shuffle().prop_map(Values::list),
        3 => proptest::sample::subsequence(vec![-7_i64, -3, -2, -1, 0, 1, 2, 3, 4], 1..=6).prop_map(Values::list),
        1 => proptest::sample::subsequence(vec![-1.5_f64, 0.5, 1.0, 2.0, 2.5], 1..=4).prop_map(Values::list),
        1 => Just(Values::list([i64::MAX, 3, i64::MIN, -1])),
        1 => proptest::sample::subsequence(vec![false, true], 1..=2).prop_map(Values::list),
        1 => proptest::sample::subsequence(vec!["", "row", "column"], 1..=3).prop_map(Values::list),
    ]
}

pub fn expression(names: Vec<String>) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        8 => proptest::sample::select(names),
        1 => Just("'row'".to_string()),
        4 => (-4_i64..13).prop_map(|number| format!("({number})")),
        2 => Just("N".to_string()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let binary = proptest::sample::select(vec!["+", "-", "*", "/", "//", "%"]);
        let comparison = proptest::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
        let of_list = proptest::sample::select(vec!["sum", "min", "max", "all", "any", "len"]);
        prop_oneof![
            2 => (of_list, proptest::collection::vec(inner.clone(), 0..=3))
                .prop_map(|(function, items)| format!("{function}([{}])", items.join(", "))),
            3 => (inner.clone(), binary, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("max({a}, {b})")),
            1 => inner.clone().prop_map(|a| format!("abs({a})")),
            1 => (inner.clone(), -1..3_i32).prop_map(|(a, power)| format!("({a} ** {power})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} or {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} in [{b}, 2, 'row'])")),
            1 => (inner.clone(), comparison, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
        ]
    })
}

/// Returns constraints as users write them: rarely impossible, rarely without effect.
pub fn typical(names: Vec<String>) -> impl Strategy<Value = Text> {
    let name = || proptest::sample::select(names.clone());
    let number = 1..20_i64;
    prop_oneof![
        (name(), name()).prop_map(|(a, b)| format!("{a} % {b} == 0")),
        (name(), name(), number.clone()).prop_map(|(a, b, n)| format!("{a} * {b} <= {n}")),
        (name(), name(), name()).prop_map(|(a, b, c)| format!("{a} + {b} != {c}")),
        (name(), name()).prop_map(|(a, b)| format!("{a} == {b} or {a} in (1, 3, 8, 'row')")),
        (name(), name(), name(), name(), number.clone())
            .prop_map(|(a, b, c, d, n)| format!("({a} * {b} + {c}) * ({d} + {b} * 2) <= {n} * 4")),
        (name(), name(), name(), number.clone())
            .prop_map(|(a, b, c, n)| format!("{a} == 0 or {a} * ({b} + {c}) * ({c} + 1) <= {n}")),
        (name(), name(), name(), number.clone()).prop_map(|(a, b, c, n)| format!("{n} <= {a} * {b} - {c} + {a}")),
        (name(), name(), name(), name()).prop_map(|(a, b, c, d)| format!("{a} - {b} * 3 * {c} < {d} + {c}")),
        (name(), name(), name()).prop_map(|(a, b, c)| format!("({a} if {b} else {c}) != 2")),
        (name(), name(), number).prop_map(|(a, b, n)| format!("ceildiv(N * {a}, abs({b}) + 1) < {n}")),
    ]
    .prop_map(Text::simple)
}

pub fn constraint(names: Vec<String>) -> impl Strategy<Value = Text> {
    let comparison = proptest::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let simple = (expression(names.clone()), comparison, expression(names.clone()))
        .prop_map(|(a, op, b)| format!("{a} {op} {b}"))
        .boxed();
    prop_oneof![
        20 => typical(names.clone()),
        2 => simple.clone().prop_map(Text::simple),
        1 => (simple.clone(), simple.clone()).prop_map(|(a, b)| Text::new(format!("{a} and {b}"), &[a, b])),
        1 => (simple.clone(), simple.clone()).prop_map(|(a, b)| Text::simple(format!("{a} or {b}"))),
        1 => simple.clone().prop_map(|a| Text::simple(format!("not {a}"))),
        1 => (simple.clone(), simple).prop_map(|(a, b)| {
            Text::new(format!("not ({a} or {b})"), &[format!("not {a}"), format!("not {b}")])
        }),
        1 => (expression(names.clone()), expression(names)).prop_map(|(a, b)| {
            Text::new(format!("{a} <= {b} < 9"), &[format!("{a} <= {b}"), format!("{b} < 9")])
        }),
    ]
}

pub fn description() -> impl Strategy<Value = Description> {
    proptest::collection::vec(values(), 2..=4).prop_flat_map(|lists| {
        let names: Vec<String> = ["P", "Q", "R", "S"][..lists.len()].iter().map(|name| (*name).to_string()).collect();
        let constraints = proptest::collection::vec(constraint(names.clone()), 0..=4);
        (Just(names).prop_shuffle(), Just(lists), constraints).prop_map(|(names, lists, constraints)| Description {
            parameters: names.into_iter().zip(lists).collect(),
            constraints,
        })
    })
}
