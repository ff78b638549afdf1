//! Writes expressions and subscripts.

use super::dialect::Dialect;
use super::names::{Copies, Names, power};
use crate::ir::{Access, Affine, ArrayId, Expr, Instruction, Memory, Operator, Type, Var};

impl Names<'_> {
    /// Writes a sum of integers.
    pub(super) fn sum(&self, sum: &Affine) -> String {
        let mut text = String::new();
        for (variable, coefficient) in sum.terms() {
            let Some(name) = self.variable(variable) else { continue };
            let sign = match (text.is_empty(), coefficient < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let factor = if coefficient.abs() == 1 { String::new() } else { format!("{} * ", coefficient.abs()) };
            text += &format!("{sign}{factor}{name}");
        }
        match sum.offset() {
            offset if text.is_empty() => offset.to_string(),
            0 => text,
            offset if offset < 0 => format!("{text} - {}", -offset),
            offset => format!("{text} + {offset}"),
        }
    }

    /// Writes a sum such that it can be multiplied.
    fn factor(&self, sum: &Affine) -> String {
        let text = self.sum(sum);
        if text.contains([' ', '-']) { format!("({text})") } else { text }
    }

    /// Writes the cell that an access reaches.
    pub(super) fn cell(&self, access: &Access) -> String {
        let (array, name) = (self.known.nest.array(access.array), self.array(access.array));
        if let Some(block) = self.block.filter(|_| array.memory == Memory::Private) {
            return self.register(block, access.array, &self.offset(access, 1));
        }
        let copies = self.copies(access.array);
        if array.is_scalar() && copies == 1 && matches!(array.memory, Memory::Private | Memory::Argument) {
            return name;
        }
        let parts = [self.offset(access, copies)].into_iter().chain(self.copy(self.temporaries[access.array.0]));
        let is_half = array.memory == Memory::Global && array.element == Type::F16;
        let base = match is_half && self.dialect == Dialect::OpenCl {
            // Without an extension, OpenCL does not read what a pointer to `half` points to.
            true if self.known.nest.uses(access.array).0 => format!("((__global ushort *){name})"),
            true => format!("((__global const ushort *){name})"),
            false => name,
        };
        self.vector(access, format!("{base}[{}]", joined(parts)))
    }

    /// Writes the work-item's own copy of a cell of a temporary.
    pub(super) fn copy_of(&self, id: ArrayId, cell: i128) -> String {
        let parts = [(cell * self.copies(id)).to_string()].into_iter().chain(self.copy(self.temporaries[id.0]));
        format!("{}[{}]", self.array(id), joined(parts))
    }

    /// Returns the offset of a cell in an array with `copies` copies of each cell.
    pub(super) fn offset(&self, access: &Access, copies: i128) -> String {
        let array = self.known.nest.array(access.array);
        let mut parts = Vec::new();
        // From the slowest axis to the fastest, as people write it.
        for &axis in &array.layout.order {
            let subscript = &access.subscripts[axis];
            if *subscript == Affine::default() {
                continue;
            }
            let mut scale = copies;
            let mut factors = Vec::new();
            for stride in array.stride(axis) {
                match stride.as_constant() {
                    Some(number) => scale *= number,
                    None => factors.push(self.factor(&stride)),
                }
            }
            if factors.is_empty() {
                parts.push(self.sum(&subscript.scaled(scale)));
            } else {
                let scale = (scale != 1).then(|| scale.to_string());
                let all: Vec<String> = [self.factor(subscript)].into_iter().chain(factors).chain(scale).collect();
                parts.push(all.join(" * "));
            }
        }
        joined(parts)
    }

    /// Returns the number of the work-item's copy of a temporary.
    fn copy(&self, lanes: Copies) -> Option<String> {
        let [x, y, z] = self.known.local;
        let axes = match lanes {
            Copies::One => vec![],
            Copies::Row => vec![(x, 1, 0)],
            Copies::Group => vec![(z, x * y, 2), (y, x, 1), (x, 1, 0)],
        };
        let part = |(extent, stride, axis): (i128, i128, usize)| match (extent, stride) {
            (1, _) => None,
            (_, 1) => Some(format!("lid{axis}")),
            _ => Some(format!("{stride} * lid{axis}")),
        };
        let parts: Vec<String> = axes.into_iter().filter_map(part).collect();
        (!parts.is_empty()).then(|| parts.join(" + "))
    }

    /// Writes `target = value;`, or the call of an atomic update.
    pub(super) fn assignment(&self, instruction: &Instruction) -> String {
        let element = self.known.nest.array(instruction.target.array).element;
        if let Some((operation, operand)) = instruction.update() {
            let (update, cell) = (self.update(instruction, operation), self.cell(&instruction.target));
            return format!("{update}(&{cell}, {});", self.converted(operand, element));
        }
        let value = self.spread(&instruction.value, self.converted(&instruction.value, element));
        format!("{} = {value};", self.cell(&instruction.target))
    }

    /// Writes an expression, converted to the type `to`.
    fn converted(&self, expr: &Expr, to: Type) -> String {
        let own = self.known.nest.operation_type(expr, to);
        match expr {
            _ if own == Type::F16 && to == Type::F16 => self.value(expr, to),
            _ if to == Type::F16 => format!("nest_to_half({})", self.converted(expr, Type::F32)),
            _ if own == Type::F16 => {
                let value = format!("nest_from_half({})", self.value(expr, to));
                if to == Type::F32 { value } else { format!("({}){value}", self.dialect.name(to)) }
            }
            Expr::Number(number) => self.number(*number, to),
            Expr::Index(sum) => match (sum.as_constant(), to.is_float()) {
                (Some(number), true) => self.number(number as f64, to),
                (None, true) => format!("({}){}", self.dialect.name(to), parenthesised(&self.sum(sum))),
                (_, false) => parenthesised(&self.sum(sum)),
            },
            _ if own == to => self.value(expr, to),
            _ => format!("({}){}", self.dialect.name(to), parenthesised(&self.value(expr, to))),
        }
    }

    fn number(&self, number: f64, to: Type) -> String {
        match to {
            Type::F32 if number.is_finite() => format!("{:?}f", number as f32),
            Type::F64 if number.is_finite() => format!("{number:?}"),
            Type::F32 | Type::F64 if number.is_nan() => "NAN".to_string(),
            Type::F32 | Type::F64 => if number > 0.0 { "INFINITY" } else { "(-INFINITY)" }.to_string(),
            _ => format!("{}", number as i64),
        }
    }

    /// Writes an expression in its own type.
    fn value(&self, expr: &Expr, context: Type) -> String {
        let kind = self.known.nest.operation_type(expr, context);
        let part = |part: &Expr| self.converted(part, kind);
        match expr {
            Expr::Index(_) | Expr::Number(_) => self.converted(expr, kind),
            Expr::Load(access, _) => self.cell(access),
            Expr::Neg(inner) => format!("(-{})", parenthesised(&part(inner))),
            Expr::Binary(operator, left, right) => {
                let (left, right) = (part(left), part(right));
                let joined = |symbol: &str| format!("{} {symbol} {}", parenthesised(&left), parenthesised(&right));
                match (operator, expr.small_power()) {
                    (Operator::Add, _) => joined("+"),
                    (Operator::Sub, _) => joined("-"),
                    (Operator::Mul, _) => joined("*"),
                    (Operator::Div, _) => joined("/"),
                    (Operator::Pow, Some(times)) => format!("{}({left})", power(kind, times)),
                    (Operator::Pow, None) => format!("pow{}({left}, {right})", self.dialect.suffix(kind)),
                }
            }
            Expr::Call(function, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(part).collect();
                self.dialect.call(*function, kind, &arguments)
            }
        }
    }

    /// Returns the index variable of a loop.
    pub(super) fn index(&self, id: crate::ir::LoopId) -> String {
        self.variable(Var::Loop(id)).unwrap_or_default()
    }
}

/// Joins texts to a sum without zeros.
fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| part != "0").collect();
    if parts.is_empty() { "0".to_string() } else { parts.join(" + ") }
}

/// Returns the text in parentheses, unless it is a single word, call or cell.
fn parenthesised(text: &str) -> String {
    let mut depth = 0;
    let is_one = !text.starts_with('-')
        && text.chars().all(|c| {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
            depth > 0 || c != ' '
        });
    if is_one { text.to_string() } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use super::parenthesised;

    #[test]
    fn one_operand_needs_no_parentheses() {
        assert_eq!(parenthesised("a[i + 1]"), "a[i + 1]");
        assert_eq!(parenthesised("f(x) * g(y)"), "(f(x) * g(y))");
        assert_eq!(parenthesised("-1"), "(-1)");
    }
}
