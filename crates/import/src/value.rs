//! Values: C's expressions in the text form of nests.

use crate::Finding;
use crate::element::Element;
use tree_sitter::Node;

/// The binding strength of an expression. A later one binds more tightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    Sum,
    Product,
    Sign,
    One,
}

/// An expression of a nest.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) strength: Strength,
    /// True if C computes it in floating point.
    pub(crate) is_float: bool,
    /// The type of its cells, arguments and variables. `None` if it has only numbers and loops,
    /// which take the type of what they are computed with.
    pub(crate) element: Option<Element>,
}

/// The functions of C that nests have, without the suffix of single precision.
pub(crate) const FUNCTIONS: [(&str, &str, usize); 9] = [
    ("sqrt", "sqrt", 1),
    ("exp", "exp", 1),
    ("log", "log", 1),
    ("sin", "sin", 1),
    ("cos", "cos", 1),
    ("tanh", "tanh", 1),
    ("fabs", "abs", 1),
    ("fmin", "min", 2),
    ("fmax", "max", 2),
];

impl Value {
    /// Returns its text in a nest.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns a whole number.
    pub(crate) fn whole(number: i64) -> Self {
        Self::one(number.to_string(), false, None)
    }

    pub(crate) fn one(text: String, is_float: bool, element: Option<Element>) -> Self {
        Self { text, strength: Strength::One, is_float, element }
    }

    /// Returns `select(left operator right, yes, no)`. `None` if C compares in another kind of type
    /// than that of the values: a nest has one type for all four.
    pub(crate) fn selected(operator: &str, [left, right, yes, no]: [&Value; 4]) -> Option<Self> {
        let compared = Element::joined(left.element, right.element);
        let element = Element::joined(yes.element, no.element);
        let is_float = yes.is_float || no.is_float;
        if compared.zip(element).is_some_and(|(one, other)| one.is_float() != other.is_float()) {
            return None;
        }
        let parts = [left, right, yes, no].map(Value::text);
        let text = format!("select({} {operator} {}, {}, {})", parts[0], parts[1], parts[2], parts[3]);
        Some(Self::one(text, is_float, Element::joined(compared, element)))
    }

    /// Returns its text as a part of an expression that binds like this.
    pub(crate) fn within(&self, least: Strength) -> String {
        if self.strength < least { format!("({})", self.text) } else { self.text.clone() }
    }

    /// Returns `self operator right`. `None` for a division of integers, which nests do not have.
    pub(crate) fn with(&self, operator: &str, right: &Value) -> Option<Self> {
        let is_float = self.is_float || right.is_float;
        let (strength, symbol, least) = match operator {
            "+" => (Strength::Sum, " + ", Strength::Sum),
            "-" => (Strength::Sum, " - ", Strength::Product),
            "*" => (Strength::Product, "*", Strength::Product),
            "/" if is_float => (Strength::Product, " / ", Strength::Sign),
            _ => return None,
        };
        let text = format!("{}{symbol}{}", self.within(strength), right.within(least));
        Some(Self { text, strength, is_float, element: Element::joined(self.element, right.element) })
    }
}

/// Returns the finding for a division of integers.
pub(crate) fn rounds(node: Node<'_>) -> Finding {
    let remedy = "divide numbers in floating point: `(float)i / 2`";
    Finding::at(node, "a division of integers rounds, and that of nests does not", Some(remedy))
}

/// Returns the value of a literal.
pub(crate) fn number(text: &str) -> Option<Value> {
    let text = text.trim().trim_start_matches('(').trim_end_matches(')');
    if let Ok(whole) = text.trim_end_matches(['u', 'U', 'l', 'L']).parse::<i64>() {
        let strength = if whole < 0 { Strength::Sign } else { Strength::One };
        return Some(Value { strength, ..Value::whole(whole) });
    }
    let number = text.trim_end_matches(['f', 'F', 'l', 'L']).parse::<f64>().ok().filter(|own| own.is_finite())?;
    let strength = if number < 0.0 { Strength::Sign } else { Strength::One };
    Some(Value { strength, ..Value::one(format!("{number:?}"), true, None) })
}
