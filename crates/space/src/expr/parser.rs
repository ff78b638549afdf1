//! Turns tokens into a tree: Python's grammar of expressions by precedence climbing.

use std::collections::HashMap;
use std::ops::Range;

use super::Name;
use super::ast::{Comprehension, Conditional, Kind, Node};
use super::builtin::Builtin;
use super::datum::Datum;
use super::error::ExprError;
use super::lexer::{Spanned, Token, tokens};
use super::operator::{BinaryOp, CompareOp, UnaryOp};

/// Maximum nesting of parentheses and operators. It is enough for generated code and small enough
/// for a thread's stack.
const MAX_NESTING: usize = 100;

/// Maximum number of links of a chain such as `a + b + c`. Later walks recurse along them.
const MAX_HEIGHT: usize = 600;

/// The binding powers of operators, loosest first.
mod power {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const COMPARE: u8 = 4;
    pub(super) const BIT_OR: u8 = 5;
    pub(super) const BIT_XOR: u8 = 6;
    pub(super) const BIT_AND: u8 = 7;
    pub(super) const SHIFT: u8 = 8;
    pub(super) const SUM: u8 = 9;
    pub(super) const PRODUCT: u8 = 10;
    pub(super) const SIGN: u8 = 11;
    pub(super) const POWER: u8 = 12;
}

