//! Evaluation of the tree with Python's semantics, short circuits included.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::Range;

use super::arithmetic::{self, Fault};
use super::ast::{Comprehension, Kind, Node};
use super::builtin::Builtin;
use super::datum::Datum;
use super::datum::MAX_ELEMENTS;
use super::error::ExprError;
use super::operator::CompareOp;

/// Returns the value of the name with an index, used at a range of the text.
type Lookup<'a> = dyn Fn(usize, &Range<usize>) -> Result<Datum, ExprError> + 'a;

/// The number of elements that one evaluation may make or look at. Each of the longest lists may be
/// made and looked at some times.
const MAX_WORK: usize = 8 * MAX_ELEMENTS;

/// Evaluates trees. `lookup` gives the values of the names.
pub(crate) struct Evaluator<'a> {
    lookup: &'a Lookup<'a>,
    locals: Vec<Datum>,
    /// The number of elements that all comprehensions together may still make.
    elements: Cell<usize>,
    /// The number of elements that calls and comparisons may still make or look at.
    work: usize,
}

impl<'a> Evaluator<'a> {
    /// Returns an evaluator that calls `lookup` with the index of a name and its range in the text.
    pub(crate) fn new(lookup: &'a Lookup<'a>) -> Self {
        Evaluator { lookup, locals: Vec::new(), elements: Cell::new(MAX_ELEMENTS), work: MAX_WORK }
    }

    /// Returns the number of elements that were made or looked at.
    pub(crate) fn worked(&self) -> u64 {
        (MAX_WORK - self.work + MAX_ELEMENTS - self.elements.get()) as u64
    }

    /// Counts the elements of `value`, if it is a list or a text. Without this, a comprehension
    /// could make a long list again for each of its elements.
    fn look_at(&mut self, value: &Datum, node: &Node) -> Result<(), ExprError> {
        let elements = match value {
            Datum::List(items) => items.len(),
            Datum::Str(text) => text.len(),
            _ => return Ok(()),
        };
        self.work = self.work.checked_sub(elements).ok_or_else(|| {
            ExprError::new(format!("more than {MAX_WORK} elements are looked at"), node.span.clone())
                .remedy("shorten the ranges, or compute the value without a list")
        })?;
        Ok(())
    }

    /// Evaluates `node`. An error points to the smallest part that fails.
    pub(crate) fn evaluate(&mut self, node: &Node) -> Result<Datum, ExprError> {
        match &node.kind {
            Kind::Literal(value) => Ok(value.clone()),
            Kind::Name(index) => (self.lookup)(*index, &node.span),
            Kind::Local(index) => Ok(self.locals[*index].clone()),
            Kind::Unary(op, operand) => {
                let operand = self.evaluate(operand)?;
                arithmetic::unary(*op, &operand).map_err(|fault| at(fault, node))
            }
            Kind::Binary(op, left, right) => {
                let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
                let value = arithmetic::binary(*op, &left, &right).map_err(|fault| at(fault, node))?;
                self.look_at(&value, node)?;
                Ok(value)
            }
            Kind::Compare(first, rest) => self.comparisons(first, rest, node),
            Kind::Not(operand) => Ok(Datum::Bool(!self.evaluate(operand)?.truthy())),
            Kind::And(parts) => self.first_with(parts, false),
            Kind::Or(parts) => self.first_with(parts, true),
            Kind::Conditional(parts) => {
                let taken = if self.evaluate(&parts.condition)?.truthy() { &parts.then } else { &parts.otherwise };
                self.evaluate(taken)
            }
            Kind::List(parts) => self.all(parts).map(|items| Datum::List(items.into())),
            Kind::Call(builtin, parts) => {
                // Most calls have one or two arguments, and these need no list of their own.
                match parts.as_slice() {
                    [one] => {
                        let one = self.evaluate(one)?;
                        self.call(*builtin, &[one], node)
                    }
                    [one, two] => {
                        let both = [self.evaluate(one)?, self.evaluate(two)?];
                        self.call(*builtin, &both, node)
                    }
                    several => {
                        let several = self.all(several)?;
                        self.call(*builtin, &several, node)
                    }
                }
            }
            Kind::Closure(closure, parts) => {
                let truth = closure.call(&self.all(parts)?);
                truth.map(Datum::Bool).ok_or_else(|| ExprError::new("a closure takes plain values", node.span.clone()))
            }
            Kind::Comprehension(parts) => self.comprehension(parts),
        }
    }

