//! Functions for atomic updates.
//!
//! Where a language has no function for an operation, the update compares the bits of the cell with those
//! that it has read, and exchanges them if nothing changed them meanwhile.

use super::dialect::Dialect;
use super::names::Names;
use super::writer::Writer;
use crate::ir::{Instruction, Memory, Operation, Type};
use std::collections::BTreeSet;

/// An operation on cells of a type in a memory.
type Update = (Operation, Type, Memory);

impl Names<'_> {
    /// Returns the name of the function that does an atomic update.
    pub(super) fn update(&self, instruction: &Instruction, operation: Operation) -> String {
        let array = self.known.nest.array(instruction.target.array);
        self.update_name((operation, array.element, array.memory))
    }

    fn update_name(&self, (operation, kind, memory): Update) -> String {
        // Pointers of OpenCL C have an address space.
        let space = match (self.dialect, memory) {
            (Dialect::OpenCl, Memory::Local) => "_local",
            (Dialect::OpenCl, _) => "_global",
            _ => "",
        };
        format!("nest_atomic_{operation}_{kind}{space}")
    }
}

/// Writes a function for each kind of atomic update in the nest. `inline` begins a function.
pub(super) fn write(names: &Names, inline: &str, writer: &mut Writer) {
    let nest = names.known.nest;
    let update = |own: &Instruction| {
        let array = nest.array(own.target.array);
        own.update().map(|(operation, _)| (operation, array.element, array.memory))
    };
    let updates: BTreeSet<Update> = nest.instructions.iter().filter_map(update).collect();
    if names.dialect == Dialect::OpenCl {
        extensions(&updates, writer);
    }
    let mut written = BTreeSet::new();
    for own in updates {
        let (name, kind) = (names.update_name(own), names.dialect.name(own.1));
        if !written.insert(name.clone()) {
            continue;
        }
        let space = match (names.dialect, own.2) {
            (Dialect::OpenCl, Memory::Local) => "volatile __local ",
            (Dialect::OpenCl, _) => "volatile __global ",
            _ => "",
        };
        writer.open(&format!("{inline} void {name}({space}{kind} *cell, {kind} value)"));
        body(names.dialect, own, space).iter().for_each(|line| writer.line(line));
        writer.close();
    }
}

/// Writes the extensions of OpenCL for updates of 64 bits. A device without them says so.
fn extensions(updates: &BTreeSet<Update>, writer: &mut Writer) {
    let is_wide = |(_, kind, _): &Update| kind.bits() == 64;
    let is_extended = |own: &Update| is_wide(own) && own.1 == Type::I64 && own.0 != Operation::Add;
    for (name, is_needed) in [
        ("cl_khr_int64_base_atomics", updates.iter().any(is_wide)),
        ("cl_khr_int64_extended_atomics", updates.iter().any(is_extended)),
    ] {
        if is_needed {
            writer.line(&format!("#ifndef {name}"));
            writer
                .line(&format!("#error atomic updates of 64 bits need the extension {name}, which this device lacks"));
            writer.line("#endif");
            writer.line(&format!("#pragma OPENCL EXTENSION {name} : enable"));
        }
    }
}

/// Returns the lines of a function that updates `*cell` with `value`.
fn body(dialect: Dialect, (operation, kind, _): Update, space: &str) -> Vec<String> {
    let plain = |old: &str| match operation {
        Operation::Special(function) => dialect.call(function, kind, &[old.to_string(), "value".to_string()]),
        _ => format!("{old} + value"),
    };
    match dialect {
        Dialect::OpenCl if !kind.is_float() => {
            let prefix = if kind == Type::I64 { "atom" } else { "atomic" };
            vec![format!("{prefix}_{operation}(cell, value);")]
        }
        Dialect::OpenCl => {
            let (bits, float, exchange) = match kind {
                Type::F32 => ("int", "float", "atomic_cmpxchg"),
                _ => ("long", "double", "atom_cmpxchg"),
            };
            exchanges(
                [&format!("{space}{bits}"), bits, exchange],
                [&format!("as_{bits}"), &format!("as_{float}")],
                &plain,
            )
        }
        Dialect::Cuda if !kind.is_float() || operation == Operation::Add => vec![of_cuda(operation, kind)],
        Dialect::Cuda => match kind {
            Type::F32 => exchanges(["int", "int", "atomicCAS"], ["__float_as_int", "__int_as_float"], &plain),
            _ => {
                let word = "unsigned long long";
                exchanges([word, word, "atomicCAS"], ["__double_as_longlong", "__longlong_as_double"], &plain)
            }
        },
        Dialect::C => of_c(dialect.name(kind), &plain),
    }
}

/// Returns the lines that exchange the bits of a cell until nothing interferes. The texts name the type of
/// the cell in memory, that of its bits, and the function that exchanges them; then those that turn a number
/// into bits and back.
fn exchanges(
    [memory, bits, exchange]: [&str; 3],
    [encode, decode]: [&str; 2],
    plain: &dyn Fn(&str) -> String,
) -> Vec<String> {
    let next = plain(&format!("{decode}(old)"));
    vec![
        format!("{memory} *at = ({memory} *)cell;"),
        format!("{bits} old = *at, seen;"),
        format!("while ((seen = {exchange}(at, old, {encode}({next}))) != old) old = seen;"),
    ]
}

/// Returns the call of a function of CUDA and HIP.
fn of_cuda(operation: Operation, kind: Type) -> String {
    match operation {
        Operation::Add if kind == Type::I64 => {
            "atomicAdd((unsigned long long *)cell, (unsigned long long)value);".to_string()
        }
        Operation::Add => "atomicAdd(cell, value);".to_string(),
        Operation::Special(crate::ir::Function::Min) => "atomicMin(cell, value);".to_string(),
        _ => "atomicMax(cell, value);".to_string(),
    }
}

/// Returns the lines for C. Without OpenMP one thread runs all work-items.
fn of_c(kind: &str, plain: &dyn Fn(&str) -> String) -> Vec<String> {
    let next = plain("old");
    let relaxed = "__ATOMIC_RELAXED";
    vec![
        "#ifdef _OPENMP".to_string(),
        format!("{kind} old, next;"),
        format!("__atomic_load(cell, &old, {relaxed});"),
        format!("do next = {next}; while (!__atomic_compare_exchange(cell, &old, &next, 0, {relaxed}, {relaxed}));"),
        "#else".to_string(),
        format!("const {kind} old = *cell;"),
        format!("*cell = {next};"),
        "#endif".to_string(),
    ]
}
