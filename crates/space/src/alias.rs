//! ATF's names for common conditions on one parameter (ATF paper, section 6), which combine with
//! `and`, `or` and `not`.
//!
//! ```
//! use tunesmith_space::alias::{divides, less_than_or_eq, power_of_two};
//! use tunesmith_space::{Parameter, Space, Value, Values};
//!
//! // The local size divides the number of threads, and is a power of two or at most 3.
//! let local = divides("N // PER_THREAD").and(power_of_two().or(less_than_or_eq("3")));
//! let space = Space::builder()
//!     .constant("N", Value::Int(48))
//!     .parameter(Parameter::new("PER_THREAD", Values::list([1, 2]))?)
//!     .parameter(Parameter::new("LOCAL", Values::range(1, 48, 1)?)?)
//!     .constraint(local.on("LOCAL")?)
//!     .build()?;
//! assert_eq!(space.len(), Some(6 + 5)); // 1, 2, 3, 4, 8, 16 of 48; 1, 2, 3, 4, 8 of 24
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::constraint::Constraint;
use crate::expr::{Expr, ExprError};

/// A condition on a parameter that is named later.
#[derive(Clone, Debug)]
pub struct Alias {
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    /// A test of the parameter with the text of an operand.
    Test(Test, String),
    And(Box<[Shape; 2]>),
    Or(Box<[Shape; 2]>),
    Not(Box<Shape>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Divides,
    MultipleOf,
    Compares(&'static str),
    PowerOfTwo,
}

/// Aliases and the names by which ATF's directives know them.
const NAMES: &[(&str, Test)] = &[
    ("divides", Test::Divides),
    ("multiple_of", Test::MultipleOf),
    ("is_multiple_of", Test::MultipleOf),
    ("less_than", Test::Compares("<")),
    ("less_than_or_eq", Test::Compares("<=")),
    ("greater_than", Test::Compares(">")),
    ("greater_than_or_eq", Test::Compares(">=")),
    ("equal", Test::Compares("==")),
    ("equals", Test::Compares("==")),
    ("unequal", Test::Compares("!=")),
    ("power_of_two", Test::PowerOfTwo),
];

fn test(test: Test, operand: impl Into<String>) -> Alias {
    Alias { shape: Shape::Test(test, operand.into()) }
}

/// Requires that the parameter divides the expression `number`.
pub fn divides(number: impl Into<String>) -> Alias {
    test(Test::Divides, number)
}

/// Requires that the parameter is a multiple of `number`.
pub fn multiple_of(number: impl Into<String>) -> Alias {
    test(Test::MultipleOf, number)
}

/// Requires that the parameter is less than `number`.
pub fn less_than(number: impl Into<String>) -> Alias {
    test(Test::Compares("<"), number)
}

/// Requires that the parameter is at most `number`.
pub fn less_than_or_eq(number: impl Into<String>) -> Alias {
    test(Test::Compares("<="), number)
}

/// Requires that the parameter is greater than `number`.
pub fn greater_than(number: impl Into<String>) -> Alias {
    test(Test::Compares(">"), number)
}

/// Requires that the parameter is at least `number`.
pub fn greater_than_or_eq(number: impl Into<String>) -> Alias {
    test(Test::Compares(">="), number)
}

/// Requires that the parameter equals `value`.
pub fn equal(value: impl Into<String>) -> Alias {
    test(Test::Compares("=="), value)
}

/// Requires that the parameter does not equal `value`.
pub fn unequal(value: impl Into<String>) -> Alias {
    test(Test::Compares("!="), value)
}

/// Requires that the parameter is 1, 2, 4, 8, ...
pub fn power_of_two() -> Alias {
    test(Test::PowerOfTwo, "")
}

impl Alias {
    /// Returns the alias called `name` with the operand `operand`, or `None` if there is no such
    /// alias. Aliases without an operand ignore it.
    pub fn named(name: &str, operand: &str) -> Option<Alias> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| test(*kind, operand))
    }

    /// Returns all names that [`Alias::named`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Requires both conditions.
    pub fn and(self, other: Alias) -> Alias {
        Alias { shape: Shape::And(Box::new([self.shape, other.shape])) }
    }