    fn call(&mut self, builtin: Builtin, arguments: &[Datum], node: &Node) -> Result<Datum, ExprError> {
        arguments.iter().try_for_each(|argument| self.look_at(argument, node))?;
        let value = builtin.call(arguments).map_err(|fault| at(fault, node))?;
        self.look_at(&value, node)?;
        Ok(value)
    }

    fn all(&mut self, parts: &[Node]) -> Result<Vec<Datum>, ExprError> {
        parts.iter().map(|part| self.evaluate(part)).collect()
    }

    /// Returns the first part with this truth, or else the last part, as Python's `and` and `or`
    /// do.
    fn first_with(&mut self, parts: &[Node], truth: bool) -> Result<Datum, ExprError> {
        let mut value = Datum::Bool(!truth);
        for part in parts {
            value = self.evaluate(part)?;
            if value.truthy() == truth {
                break;
            }
        }
        Ok(value)
    }

    fn comparisons(&mut self, first: &Node, rest: &[(CompareOp, Node)], whole: &Node) -> Result<Datum, ExprError> {
        let mut left = self.evaluate(first)?;
        for (op, operand) in rest {
            let right = self.evaluate(operand)?;
            self.look_at(&right, whole)?;
            if !compare(*op, &left, &right).map_err(|fault| at(fault, whole))? {
                return Ok(Datum::Bool(false));
            }
            left = right;
        }
        Ok(Datum::Bool(true))
    }

    fn comprehension(&mut self, parts: &Comprehension) -> Result<Datum, ExprError> {
        let Datum::List(source) = self.evaluate(&parts.source)? else {
            return Err(ExprError::new("`for` needs a list to go through", parts.source.span.clone())
                .remedy("write a list or `range(..)`"));
        };
        let mut items = Vec::new();
        for value in source.iter() {
            let left =
                self.elements.get().checked_sub(1).ok_or_else(|| {
                    ExprError::new(format!("more than {MAX_ELEMENTS} elements"), parts.item.span.clone())
                })?;
            self.elements.set(left);
            self.locals.push(value.clone());
            let item = self.filtered(parts);
            self.locals.pop();
            items.extend(item?);
        }
        Ok(Datum::List(items.into()))
    }

    fn filtered(&mut self, parts: &Comprehension) -> Result<Option<Datum>, ExprError> {
        match &parts.condition {
            Some(condition) if !self.evaluate(condition)?.truthy() => Ok(None),
            _ => self.evaluate(&parts.item).map(Some),
        }
    }
}

fn at(fault: Fault, node: &Node) -> ExprError {
    ExprError { message: fault.message, span: node.span.clone(), remedy: fault.remedy.map(str::to_owned) }
}

/// Evaluates one comparison.
pub(crate) fn compare(op: CompareOp, left: &Datum, right: &Datum) -> Result<bool, Fault> {
    let ordered = |wanted: fn(Ordering) -> bool| match left.order(right) {
        Ok(order) => Ok(order.is_some_and(wanted)),
        Err(()) => Err(Fault::new(format!(
            "`{}` does not work between {} and {}",
            op.symbol(),
            left.type_name(),
            right.type_name()
        ))),
    };
    match op {
        CompareOp::Less => ordered(Ordering::is_lt),
        CompareOp::LessEqual => ordered(Ordering::is_le),
        CompareOp::Greater => ordered(Ordering::is_gt),
        CompareOp::GreaterEqual => ordered(Ordering::is_ge),
        CompareOp::Equal => Ok(left.equals(right)),
        CompareOp::NotEqual => Ok(!left.equals(right)),
        CompareOp::In => contains(left, right),
        CompareOp::NotIn => contains(left, right).map(|inside| !inside),
    }
}

fn contains(item: &Datum, container: &Datum) -> Result<bool, Fault> {
    match (item, container) {
        (_, Datum::List(items)) => Ok(items.iter().any(|other| other.equals(item))),
        (Datum::Str(part), Datum::Str(text)) => Ok(text.contains(&**part)),
        _ => Err(Fault::new(format!("`in` does not work on {}", container.type_name())).remedy("write a list")),
    }
}
