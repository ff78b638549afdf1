//! Expressions of C, read as values of nests.

use crate::Finding;
use crate::body::{Body, Name};
use crate::element::Element;
use crate::source::parts;
use crate::value::{FUNCTIONS, Strength, Value, number, rounds};
use tree_sitter::Node;

impl Body<'_> {
    /// Returns the value of an expression.
    ///
    /// # Errors
    ///
    /// Fails with the place of the part that nests do not have.
    pub(crate) fn value(&mut self, node: Node<'_>) -> Result<Value, Finding> {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "parenthesized_expression" if parts(node).len() == 1 => self.value(parts(node)[0]),
            "number_literal" => self.number(node),
            "identifier" => self.named(node),
            "subscript_expression" => {
                let (cell, element) = self.cell(node)?;
                Ok(Value::one(cell, element.is_float(), Some(element)))
            }
            "unary_expression" => match (self.source.field(node, "operator"), field("argument")) {
                ("-", Some(own)) => {
                    let own = self.value(own)?;
                    let text = format!("-{}", own.within(Strength::Sign));
                    Ok(Value { text, strength: Strength::Sign, ..own })
                }
                ("+", Some(own)) => self.value(own),
                _ => Err(self.no_value(node)),
            },
            "binary_expression" => {
                let (Some(left), Some(right)) = (field("left"), field("right")) else {
                    return Err(self.no_value(node));
                };
                let operator = self.source.field(node, "operator").to_string();
                let (left, right) = (self.value(left)?, self.value(right)?);
                left.with(&operator, &right).ok_or_else(|| match operator.as_str() {
                    "/" => rounds(node),
                    _ => self.no_value(node),
                })
            }
            "cast_expression" => self.cast(node),
            "call_expression" => self.call(node),
            "pointer_expression" => Err(Finding::at(
                node,
                format!("`{}` is pointer arithmetic", self.source.snippet(node)),
                Some("write the access with brackets: `a[i]`"),
            )),
            "conditional_expression" => {
                let (Some(condition), Some(yes), Some(no)) =
                    (field("condition"), field("consequence"), field("alternative"))
                else {
                    return Err(self.no_value(node));
                };
                let (yes, no) = (self.value(yes)?, self.value(no)?);
                self.choice(condition, &yes, &no)
            }
            _ => Err(self.no_value(node)),
        }
    }

    fn no_value(&self, node: Node<'_>) -> Finding {
        Finding::at(node, format!("nests have no `{}`", self.source.snippet(node)), None)
    }

    /// Returns a value in another type. A type that changes the precision of cells has no
    /// counterpart: nests compute in the type of the cells.
    fn cast(&mut self, node: Node<'_>) -> Result<Value, Finding> {
        let to = node.child_by_field_name("type").and_then(|own| self.source.element(own));
        let own = node.child_by_field_name("value").map(|own| self.value(own)).transpose()?;
        let (Some(to), Some(own)) = (to, own) else { return Err(self.no_value(node)) };
        match own.element.filter(|_| own.is_float) {
            // Half precision is computed in single precision.
            Some(element) if element.promoted() != to.promoted() || to.promoted() != to => {
                let text = format!("`{}` changes the type of what is computed", self.source.snippet(node));
                let remedy = format!("assign the value to a variable of type {} first", to.in_c());
                Err(Finding::at(node, text, Some(&remedy)))
            }
            _ if own.is_float && !to.is_float() => Err(self.no_value(node)),
            _ if !to.is_float() && own.element.is_some_and(|own| own.max(Element::I32) > to) => {
                Err(self.no_value(node))
            }
            _ => Ok(Value { is_float: to.is_float(), ..own }),
        }
    }

    fn number(&self, node: Node<'_>) -> Result<Value, Finding> {
        number(self.source.of(node)).ok_or_else(|| self.no_value(node))
    }

    fn named(&mut self, node: Node<'_>) -> Result<Value, Finding> {
        let name = self.source.of(node).to_string();
        match self.name(&name) {
            Some(Name::Integer(sum)) => {
                let strength = if sum.is_one() { Strength::One } else { Strength::Sum };
                Ok(Value { text: sum.to_string(), strength, is_float: false, element: None })
            }
            Some(Name::Scalar { text, element }) => Ok(Value::one(text, element.is_float(), Some(element))),
            Some(Name::Array(_)) => Err(Finding::at(node, format!("`{name}` is an array, not a number"), None)),
            None => self.source.macro_text(&name).and_then(number).ok_or_else(|| {
                let text = format!("`{name}` is not declared in the function");
                Finding::at(node, text, Some("pass it as a parameter, or define it as a number"))
            }),
        }
    }

    fn call(&mut self, node: Node<'_>) -> Result<Value, Finding> {
        let name = self.source.field(node, "function").to_string();
        let arguments = node.child_by_field_name("arguments").map(parts).unwrap_or_default();
        let own = name.strip_suffix('f').filter(|own| *own != "f").unwrap_or(&name).to_string();
        let is_power = own == "pow" && arguments.len() == 2;
        let known =
            FUNCTIONS.iter().find(|(known, _, count)| (*known == own || *known == name) && *count == arguments.len());
        if known.is_none() && !is_power {
            let names = FUNCTIONS.map(|(known, ..)| known).join(", ");
            let remedy = format!("write its body in its place; nests have pow, {names}");
            return Err(Finding::at(node, format!("it calls `{name}`"), Some(&remedy)));
        }
        let values = arguments.into_iter().map(|own| self.value(own)).collect::<Result<Vec<Value>, Finding>>()?;
        let element = values.iter().fold(None, |joined, own| Element::joined(joined, own.element));
        Ok(match (known, &values[..]) {
            (None, [base, exponent]) => {
                let text = format!("({}**{})", base.within(Strength::One), exponent.within(Strength::One));
                Value::one(text, true, element)
            }
            (known, values) => {
                let list: Vec<&str> = values.iter().map(Value::text).collect();
                let nest = known.map_or(own.as_str(), |(_, nest, _)| *nest);
                Value::one(format!("{nest}({})", list.join(", ")), true, element)
            }
        })
    }
}
