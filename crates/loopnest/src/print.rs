//! Writes a nest as text that parses to the same nest.

use crate::ir::{
    Access, Affine, Array, Congruence, Expr, Function, Instruction, Layout, Lookup, Memory, Nest, Operator, Var,
};
use std::fmt;

/// A part of a nest, to be shown with the names of the nest.
pub(crate) struct Named<'a, T>(pub(crate) &'a Nest, pub(crate) &'a T);

/// Shows a sum with the names of the nest.
pub(crate) fn affine(nest: &Nest, affine: &Affine) -> String {
    Named(nest, affine).to_string()
}

/// Shows an access with the names of the nest.
pub(crate) fn access(nest: &Nest, access: &Access) -> String {
    Named(nest, access).to_string()
}

impl fmt::Display for Nest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "nest {}", self.name)?;
        if !self.sizes.is_empty() {
            writeln!(formatter, "sizes {}", self.sizes.join(", "))?;
        }
        for sum in &self.assumptions.at_least_zero {
            writeln!(formatter, "assume {} >= 0", Named(self, sum))?;
        }
        for Congruence { size, modulus, remainder } in &self.assumptions.congruences {
            writeln!(formatter, "assume {} mod {modulus} = {remainder}", self.sizes[size.0])?;
        }
        for array in &self.arrays {
            writeln!(formatter, "{}", Named(self, array))?;
        }
        write_lookups(self, formatter, 0)?;
        for (place, id) in self.order.iter().enumerate() {
            let own = self.loop_at(*id);
            let constraints = own.constraints.iter().map(|sum| format!("{} >= 0", Named(self, sum)));
            writeln!(formatter, "{{[{}]: {}}}", own.name, constraints.collect::<Vec<_>>().join(" and "))?;
            if let Some(average) = self.statistics.get(id) {
                writeln!(formatter, "statistic {} = {}", own.name, Named(self, average))?;
            }
            write_lookups(self, formatter, place + 1)?;
        }
        for instruction in &self.instructions {
            writeln!(formatter, "{}", Named(self, instruction))?;
        }
        Ok(())
    }
}

/// Writes the lookups whose innermost loop is at `place - 1` of the order. At place 0 these are the
/// lookups that depend on no loop.
fn write_lookups(nest: &Nest, formatter: &mut fmt::Formatter<'_>, place: usize) -> fmt::Result {
    for Lookup { name, access, .. } in &nest.lookups {
        let loops = || access.subscripts.iter().flat_map(Affine::loops);
        let last = (0..nest.order.len()).rfind(|at| loops().any(|id| id == nest.order[*at]));
        if last.map_or(0, |last| last + 1) == place {
            writeln!(formatter, "lookup {name} = {}", Named(nest, access))?;
        }
    }
    Ok(())
}

impl fmt::Display for Named<'_, Affine> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named(nest, affine) = self;
        let mut first = true;
        for (variable, coefficient) in affine.terms() {
            let sign = if coefficient < 0 { "-" } else { "+" };
            match (first, coefficient < 0) {
                (true, false) => {}
                (true, true) => write!(formatter, "-")?,
                (false, _) => write!(formatter, " {sign} ")?,
            }
            first = false;
            if coefficient.abs() != 1 {
                write!(formatter, "{}*", coefficient.abs())?;
            }
            match variable {
                Var::Size(id) => write!(formatter, "{}", nest.sizes[id.0])?,
                Var::Loop(id) => write!(formatter, "{}", nest.loop_at(id).name)?,
                Var::Lookup(id) => write!(formatter, "{}", nest.lookup(id).name)?,
                Var::Floor(id) => write!(formatter, "floor{id}")?,
            }
        }
        match (first, affine.offset()) {
            (true, offset) => write!(formatter, "{offset}"),
            (false, 0) => Ok(()),
            (false, offset) if offset < 0 => write!(formatter, " - {}", -offset),
            (false, offset) => write!(formatter, " + {offset}"),
        }
    }
}

fn listed<T>(nest: &Nest, items: &[T]) -> String
where
    for<'a> Named<'a, T>: fmt::Display,
{
    items.iter().map(|item| Named(nest, item).to_string()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Named<'_, Access> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named(nest, access) = self;
        write!(formatter, "{}", nest.array(access.array).name)?;
        match access.subscripts.is_empty() {
            true => Ok(()),
            false => write!(formatter, "[{}]", listed(nest, &access.subscripts)),
        }
    }
}