    /// Requires at least one of the conditions.
    pub fn or(self, other: Alias) -> Alias {
        Alias { shape: Shape::Or(Box::new([self.shape, other.shape])) }
    }

    /// Returns the condition as an expression on the parameter called `parameter`.
    pub fn text(&self, parameter: &str) -> String {
        self.shape.text(parameter)
    }

    /// Returns the constraint on the parameter called `parameter`. Its text is its name.
    ///
    /// # Errors
    /// An operand is not an expression.
    pub fn on(&self, parameter: &str) -> Result<Constraint, ExprError> {
        // Parse each operand alone first: `1) or (2` is not an operand, though the whole text would
        // parse.
        self.shape.check()?;
        Constraint::parse(&self.text(parameter))
    }
}

/// Requires that the condition does not hold.
impl std::ops::Not for Alias {
    type Output = Alias;

    fn not(self) -> Alias {
        Alias { shape: Shape::Not(Box::new(self.shape)) }
    }
}

impl Shape {
    fn text(&self, parameter: &str) -> String {
        match self {
            Shape::Test(Test::Divides, number) => format!("({number}) % {parameter} == 0"),
            Shape::Test(Test::MultipleOf, number) => format!("{parameter} % ({number}) == 0"),
            Shape::Test(Test::Compares(sign), number) => format!("{parameter} {sign} ({number})"),
            Shape::Test(Test::PowerOfTwo, _) => format!("{parameter} > 0 and {parameter} & ({parameter} - 1) == 0"),
            Shape::And(parts) => format!("({}) and ({})", parts[0].text(parameter), parts[1].text(parameter)),
            Shape::Or(parts) => format!("({}) or ({})", parts[0].text(parameter), parts[1].text(parameter)),
            Shape::Not(part) => format!("not ({})", part.text(parameter)),
        }
    }

    fn check(&self) -> Result<(), ExprError> {
        match self {
            Shape::Test(Test::PowerOfTwo, _) => Ok(()),
            Shape::Test(_, operand) => Expr::parse(operand).map(|_| ()),
            Shape::And(parts) | Shape::Or(parts) => parts.iter().try_for_each(Shape::check),
            Shape::Not(part) => part.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn allowed(alias: &Alias) -> Vec<i64> {
        let constraint = alias.on("P").unwrap();
        let holds = |p: &i64| {
            let scope = |name: &str| match name {
                "P" => Some(Value::Int(*p)),
                "N" => Some(Value::Int(12)),
                _ => None,
            };
            constraint.expr().evaluate(&scope).unwrap() == Value::Bool(true)
        };
        (1..=14).filter(holds).collect()
    }

    #[test]
    fn aliases_mean_what_they_say() {
        assert_eq!(allowed(&divides("N")), [1, 2, 3, 4, 6, 12]);
        assert_eq!(allowed(&multiple_of("N // 2")), [6, 12]);
        assert_eq!(allowed(&less_than("3")), [1, 2]);
        assert_eq!(allowed(&less_than_or_eq("3")), [1, 2, 3]);
        assert_eq!(allowed(&greater_than("N")), [13, 14]);
        assert_eq!(allowed(&greater_than_or_eq("N")), [12, 13, 14]);
        assert_eq!(allowed(&equal("N + 1")), [13]);
        assert_eq!(allowed(&unequal("N")).len(), 13);
        assert_eq!(allowed(&power_of_two()), [1, 2, 4, 8]);
    }

    #[test]
    fn aliases_combine() {
        assert_eq!(allowed(&divides("N").and(!power_of_two())), [3, 6, 12]);
        assert_eq!(allowed(&less_than("3").or(greater_than("N")).and(multiple_of("2"))), [2, 14]);
        assert!(Alias::names().all(|name| Alias::named(name, "2").is_some_and(|alias| alias.on("P").is_ok())));
        assert!(Alias::named("divisible", "2").is_none());
    }

    #[test]
    fn an_operand_must_be_an_expression_of_its_own() {
        assert!(equal("1) or (1").on("P").is_err());
    }
}
