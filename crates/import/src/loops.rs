//! `for` loops with affine bounds.

use crate::Finding;
use crate::body::{Body, Loop};
use crate::index::{inner, too_large};
use crate::source::{descendants, parts};
use crate::sum::Sum;
use tree_sitter::Node;

const REMEDY: &str = "write it as `for (i = first; i < end; i++)`, also with `<=`, `i += 2`, or backwards";

/// The head of a loop: its first value, and the constant by which its variable changes.
struct Head {
    first: Sum,
    step: i128,
}

impl Head {
    /// Returns true if the loop in the nest has the variable's own values. All other loops count
    /// their iterations.
    fn is_plain(&self) -> bool {
        self.step == 1
    }

    /// Returns the value of the variable in terms of the nest's loop.
    fn value(&self, name: &str) -> Option<Sum> {
        let own = Sum::name(name);
        if self.is_plain() { Some(own) } else { self.first.plus(&own.times(&Sum::constant(self.step))?) }
    }
}

impl<'a> Body<'a> {
    /// Reads a loop and what it encloses.
    pub(crate) fn for_loop(&mut self, node: Node<'a>) -> Result<(), Finding> {
        let refused = |text: String, at: Node<'_>| Finding::at(at, text, Some(REMEDY));
        let field = |name: &str| node.child_by_field_name(name);
        let (Some(initializer), Some(condition), Some(update)) =
            (field("initializer"), field("condition"), field("update"))
        else {
            return Err(refused("a loop of a nest has a first value, an end and a step".to_string(), node));
        };
        let (name, first) =
            self.first(initializer).ok_or_else(|| refused("the loop sets no variable".to_string(), initializer))?;
        let first = self.integers.affine(self.source, first)?;
        let step = self.step(update, &name);
        let step =
            step.ok_or_else(|| refused(format!("`{}` is no constant step", self.source.snippet(update)), update))?;
        let Some(body) = field("body") else { return Ok(()) };
        self.refuse_changes(body, &name)?;
        let head = Head { first, step };
        let own = self.unique(&name);
        let value = head.value(&own).ok_or_else(|| too_large(self.source, update))?;
        let outer = self.integers.known.insert(name.clone(), value.clone());
        let ends = self.ends(condition, (&name, step > 0));
        let entered = ends
            .and_then(|ends| self.enter(own, &head, &value, &ends).ok_or_else(|| too_large(self.source, condition)));
        match entered {
            Ok(()) => {
                self.statement(body);
                self.open.pop();
            }
            Err(finding) => self.findings.push(finding),
        }
        // A variable that is declared before the loop has another value after it.
        match outer.filter(|_| initializer.kind() == "declaration") {
            Some(outer) => self.integers.known.insert(name, outer),
            None => self.integers.known.remove(&name),
        };
        Ok(())
    }

    /// Adds a loop whose variable has this value and does not reach any of `ends`. Returns `None` if a
    /// number is too large.
    fn enter(&mut self, name: String, head: &Head, value: &Sum, ends: &[Sum]) -> Option<()> {
        let start = if head.is_plain() { head.first.clone() } else { Sum::default() };
        let within = |end: &Sum| if head.step > 0 { format!("{value} < {end}") } else { format!("{end} < {value}") };
        let ends_text: Vec<String> = ends.iter().map(within).collect();
        let text = format!("{{[{name}]: {start} <= {name} and {}}}", ends_text.join(" and "));
        let last = ends.first().cloned().unwrap_or_default();
        let distance = if head.step > 0 { last.minus(&head.first) } else { head.first.minus(&last) };
        let distance = distance?.minus(&Sum::constant(1))?;
        self.open.push(self.loops.len());
        self.loops.push(Loop { name, start, distance, step: head.step.abs(), text });
        Some(())
    }