impl fmt::Display for Named<'_, Array> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named(nest, array) = self;
        let keyword = match array.memory {
            Memory::Global => "array",
            Memory::Local => "local",
            Memory::Private => "temporary",
            Memory::Argument => "argument",
        };
        write!(formatter, "{keyword} {}", array.name)?;
        if !array.is_scalar() {
            write!(formatter, "[{}]", listed(nest, &array.shape))?;
        }
        write!(formatter, ": {}", array.element)?;
        let axes = array.shape.len();
        let joined = |numbers: Vec<String>| numbers.join(", ");
        if array.layout.order != Layout::row_major(axes).order {
            let order = array.layout.order.iter().map(ToString::to_string).collect();
            write!(formatter, " order {}", joined(order))?;
        }
        if array.layout.padding.iter().any(|padding| *padding != 0) {
            let padding = array.layout.padding.iter().map(ToString::to_string).collect();
            write!(formatter, " pad {}", joined(padding))?;
        }
        Ok(())
    }
}

impl fmt::Display for Named<'_, Instruction> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named(nest, instruction) = self;
        let loops = nest.nesting(&instruction.within);
        let names: Vec<&str> = loops.iter().map(|id| nest.loop_at(*id).name.as_str()).collect();
        let (target, value) = (Named(nest, &instruction.target), Named(nest, &instruction.value));
        let word = if instruction.is_atomic { "atomic " } else { "" };
        write!(formatter, "{word}{target} = {value} @ {}", names.join(", "))
    }
}

/// Returns the binding strength of the outermost operation of an expression. A larger number binds
/// more tightly.
fn tightness(expr: &Expr) -> u8 {
    match expr {
        Expr::Index(affine) if affine.terms().count() + usize::from(affine.offset() != 0) > 1 => 1,
        Expr::Index(affine) => match affine.terms().next() {
            None if affine.offset() >= 0 => 5,
            Some((_, 1)) => 5,
            // `-n` and `-3` begin with a sign. `2*n` is a product.
            None | Some((_, -1)) => 3,
            Some(_) => 2,
        },
        Expr::Binary(Operator::Add | Operator::Sub, ..) => 1,
        Expr::Binary(Operator::Mul | Operator::Div, ..) => 2,
        Expr::Neg(_) => 3,
        Expr::Number(number) if number.is_sign_negative() => 3,
        Expr::Binary(Operator::Pow, ..) => 4,
        Expr::Number(_) | Expr::Load(..) | Expr::Call(..) => 5,
    }
}

impl fmt::Display for Named<'_, Expr> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named(nest, expr) = self;
        let part = |expr: &Expr, least: u8| {
            let text = Named(nest, expr).to_string();
            if tightness(expr) < least { format!("({text})") } else { text }
        };
        match expr {
            Expr::Index(affine) => write!(formatter, "{}", Named(nest, affine)),
            Expr::Number(number) => write!(formatter, "{number:?}"),
            Expr::Load(access, _) => write!(formatter, "{}", Named(nest, access)),
            Expr::Neg(inner) => write!(formatter, "-{}", part(inner, 3)),
            Expr::Binary(operator, left, right) => {
                let (symbol, left_least, right_least) = match operator {
                    Operator::Add => (" + ", 1, 2),
                    Operator::Sub => (" - ", 1, 2),
                    Operator::Mul => ("*", 2, 3),
                    Operator::Div => (" / ", 2, 3),
                    Operator::Pow => ("**", 5, 3),
                };
                write!(formatter, "{}{symbol}{}", part(left, left_least), part(right, right_least))
            }
            Expr::Call(Function::Select(comparison), arguments) => {
                let text = |at: usize| arguments.get(at).map_or_else(String::new, |own| Named(nest, own).to_string());
                let symbol = comparison.symbol();
                write!(formatter, "select({} {symbol} {}, {}, {})", text(0), text(1), text(2), text(3))
            }
            Expr::Call(function, arguments) => write!(formatter, "{}({})", function.name(), listed(nest, arguments)),
        }
    }
}
