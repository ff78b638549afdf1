//! Translates trees into terms.

use super::cell::{Class, MAGNITUDE};
use super::data::Data;
use super::graph::{Graph, Id, Op};
use super::range;
use crate::expr::{BinaryOp, Builtin, CompareOp, Conditional, Datum, Evaluator, ExprError, Kind, Node, UnaryOp};

/// Maximum number of factors of a power, and of a product that may not fit into a cell. Walks recurse
/// along them. An expression has no more operators.
const MOST_FACTORS: usize = 600;

/// Maximum number of operands of `a or b or ..`, taken as a value, that become choices inside of each
/// other. Walks recurse along them.
const MOST_CHOICES: usize = 100;

/// Adds trees to the graph of one group's terms. The names in the trees are parameters.
pub(crate) struct Translator<'a> {
    pub(crate) graph: &'a mut Graph,
    /// The terms of the space's parameters, `None` for those outside of the group.
    pub(crate) parameters: &'a [Option<Id>],
}

impl Translator<'_> {
    /// Translates the truth of `node`: 0, 1, or an error.
    pub(crate) fn truth(&mut self, node: &Node) -> Id {
        match &node.kind {
            Kind::And(parts) => self.junction(Op::And, parts),
            Kind::Or(parts) => self.junction(Op::Or, parts),
            Kind::Not(operand) => {
                let operand = self.truth(operand);
                self.not(operand)
            }
            Kind::Compare(first, rest) => self.comparisons(first, rest),
            _ => {
                let value = self.value(node);
                self.truth_of(value, node)
            }
        }
    }

    fn junction(&mut self, op: Op, parts: &[Node]) -> Id {
        let parts: Vec<Id> = parts.iter().map(|part| self.truth(part)).collect();
        self.flat(op, &parts).expect("truths are whole numbers")
    }

    fn not(&mut self, operand: Id) -> Id {
        self.graph.apply(Op::Not, &[operand]).expect("truths are whole numbers")
    }

    fn truth_of(&mut self, value: Id, node: &Node) -> Id {
        match self.graph.term(value).class {
            Class::Int(0..=1, 0..=1) => value,
            // A product of positive numbers is not zero.
            class if range::is_wide(class) => self.graph.int(1),
            Class::Int(..) => {
                let zero = self.graph.int(0);
                let equal = self.graph.apply(Op::Equal, &[value, zero]).expect("both are whole numbers");
                self.not(equal)
            }
            Class::Float(..) | Class::Datum => {
                let name = Node::new(Kind::Name(0), node.span.clone());
                self.tree(Kind::Call(Builtin::Bool, vec![name]), node, &[value])
            }
        }
    }

    /// Translates `first op a op b ...` as the conjunction of its links.
    fn comparisons(&mut self, first: &Node, rest: &[(CompareOp, Node)]) -> Id {
        let mut left = (self.value(first), first);
        let mut links = Vec::with_capacity(rest.len());
        for (op, node) in rest {
            let right = (self.value(node), node);
            links.push(self.comparison(*op, left, right));
            left = right;
        }
        self.flat(Op::And, &links).expect("truths are whole numbers")
    }

    fn comparison(&mut self, op: CompareOp, (a, left): (Id, &Node), (b, right): (Id, &Node)) -> Id {
        if let (CompareOp::In | CompareOp::NotIn, Kind::List(items)) = (op, &right.kind) {
            let equal: Vec<Id> = items
                .iter()
                .map(|item| {
                    let value = self.value(item);
                    self.comparison(CompareOp::Equal, (a, left), (value, item))
                })
                .collect();
            // If an element may fail, the whole list fails, whatever comes before it. Leave this to
            // the tree. So does the left side before an empty list, which has no element to fail with.
            let is_lost = items.is_empty() && self.graph.term(a).fallible;
            if !is_lost && equal.iter().all(|&equal| !self.graph.term(equal).fallible) {
                let any = self.flat(Op::Or, &equal).expect("truths are whole numbers");
                return if op == CompareOp::In { any } else { self.not(any) };
            }
        }
        self.simple_comparison(op, a, b).unwrap_or_else(|| {
            let span = left.span.start..right.span.end.max(left.span.start);
            if self.is_wide(a) || self.is_wide(b) {
                let compare = Kind::Compare(Box::new(left.clone()), vec![(op, right.clone())]);
                return self.whole(&Node::new(compare, span));
            }
            let [first, second] = [0, 1].map(|name| Node::new(Kind::Name(name), span.clone()));
            let whole = Node::new(Kind::Literal(Datum::Bool(true)), span);
            self.tree(Kind::Compare(Box::new(first), vec![(op, second)]), &whole, &[a, b])
        })
    }

    fn is_wide(&self, id: Id) -> bool {
        range::is_wide(self.graph.term(id).class)
    }

    /// Returns true if neither operand is a product that may not fit into a cell, or if such a
    /// product meets a limit. Such a product has no other use.
    fn is_limit(&self, op: CompareOp, a: Id, b: Id) -> bool {
        let order = !matches!(op, CompareOp::Equal | CompareOp::NotEqual | CompareOp::In | CompareOp::NotIn);
        let simple = |product: Id, limit: Id| {
            let flat = self.graph.term(product).args.iter().all(|&factor| !self.is_wide(factor));
            !self.is_wide(product)
                || (flat && !self.graph.term(product).fallible && self.graph.constant_of(limit).is_some())
        };
        !(self.is_wide(a) || self.is_wide(b)) || (order && simple(a, b) && simple(b, a))
    }

    fn simple_comparison(&mut self, op: CompareOp, a: Id, b: Id) -> Option<Id> {
        if !self.is_limit(op, a, b) {
            return None;
        }
        match (self.graph.term(a).class, self.graph.term(b).class) {
            (Class::Int(..), Class::Int(..)) => self.int_comparison(op, a, b),
            (Class::Datum, _) | (_, Class::Datum) => None,
            _ => {
                let (a, b) = (self.as_float_term(a)?, self.as_float_term(b)?);
                let (op, args, negated) = match op {
                    CompareOp::Less => (Op::FloatLess, [a, b], false),
                    CompareOp::LessEqual => (Op::FloatLessEqual, [a, b], false),
                    CompareOp::Greater => (Op::FloatLess, [b, a], false),
                    CompareOp::GreaterEqual => (Op::FloatLessEqual, [b, a], false),
                    CompareOp::Equal => (Op::FloatEqual, [a, b], false),
                    CompareOp::NotEqual => (Op::FloatEqual, [a, b], true),
                    CompareOp::In | CompareOp::NotIn => return None,
                };
                let term = self.graph.apply(op, &args)?;
                Some(if negated { self.not(term) } else { term })
            }
        }
    }

    /// Translates every order comparison with `<=`: `a < b` is `not b <= a`.
    fn int_comparison(&mut self, op: CompareOp, a: Id, b: Id) -> Option<Id> {
        let (op, args, negated) = match op {
            CompareOp::LessEqual => (Op::LessEqual, [a, b], false),
            CompareOp::Greater => (Op::LessEqual, [a, b], true),
            CompareOp::GreaterEqual => (Op::LessEqual, [b, a], false),
            CompareOp::Less => (Op::LessEqual, [b, a], true),
            CompareOp::Equal => (Op::Equal, [a.min(b), a.max(b)], false),
            CompareOp::NotEqual => (Op::Equal, [a.min(b), a.max(b)], true),
            CompareOp::In | CompareOp::NotIn => return None,
        };
        let term = self.graph.apply(op, &args)?;
        Some(if negated { self.not(term) } else { term })
    }

    /// Translates the value of `node`.
    fn value(&mut self, node: &Node) -> Id {
        match &node.kind {
            Kind::Literal(value) => self.literal(value),
            Kind::Name(parameter) => self.parameters[*parameter].expect("a conjunct's parameters are of its group"),
            Kind::Not(_) | Kind::Compare(..) => self.truth(node),
            Kind::Unary(op, operand) => self.unary(*op, operand, node),
            Kind::Binary(op, left, right) => {
                let args = [self.value(left), self.value(right)];
                self.binary(*op, args).unwrap_or_else(|| self.shallow(node, &args))
            }
            Kind::And(parts) | Kind::Or(parts) => self.junction_value(parts, node),
            Kind::Conditional(parts) => self.conditional(parts, node),
            Kind::Call(builtin, parts) => {
                if let [Node { kind: Kind::List(items), .. }] = &parts[..]
                    && let Some(term) = self.over_list(*builtin, items)
                {
                    return term;
                }
                let args: Vec<Id> = parts.iter().map(|part| self.value(part)).collect();
                self.call(*builtin, &args).unwrap_or_else(|| self.shallow(node, &args))
            }
            Kind::List(parts) => {
                let args: Vec<Id> = parts.iter().map(|part| self.value(part)).collect();
                self.shallow(node, &args)
            }
            Kind::Comprehension(_) | Kind::Local(_) | Kind::Closure(..) => self.whole(node),
        }
    }

    fn literal(&mut self, value: &Datum) -> Id {
        let class = Data::class_of(value);
        let cell = self.graph.data.cell(value, class);
        self.graph.constant(cell, class)
    }

    fn unary(&mut self, op: UnaryOp, operand: &Node, node: &Node) -> Id {
        let value = self.value(operand);
        let simple = match (op, self.graph.term(value).class) {
            (UnaryOp::Plus, Class::Int(..) | Class::Float(..)) => Some(value),
            (UnaryOp::Minus, Class::Int(..)) => self.negative(value),
            _ => None,
        };
        simple.unwrap_or_else(|| self.shallow(node, &[value]))
    }

    fn negative(&mut self, value: Id) -> Option<Id> {
        let minus = self.graph.int(-1);
        self.flat(Op::Product, &[minus, value])
    }

    fn binary(&mut self, op: BinaryOp, [a, b]: [Id; 2]) -> Option<Id> {
        match (self.graph.term(a).class, self.graph.term(b).class) {
            (Class::Int(..), Class::Int(..)) => self.int_binary(op, a, b),
            (Class::Datum, _) | (_, Class::Datum) => None,
            _ => self.float_binary(op, a, b),
        }
    }

    fn int_binary(&mut self, op: BinaryOp, a: Id, b: Id) -> Option<Id> {
        match op {
            BinaryOp::Add => self.flat(Op::Sum, &[a, b]),
            BinaryOp::Subtract => {
                let b = self.negative(b)?;
                self.flat(Op::Sum, &[a, b])
            }
            BinaryOp::Multiply => self.flat(Op::Product, &[a, b]),
            BinaryOp::FloorDivide => self.graph.apply(Op::FloorDivide, &[a, b]),
            BinaryOp::Modulo => self.graph.apply(Op::Modulo, &[a, b]),
            BinaryOp::Divide => self.float_binary(op, a, b),
            BinaryOp::Power => self.power(a, b),
            _ => None,
        }
    }

    /// Translates a small power as a product. A power of a power multiplies the factors, so that a few
    /// letters could stand for millions.
    fn power(&mut self, base: Id, exponent: Id) -> Option<Id> {
        let exponent = self.graph.constant_of(exponent).filter(|exponent| (1..=8).contains(exponent))? as usize;
        let term = self.graph.term(base);
        let factors = if term.op == Op::Product { term.args.len() } else { 1 };
        if factors * exponent > MOST_FACTORS { None } else { self.flat(Op::Product, &vec![base; exponent]) }
    }

    /// Returns true if a product that may not fit into a cell is too long to be compared with a limit
    /// factor by factor, or may fail.
    fn is_useless(&self, id: Id) -> bool {
        let term = self.graph.term(id);
        range::is_wide(term.class) && (term.fallible || term.args.len() > MOST_FACTORS)
    }

    /// Translates floats in the written order, because another order would round differently.
    fn float_binary(&mut self, op: BinaryOp, a: Id, b: Id) -> Option<Id> {
        let op = match op {
            BinaryOp::Add => Op::FloatAdd,
            BinaryOp::Subtract => Op::FloatSubtract,
            BinaryOp::Multiply => Op::FloatMultiply,
            BinaryOp::Divide => Op::FloatDivide,
            BinaryOp::Modulo => Op::FloatModulo,
            BinaryOp::FloorDivide => Op::FloatFloorDivide,
            _ => return None,
        };
        let (a, b) = (self.as_float_term(a)?, self.as_float_term(b)?);
        // If the divisor may be zero, leave the operation to the tree, which reports it.
        let divides = matches!(op, Op::FloatDivide | Op::FloatModulo | Op::FloatFloorDivide);
        let zero = matches!(self.graph.term(b).class, Class::Float(low, high) if low <= 0.0 && high >= 0.0);
        if divides && zero || self.graph.term(a).fallible || self.graph.term(b).fallible {
            return None;
        }
        self.graph.apply(op, &[a, b])
    }

    fn as_float_term(&mut self, value: Id) -> Option<Id> {
        match self.graph.term(value).class {
            Class::Float(..) => Some(value),
            Class::Int(..) if self.graph.term(value).fallible => None,
            Class::Int(..) => match self.graph.constant_of(value) {
                Some(cell) if cell.abs() <= 1 << 53 => Some(self.graph.float(cell as f64)),
                _ => self.graph.apply(Op::ToFloat, &[value]),
            },
            Class::Datum => None,
        }
    }

    /// Returns an operation whose operands may come in any order and grouping. Flattens nested
    /// operations, joins constants and sorts operands, so that equal results are equal terms.
    fn flat(&mut self, op: Op, args: &[Id]) -> Option<Id> {
        if matches!(op, Op::And | Op::Or) && args.iter().any(|&arg| self.graph.term(arg).fallible) {
            // A failure counts only if no operand before it decides, so keep the order.
            return match args {
                [only] => Some(*only),
                _ => self.graph.apply(op, args),
            };
        }
        let mut flat = Vec::with_capacity(args.len());
        for &arg in args {
            let term = self.graph.term(arg);
            if term.op == op { flat.extend_from_slice(&term.args) } else { flat.push(arg) }
        }
        let constants: Vec<i64> = flat.iter().filter_map(|&arg| self.graph.constant_of(arg)).collect();
        flat.retain(|&arg| self.graph.constant_of(arg).is_none());
        if let Constant::Value(constant) = join(op, &constants)? {
            flat.push(self.graph.int(constant));
        }
        flat.sort_unstable();
        if matches!(op, Op::And | Op::Or | Op::Min | Op::Max) {
            flat.dedup();
        }
        match flat[..] {
            [] => Some(self.graph.int(i64::from(matches!(op, Op::And | Op::Product)))),
            [only] => Some(only),
            _ => self.graph.apply(op, &flat).filter(|&id| !self.is_useless(id)),
        }
    }

    /// Translates the value of `a and b` or `a or b`, which is one of the operands.
    fn junction_value(&mut self, parts: &[Node], node: &Node) -> Id {
        let values: Vec<Id> = parts.iter().map(|part| self.value(part)).collect();
        if values.len() > MOST_CHOICES {
            return self.shallow(node, &values);
        }
        let is_and = matches!(node.kind, Kind::And(_));
        let mut parts = parts.iter().zip(&values).rev();
        let Some((_, &last)) = parts.next() else { return self.shallow(node, &values) };
        let mut result = last;
        for (part, &value) in parts {
            let truth = self.truth_of(value, part);
            let args = if is_and { [truth, result, value] } else { [truth, value, result] };
            match self.select(args) {
                Some(term) => result = term,
                None => return self.shallow(node, &values),
            }
        }
        result
    }

    fn conditional(&mut self, parts: &Conditional, node: &Node) -> Id {
        let condition = self.truth(&parts.condition);
        let (then, otherwise) = (self.value(&parts.then), self.value(&parts.otherwise));
        self.select([condition, then, otherwise]).unwrap_or_else(|| self.shallow(node, &[condition, then, otherwise]))
    }

    fn select(&mut self, [condition, then, otherwise]: [Id; 3]) -> Option<Id> {
        match self.graph.constant_of(condition) {
            Some(0) => Some(otherwise),
            Some(_) => Some(then),
            None if then == otherwise && !self.graph.term(condition).fallible => Some(then),
            None => self.graph.apply(Op::Select, &[condition, then, otherwise]),
        }
    }

    /// Translates a function of a written list as what it abbreviates: `sum([a, b])` as `0 + a + b`. If an
    /// element may fail, the whole list fails, whatever the function needs of it. Leaves this to the tree.
    fn over_list(&mut self, builtin: Builtin, items: &[Node]) -> Option<Id> {
        let values: Vec<Id> = items.iter().map(|item| self.value(item)).collect();
        if values.iter().any(|&value| self.graph.term(value).fallible || self.is_wide(value)) {
            return None;
        }
        match builtin {
            Builtin::Len => Some(self.graph.int(items.len() as i64)),
            Builtin::Sum => {
                let zero = self.graph.int(0);
                values.iter().try_fold(zero, |sum, &value| self.binary(BinaryOp::Add, [sum, value]))
            }
            Builtin::All => self.truths(Op::And, &values, items),
            Builtin::Any => self.truths(Op::Or, &values, items),
            Builtin::Min | Builtin::Max if values.len() == 1 => Some(values[0]),
            Builtin::Min | Builtin::Max => self.call(builtin, &values),
            _ => None,
        }
    }

    /// Joins the truths of values, which are those of `nodes`.
    fn truths(&mut self, op: Op, values: &[Id], nodes: &[Node]) -> Option<Id> {
        let truths: Vec<Id> = values.iter().zip(nodes).map(|(&value, node)| self.truth_of(value, node)).collect();
        self.flat(op, &truths)
    }

    fn call(&mut self, builtin: Builtin, args: &[Id]) -> Option<Id> {
        if !args.iter().all(|&arg| self.graph.int_range(arg).is_some()) {
            return None;
        }
        match (builtin, args) {
            (Builtin::Min, [_, _, ..]) => self.flat(Op::Min, args),
            (Builtin::Max, [_, _, ..]) => self.flat(Op::Max, args),
            (Builtin::Abs, &[value]) => {
                let negative = self.negative(value)?;
                self.flat(Op::Max, &[value, negative])
            }
            (Builtin::Int | Builtin::Round | Builtin::Floor | Builtin::Ceil, &[value]) => Some(value),
            (Builtin::CeilDiv, &[a, b]) => {
                let negative = self.negative(a)?;
                let quotient = self.graph.apply(Op::FloorDivide, &[negative, b])?;
                self.negative(quotient)
            }
            _ => None,
        }
    }

    /// Translates one operation on values of any kind. Replaces the direct parts of `node` by
    /// operand numbers.
    fn shallow(&mut self, node: &Node, args: &[Id]) -> Id {
        if args.iter().any(|&arg| self.is_wide(arg)) {
            return self.whole(node);
        }
        let mut next = 0;
        let kind = node.kind.map_children(&mut |child| {
            let name = Node::new(Kind::Name(next), child.span.clone());
            next += 1;
            name
        });
        // `map_children` visits a conditional's parts in Python's order: condition, then,
        // otherwise.
        self.tree(kind, node, args)
    }

    /// Translates a tree that cannot be taken apart, as a function of its parameters.
    fn whole(&mut self, node: &Node) -> Id {
        let mut args = Vec::new();
        let tree = number_names(node, &mut args);
        let args: Vec<Id> = args.into_iter().map(|p| self.parameters[p].expect("of its group")).collect();
        self.tree(tree.kind, node, &args)
    }

    fn tree(&mut self, kind: Kind, node: &Node, args: &[Id]) -> Id {
        let is_truth =
            matches!(kind, Kind::Compare(..) | Kind::Not(_) | Kind::Call(Builtin::Bool, _) | Kind::Closure(..));
        let tree = Node::new(kind, node.span.clone());
        let constants: Option<Vec<i64>> = args.iter().map(|&arg| self.graph.constant_of(arg)).collect();
        if let Some(cells) = constants {
            let value = |name: usize, _: &std::ops::Range<usize>| {
                Ok::<_, ExprError>(self.graph.data.value(cells[name], self.graph.term(args[name]).class))
            };
            if let Ok(value) = Evaluator::new(&value).evaluate(&tree) {
                return self.literal(&value);
            }
        }
        self.graph.apply_tree(tree, args, if is_truth { Class::Int(0, 1) } else { Class::Datum })
    }
}