    /// Returns the variable and the first value of a loop.
    fn first(&self, node: Node<'a>) -> Option<(String, Node<'a>)> {
        let assigned = |node: Node<'a>| {
            let left = node.child_by_field_name("left")?;
            let is_plain = left.kind() == "identifier" && self.source.field(node, "operator") == "=";
            is_plain.then(|| Some((self.source.of(left).to_string(), node.child_by_field_name("right")?)))?
        };
        match node.kind() {
            "declaration" => {
                let declarator = node.child_by_field_name("declarator")?;
                let name = declarator.child_by_field_name("declarator")?;
                Some((self.source.of(name).to_string(), declarator.child_by_field_name("value")?))
            }
            "assignment_expression" => assigned(node),
            "expression_statement" => parts(node).first().and_then(|own| assigned(*own)),
            _ => None,
        }
    }

    /// Returns the constant by which a loop's variable changes.
    fn step(&self, node: Node<'a>, name: &str) -> Option<i128> {
        let is_own = |node: Node<'_>| self.source.of(node) == name;
        match node.kind() {
            "update_expression" => {
                let own = node.child_by_field_name("argument").is_some_and(is_own);
                own.then_some(if self.source.field(node, "operator") == "++" { 1 } else { -1 })
            }
            "assignment_expression" if node.child_by_field_name("left").is_some_and(is_own) => {
                let right = node.child_by_field_name("right")?;
                let by = match self.source.field(node, "operator") {
                    "+=" => self.integers.sum(self.source, right).ok()?,
                    "-=" => Sum::default().minus(&self.integers.sum(self.source, right).ok()?)?,
                    "=" => {
                        let mut integers = self.integers.clone();
                        integers.known.insert(name.to_string(), Sum::name(name));
                        integers.sum(self.source, right).ok()?.minus(&Sum::name(name))?
                    }
                    _ => return None,
                };
                by.as_constant().filter(|step| *step != 0)
            }
            _ => None,
        }
    }

    /// Returns the values that a loop's variable does not reach, upwards or downwards.
    fn ends(&self, node: Node<'a>, (name, is_upwards): (&str, bool)) -> Result<Vec<Sum>, Finding> {
        let node = inner(node);
        let no_bound = || {
            let way = if is_upwards { "a loop that counts up" } else { "a loop that counts down" };
            Finding::at(node, format!("`{}` is no bound of {way}", self.source.snippet(node)), Some(REMEDY))
        };
        let sides = (node.child_by_field_name("left"), node.child_by_field_name("right"));
        let (Some(left), Some(right)) = sides else { return Err(no_bound()) };
        let operator = self.source.field(node, "operator");
        if operator == "&&" {
            let (mut ends, more) = (self.ends(left, (name, is_upwards))?, self.ends(right, (name, is_upwards))?);
            ends.extend(more);
            return Ok(ends);
        }
        let is_own = |node: Node<'_>| self.source.of(inner(node)) == name;
        // As if the variable stood on the left.
        let (end, operator) = match operator {
            own if is_own(left) => (right, own),
            "<" if is_own(right) => (left, ">"),
            "<=" if is_own(right) => (left, ">="),
            ">" if is_own(right) => (left, "<"),
            ">=" if is_own(right) => (left, "<="),
            _ => return Err(no_bound()),
        };
        let beyond = match (operator, is_upwards) {
            ("<", true) | (">", false) => 0,
            ("<=", true) => 1,
            (">=", false) => -1,
            _ => return Err(no_bound()),
        };
        let end_beyond = self.integers.affine(self.source, end)?.plus(&Sum::constant(beyond));
        Ok(vec![end_beyond.ok_or_else(|| too_large(self.source, end))?])
    }

    /// Refuses a loop whose body changes its variable.
    fn refuse_changes(&self, body: Node<'a>, name: &str) -> Result<(), Finding> {
        let changed = descendants(body).find(|node| {
            let field = match node.kind() {
                "assignment_expression" => "left",
                "update_expression" => "argument",
                _ => return false,
            };
            // An inner loop may declare a variable of that name: it is then a variable of its own.
            let declares = |parent: Node<'_>| {
                let initializer = parent.child_by_field_name("initializer");
                parent.kind() == "for_statement" && initializer.is_some_and(|own| own.kind() == "declaration")
            };
            !node.parent().is_some_and(declares) && self.source.field(*node, field) == name
        });
        match changed {
            None => Ok(()),
            Some(node) => Err(Finding::at(node, format!("the body changes its loop's variable `{name}`"), None)),
        }
    }
}
