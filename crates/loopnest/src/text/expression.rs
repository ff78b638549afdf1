//! Parses expressions: the values of instructions, and sums in subscripts and extents.

use super::cursor::Cursor;
use super::lexer::{Kind, LARGEST};
use crate::error::NestError;
use crate::ir::{Access, Affine, Comparison, Expr, Function, Nest, Operator};
use crate::print;

/// Maximum depth of an expression. Deeper nesting would exhaust the stack of a thread.
const DEEPEST: usize = 200;

/// Maximum number of operators of an expression that are not folded. Later walks recurse along them.
const MOST_OPERATORS: usize = 600;

/// Parses expressions with the names of a nest.
pub(super) struct Expressions<'a> {
    pub(super) nest: &'a Nest,
    depth: usize,
    operators: usize,
}

impl<'a> Expressions<'a> {
    pub(super) fn new(nest: &'a Nest) -> Self {
        Expressions { nest, depth: 0, operators: 0 }
    }

    /// Parses a sum of products.
    pub(super) fn expression(&mut self, cursor: &mut Cursor) -> Result<Expr, NestError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(NestError::new("the expression is nested too deeply").at(cursor.place()));
        }
        let mut sum = self.product(cursor)?;
        loop {
            let operator = match cursor.peek() {
                Kind::Symbol("+") => Operator::Add,
                Kind::Symbol("-") => Operator::Sub,
                _ => break,
            };
            cursor.advance();
            let right = self.product(cursor)?;
            sum = self.join(cursor, operator, sum, right)?;
        }
        self.depth -= 1;
        Ok(sum)
    }

    fn product(&mut self, cursor: &mut Cursor) -> Result<Expr, NestError> {
        let mut product = self.factor(cursor)?;
        loop {
            let operator = match cursor.peek() {
                Kind::Symbol("*") => Operator::Mul,
                Kind::Symbol("/") => Operator::Div,
                _ => return Ok(product),
            };
            cursor.advance();
            let right = self.factor(cursor)?;
            product = self.join(cursor, operator, product, right)?;
        }
    }

    /// Parses a factor. A sign binds less than a power: `-x**2` is `-(x**2)`.
    fn factor(&mut self, cursor: &mut Cursor) -> Result<Expr, NestError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(NestError::new("the expression is nested too deeply").at(cursor.place()));
        }
        let factor = if cursor.accept("-") {
            negated(self.factor(cursor)?)
        } else {
            let base = self.atom(cursor)?;
            if cursor.accept("**") { Expr::binary(Operator::Pow, base, self.factor(cursor)?) } else { base }
        };
        self.depth -= 1;
        Ok(factor)
    }

    fn atom(&mut self, cursor: &mut Cursor) -> Result<Expr, NestError> {
        let place = cursor.place();
        match cursor.peek().clone() {
            Kind::Integer(number) => {
                cursor.advance();
                Ok(Expr::Index(Affine::constant(number)))
            }
            Kind::Number(number) => {
                cursor.advance();
                Ok(Expr::Number(number))
            }
            Kind::Symbol("(") => {
                cursor.advance();
                let inner = self.expression(cursor)?;
                cursor.expect(")")?;
                Ok(inner)
            }
            Kind::Name(name) if matches!(cursor.peek_second(), Kind::Symbol("(")) => self.call(cursor, &name),
            Kind::Name(name) => match self.nest.variable(&name) {
                Some(variable) => {
                    cursor.advance();
                    Ok(Expr::Index(Affine::term(variable, 1)))
                }
                None => Ok(Expr::Load(self.access(cursor)?, Some(place))),
            },
            _ => Err(cursor.unexpected("a number, a name or `(`")),
        }
    }

    fn call(&mut self, cursor: &mut Cursor, name: &str) -> Result<Expr, NestError> {
        let place = cursor.place();
        let found = Function::ALL.iter().find(|(known, _, _)| *known == name);
        let known = Function::ALL.iter().map(|(known, _, _)| *known);
        let (_, function, wanted) = found.ok_or_else(|| NestError::unknown("function", name, known).at(place))?;
        cursor.advance();
        cursor.expect("(")?;
        if let Function::Select(_) = function {
            return self.selection(cursor);
        }
        let arguments = cursor.list(|cursor| self.expression(cursor))?;
        cursor.expect(")")?;
        if arguments.len() != *wanted {
            let given = arguments.len();
            return Err(NestError::new(format!("`{name}` takes {wanted} arguments, not {given}")).at(place));
        }
        Ok(Expr::Call(*function, arguments))
    }

    /// Parses the rest of `select(a < b, x, y)`.
    fn selection(&mut self, cursor: &mut Cursor) -> Result<Expr, NestError> {
        let left = self.expression(cursor)?;
        let symbol = match cursor.peek() {
            Kind::Symbol(symbol @ ("<" | "<=" | ">" | ">=" | "==" | "!=")) => *symbol,
            _ => return Err(cursor.unexpected("a comparison such as `<`")),
        };
        cursor.advance();
        let right = self.expression(cursor)?;
        cursor.expect(",")?;
        let yes = self.expression(cursor)?;
        cursor.expect(",")?;
        let no = self.expression(cursor)?;
        cursor.expect(")")?;
        let (comparison, arguments) = match symbol {
            "<" => (Comparison::Less, vec![left, right, yes, no]),
            "<=" => (Comparison::AtMost, vec![left, right, yes, no]),
            ">" => (Comparison::Less, vec![right, left, yes, no]),
            ">=" => (Comparison::AtMost, vec![right, left, yes, no]),
            "==" => (Comparison::Equal, vec![left, right, yes, no]),
            // Also for what is not a number: it is unequal to everything.
            _ => (Comparison::Equal, vec![left, right, no, yes]),
        };
        Ok(Expr::Call(Function::Select(comparison), arguments))
    }

    /// Parses `a[i, j]`, or a scalar's name.
    pub(super) fn access(&mut self, cursor: &mut Cursor) -> Result<Access, NestError> {
        let place = cursor.place();
        let name = cursor.name("the name of an array")?;
        let unknown = |_| NestError::unknown("size, loop or array", &name, self.nest.names()).at(place);
        let array = self.nest.array_id(&name).map_err(unknown)?;
        let mut subscripts = Vec::new();
        if cursor.accept("[") {
            subscripts = cursor.list(|cursor| self.affine(cursor, "subscript"))?;
            cursor.expect("]")?;
        }
        let axes = self.nest.array(array).shape.len();
        if subscripts.len() != axes {
            let given = subscripts.len();
            let error = NestError::new(format!("`{name}` has {axes} axes, not {given}"));
            return Err(error.remedy("write one subscript for each axis").at(place));
        }
        Ok(Access { array, subscripts })
    }

    /// Parses a sum of sizes and loops. `what` names its use in messages.
    pub(super) fn affine(&mut self, cursor: &mut Cursor, what: &str) -> Result<Affine, NestError> {
        let place = cursor.place();
        let read = self.expression(cursor)?;
        self.is_affine(read, what).map_err(|error| error.at(place))
    }

    /// Parses a product that is a sum of sizes and loops.
    pub(super) fn summand(&mut self, cursor: &mut Cursor, what: &str) -> Result<Affine, NestError> {
        let place = cursor.place();
        let read = self.product(cursor)?;
        self.is_affine(read, what).map_err(|error| error.at(place))
    }

    /// Parses the numerator of a quotient: a sum in parentheses, or a single summand without
    /// division.
    pub(super) fn numerator(&mut self, cursor: &mut Cursor) -> Result<Affine, NestError> {
        let place = cursor.place();
        let mut product = self.factor(cursor)?;
        while cursor.accept("*") {
            let right = self.factor(cursor)?;
            product = self.join(cursor, Operator::Mul, product, right)?;
        }
        self.is_affine(product, "numerator").map_err(|error| error.at(place))
    }

    /// Joins two operands. Integer arithmetic within sums of indices is folded. Everything else stays
    /// as written.
    fn join(&mut self, cursor: &Cursor, operator: Operator, left: Expr, right: Expr) -> Result<Expr, NestError> {
        let folded = match (&left, &right) {
            (Expr::Index(one), Expr::Index(two)) => match (operator, one.as_constant(), two.as_constant()) {
                (Operator::Add, _, _) => Some(one + two),
                (Operator::Sub, _, _) => Some(one - two),
                (Operator::Mul, Some(factor), _) => Some(two.scaled(factor)),
                (Operator::Mul, _, Some(factor)) => Some(one.scaled(factor)),
                _ => None,
            },
            _ => None,
        };
        if let Some(affine) = folded.filter(is_readable) {
            return Ok(Expr::Index(affine));
        }
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            let refused = NestError::new(format!("the expression has more than {MOST_OPERATORS} operators"));
            return Err(refused.remedy("compute a part of it into a temporary first").at(cursor.place()));
        }
        Ok(Expr::binary(operator, left, right))
    }

    fn is_affine(&self, read: Expr, what: &str) -> Result<Affine, NestError> {
        let only = "sums of loop indices and sizes, each times an integer, can be counted; nothing else can";
        let (refused, remedy) = match read {
            Expr::Index(affine) => return Ok(affine),
            Expr::Load(access, _) => {
                let array = self.nest.array(access.array);
                let lookup = || {
                    let text = print::access(self.nest, &access);
                    format!("declare the value before the line that uses it: `lookup value = {text}`")
                };
                let remedy = if array.element.is_float() { only.to_string() } else { lookup() };
                (format!("the {what} depends on the data in `{}`", array.name), remedy)
            }
            read if is_large(&read) => return Err(too_large(what)),
            _ => (format!("the {what} is not affine"), only.to_string()),
        };
        Err(NestError::new(refused).remedy(remedy))
    }
}

/// Returns true if the sum can be read again when it is printed.
pub(super) fn is_readable(affine: &Affine) -> bool {
    affine.terms().map(|(_, factor)| factor).chain([affine.offset()]).all(|number| number.abs() <= LARGEST)
}

/// Returns the error of a sum with numbers that are too large.
pub(super) fn too_large(what: &str) -> NestError {
    NestError::new(format!("the numbers of the {what} are too large")).remedy(format!("at most {LARGEST}"))
}

/// Returns true if an expression stays as written because the numbers of its sum are too large.
fn is_large(read: &Expr) -> bool {
    let Expr::Binary(operator, left, right) = read else { return false };
    let (Expr::Index(left), Expr::Index(right)) = (left.as_ref(), right.as_ref()) else { return false };
    match operator {
        Operator::Add | Operator::Sub => true,
        Operator::Mul => left.as_constant().or(right.as_constant()).is_some(),
        _ => false,
    }
}

fn negated(inner: Expr) -> Expr {
    match inner {
        Expr::Index(affine) => Expr::Index(affine.scaled(-1)),
        Expr::Number(number) => Expr::Number(-number),
        other => Expr::Neg(Box::new(other)),
    }
}