/// The constant of an operation.
enum Constant {
    /// It has none, or one that changes nothing.
    Neutral,
    /// One that counts.
    Value(i64),
}

/// Joins the constants of an operation into one. Returns `None` if it does not fit.
fn join(op: Op, constants: &[i64]) -> Option<Constant> {
    let exact = constants.iter().map(|&constant| i128::from(constant));
    let (joined, neutral) = match op {
        Op::Sum => (exact.sum::<i128>(), Some(0)),
        Op::Product => {
            let mut product = 1_i128;
            for constant in exact {
                product = product.checked_mul(constant)?;
            }
            (product, Some(1))
        }
        Op::And => (i128::from(constants.iter().all(|&truth| truth != 0)), Some(1)),
        Op::Or => (i128::from(constants.iter().any(|&truth| truth != 0)), Some(0)),
        Op::Min => return Some(constants.iter().copied().min().map_or(Constant::Neutral, Constant::Value)),
        Op::Max => return Some(constants.iter().copied().max().map_or(Constant::Neutral, Constant::Value)),
        _ => return None,
    };
    if joined.unsigned_abs() >= MAGNITUDE.unsigned_abs().into() {
        return None;
    }
    Some(if Some(joined) == neutral { Constant::Neutral } else { Constant::Value(joined as i64) })
}

/// Returns `node` with operand numbers as names. Adds its parameters to `args`.
fn number_names(node: &Node, args: &mut Vec<usize>) -> Node {
    let kind = match node.kind {
        Kind::Name(parameter) => {
            let known = args.iter().position(|&arg| arg == parameter);
            Kind::Name(known.unwrap_or_else(|| {
                args.push(parameter);
                args.len() - 1
            }))
        }
        _ => node.kind.map_children(&mut |child| number_names(child, args)),
    };
    Node::new(kind, node.span.clone())
}