/// Parses a whole expression. Returns the tree and the distinct names in order of appearance.
pub(super) fn parse(text: &str) -> Result<(Node, Vec<Name>), ExprError> {
    let tokens = tokens(text)?;
    let mut parser =
        Parser { text, tokens, at: 0, nesting: 0, names: Vec::new(), places: HashMap::new(), locals: Vec::new() };
    let node = parser.expression()?;
    match parser.peek() {
        Token::End => Ok((node, parser.names)),
        _ => Err(parser.expected("an operator or the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Spanned>,
    at: usize,
    nesting: usize,
    names: Vec<Name>,
    /// The places of the names in `names`.
    places: HashMap<String, usize>,
    /// Variables of the enclosing comprehensions, outermost first.
    locals: Vec<String>,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].span.clone()
    }

    fn advance(&mut self) -> Spanned {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<Range<usize>, ExprError> {
        if self.is(symbol) { Ok(self.advance().span) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// Returns the error for an unexpected token. If the expression is cut short, the error names
    /// the last token.
    fn expected(&self, what: &str) -> ExprError {
        let span = self.span();
        if *self.peek() != Token::End {
            let found = &self.text[span.clone()];
            return ExprError::new(format!("expected {what}, found `{found}`"), span);
        }
        match self.at.checked_sub(1).map(|previous| &self.text[self.tokens[previous].span.clone()]) {
            Some(previous) => ExprError::new(format!("expression ends after `{previous}`, expected {what}"), span),
            None => ExprError::new("the expression is empty", span),
        }
    }

    fn node(&self, kind: Kind, span: Range<usize>) -> Result<Node, ExprError> {
        let node = Node::new(kind, span);
        if node.height > MAX_HEIGHT {
            return Err(ExprError::new(format!("more than {MAX_HEIGHT} operators in a row"), node.span)
                .remedy("split it into several constraints"));
        }
        Ok(node)
    }

    /// Parses a whole expression, `a if c else b` included.
    fn expression(&mut self) -> Result<Node, ExprError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(ExprError::new(format!("nested more than {MAX_NESTING} deep"), self.span())
                .remedy("split it into several constraints"));
        }
        let then = self.operators(power::OR)?;
        let node = if self.accept("if") {
            let condition = self.operators(power::OR)?;
            self.expect("else")?;
            let otherwise = self.expression()?;
            let span = then.span.start..otherwise.span.end;
            self.node(Kind::Conditional(Box::new(Conditional { condition, then, otherwise })), span)?
        } else {
            then
        };
        self.nesting -= 1;
        Ok(node)
    }

    /// Parses an operand and all operators after it that bind at least as tightly as `least`.
    fn operators(&mut self, least: u8) -> Result<Node, ExprError> {
        let mut left = self.operand(least)?;
        loop {
            let Token::Symbol(symbol) = *self.peek() else {
                return Ok(left);
            };
            left = match symbol {
                "or" if least <= power::OR => self.chain("or", power::AND, left)?,
                "and" if least <= power::AND => self.chain("and", power::NOT, left)?,
                _ if least <= power::COMPARE && self.compare_op().is_some() => self.comparisons(left)?,
                _ => match binary_op(symbol) {
                    Some((op, binds)) if least <= binds => self.binary(left, op, binds)?,
                    _ => return Ok(left),
                },
            };
        }
    }

    fn binary(&mut self, left: Node, op: BinaryOp, binds: u8) -> Result<Node, ExprError> {
        self.advance();
        // A power's exponent may carry a sign and associates to the right: 2 ** -1 ** 2.
        let right = if op == BinaryOp::Power { self.nested(power::POWER)? } else { self.operators(binds + 1)? };
        let span = left.span.start..right.span.end;
        self.node(Kind::Binary(op, Box::new(left), Box::new(right)), span)
    }

    /// Parses operators that recurse to the right. Counts them, so that no text can exhaust the
    /// stack.
    fn nested(&mut self, least: u8) -> Result<Node, ExprError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(ExprError::new(format!("nested more than {MAX_NESTING} deep"), self.span()));
        }
        let node = self.operators(least)?;
        self.nesting -= 1;
        Ok(node)
    }

    /// Parses `first or b or c` (or `and`) as one node.
    fn chain(&mut self, symbol: &str, least: u8, first: Node) -> Result<Node, ExprError> {
        let start = first.span.start;
        let mut parts = vec![first];
        while self.accept(symbol) {
            parts.push(self.operators(least)?);
        }
        let span = start..parts[parts.len() - 1].span.end;
        self.node(if symbol == "or" { Kind::Or(parts) } else { Kind::And(parts) }, span)
    }

    fn comparisons(&mut self, first: Node) -> Result<Node, ExprError> {
        let start = first.span.start;
        let mut end = first.span.end;
        let mut rest = Vec::new();
        while let Some((op, words)) = self.compare_op() {
            (0..words).for_each(|_| drop(self.advance()));
            let operand = self.operators(power::BIT_OR)?;
            end = operand.span.end;
            rest.push((op, operand));
        }
        self.node(Kind::Compare(Box::new(first), rest), start..end)
    }

    /// Returns the comparison at the current token and the number of its tokens.
    fn compare_op(&self) -> Option<(CompareOp, usize)> {
        let Token::Symbol(symbol) = self.peek() else {
            return None;
        };
        let not_in = || matches!(self.tokens.get(self.at + 1)?.token, Token::Symbol("in")).then_some(());
        Some(match *symbol {
            "<" => (CompareOp::Less, 1),
            "<=" => (CompareOp::LessEqual, 1),
            ">" => (CompareOp::Greater, 1),
            ">=" => (CompareOp::GreaterEqual, 1),
            "==" => (CompareOp::Equal, 1),
            "!=" => (CompareOp::NotEqual, 1),
            "in" => (CompareOp::In, 1),
            "not" => not_in().map(|()| (CompareOp::NotIn, 2))?,
            _ => return None,
        })
    }

    /// Parses a sign, a primary, or `not` if `least` allows it there.
    fn operand(&mut self, least: u8) -> Result<Node, ExprError> {
        let start = self.span().start;
        let unary = match self.peek() {
            Token::Symbol("-") => Some(UnaryOp::Minus),
            Token::Symbol("+") => Some(UnaryOp::Plus),
            Token::Symbol("~") => Some(UnaryOp::Invert),
            _ => None,
        };
        if let Some(op) = unary {
            self.advance();
            let operand = self.nested(power::SIGN)?;
            let span = start..operand.span.end;
            return self.node(Kind::Unary(op, Box::new(operand)), span);
        }
        // C's `!` binds tighter than any binary operator. Python's `not` binds looser than
        // comparisons.
        let negation = [("not", power::NOT), ("!", power::SIGN)].into_iter().find(|(symbol, _)| self.is(symbol));
        if let Some((symbol, binds)) = negation {
            if symbol == "not" && least > power::NOT {
                return Err(self.expected("a number, a name or `(`").remedy("write `(not ..)`"));
            }
            self.advance();
            let operand = self.nested(binds)?;
            let span = start..operand.span.end;
            return self.node(Kind::Not(Box::new(operand)), span);
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Node, ExprError> {
        let Spanned { token, span } = self.tokens[self.at].clone();
        let kind = match token {
            Token::Int(value) => Kind::Literal(Datum::Int(value)),
            Token::Float(value) => Kind::Literal(Datum::Float(value)),
            Token::Text(text) => Kind::Literal(Datum::Str(text.into())),
            Token::Symbol("True") => Kind::Literal(Datum::Bool(true)),
            Token::Symbol("False") => Kind::Literal(Datum::Bool(false)),
            Token::Symbol("(") => return self.parentheses(),
            Token::Symbol("[") => return self.list("]"),
            Token::Symbol("{") => return self.set(),
            Token::Name(name) => return self.name(name, span),
            Token::Symbol(_) | Token::End => return Err(self.expected("a number, a name or `(`")),
        };
        self.advance();
        self.node(kind, span)
    }

    fn name(&mut self, name: String, span: Range<usize>) -> Result<Node, ExprError> {
        self.advance();
        if self.is("(") {
            return self.call(&name, span);
        }
        if let Some(index) = self.locals.iter().rposition(|local| *local == name) {
            return self.node(Kind::Local(index), span);
        }
        let index = self.places.get(&name).copied().unwrap_or_else(|| {
            self.places.insert(name.clone(), self.names.len());
            self.names.push(Name { text: name, span: span.clone() });
            self.names.len() - 1
        });
        self.node(Kind::Name(index), span)
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Result<Node, ExprError> {
        let builtin = Builtin::find(name, &span)?;
        self.advance();
        let arguments = self.items(")")?;
        let end = self.expect(")")?.end;
        builtin.check_count(arguments.len(), &(span.start..end))?;
        self.node(Kind::Call(builtin, arguments), span.start..end)
    }

    /// Parses a parenthesised expression: `(a)` is `a`; `()`, `(a,)` and `(a, b)` are lists.
    fn parentheses(&mut self) -> Result<Node, ExprError> {
        let start = self.advance().span.start;
        let mut items = self.items(")")?;
        let trailing_comma = matches!(self.tokens[self.at - 1].token, Token::Symbol(","));
        let end = self.expect(")")?.end;
        if items.len() == 1 && !trailing_comma {
            let mut inner = items.remove(0);
            inner.span = start..end;
            return Ok(inner);
        }
        self.node(Kind::List(items), start..end)
    }

    /// Parses a set as the call that turns a list into one.
    fn set(&mut self) -> Result<Node, ExprError> {
        let list = self.list("}")?;
        let span = list.span.clone();
        self.node(Kind::Call(Builtin::Set, vec![list]), span)
    }

    /// Parses a list or a comprehension, up to `close`.
    fn list(&mut self, close: &str) -> Result<Node, ExprError> {
        let start = self.advance().span.start;
        let items = self.items(close)?;
        let end = self.expect(close)?.end;
        match <[Node; 1]>::try_from(items) {
            Ok([Node { kind: kind @ Kind::Comprehension(_), .. }]) => self.node(kind, start..end),
            Ok([item]) => self.node(Kind::List(vec![item]), start..end),
            Err(items) => self.node(Kind::List(items), start..end),
        }
    }

    /// Parses expressions separated by commas, or one comprehension, up to but without `close`.
    fn items(&mut self, close: &str) -> Result<Vec<Node>, ExprError> {
        let mut items = Vec::new();
        if let Some(variable) = self.comprehension_variable() {
            items.push(self.comprehension(variable)?);
        } else {
            while !self.is(close) {
                items.push(self.expression()?);
                if !self.accept(",") {
                    break;
                }
            }
        }
        if self.is(close) { Ok(items) } else { Err(self.expected(&format!("`,` or `{close}`"))) }
    }

    /// Returns the variable of the comprehension that starts here, or `None` if none does. The item
    /// stands before the `for` that names the variable, so this looks ahead, to the end of the
    /// bracket at most.
    fn comprehension_variable(&self) -> Option<String> {
        let mut open = 0_usize;
        for (index, token) in self.tokens[self.at..].iter().enumerate() {
            match token.token {
                Token::Symbol("(" | "[" | "{") => open += 1,
                Token::Symbol(")" | "]" | "}") => open = open.checked_sub(1)?,
                Token::Symbol("for") if open == 0 => {
                    let Token::Name(name) = &self.tokens[self.at + index + 1].token else {
                        return None;
                    };
                    return Some(name.clone());
                }
                _ => {}
            }
        }
        None
    }

    /// Parses `item for variable in source if condition`.
    fn comprehension(&mut self, variable: String) -> Result<Node, ExprError> {
        self.locals.push(variable.clone());
        let item = self.expression()?;
        self.locals.pop();
        self.expect("for")?;
        self.advance();
        self.expect("in")?;
        let source = self.nested(power::OR)?;
        self.locals.push(variable);
        let condition = if self.accept("if") { Some(self.nested(power::OR)?) } else { None };
        self.locals.pop();
        let span = item.span.start..self.tokens[self.at - 1].span.end;
        self.node(Kind::Comprehension(Box::new(Comprehension { item, source, condition })), span)
    }
}

fn binary_op(symbol: &str) -> Option<(BinaryOp, u8)> {
    Some(match symbol {
        "|" => (BinaryOp::BitOr, power::BIT_OR),
        "^" => (BinaryOp::BitXor, power::BIT_XOR),
        "&" => (BinaryOp::BitAnd, power::BIT_AND),
        "<<" => (BinaryOp::ShiftLeft, power::SHIFT),
        ">>" => (BinaryOp::ShiftRight, power::SHIFT),
        "+" => (BinaryOp::Add, power::SUM),
        "-" => (BinaryOp::Subtract, power::SUM),
        "*" => (BinaryOp::Multiply, power::PRODUCT),
        "/" => (BinaryOp::Divide, power::PRODUCT),
        "//" => (BinaryOp::FloorDivide, power::PRODUCT),
        "%" => (BinaryOp::Modulo, power::PRODUCT),
        "**" => (BinaryOp::Power, power::POWER),
        _ => return None,
    })
}
