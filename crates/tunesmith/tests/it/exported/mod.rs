//! Compiles exported code, and asks it the same questions as the library.

#![allow(unreachable_pub)] // of test files
#![allow(clippy::disallowed_methods, reason = "the compilers that CC and RUSTC name are used, as everywhere")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use tunesmith::choose::read_wisdom;
use tunesmith::space::ValueKind;
use tunesmith::{Choice, Selector, choose::Source};

/// A parameter by its name in code.
pub struct Field {
    pub parameter: &'static str,
    pub name: &'static str,
    pub kind: ValueKind,
}

/// Questions to a portfolio.
pub struct Asked {
    /// The prefix in C, the module in Rust.
    pub prefix: &'static str,
    pub fields: Vec<Field>,
    /// The kernel and the device.
    pub of: (String, String),
    /// The sizes that the tree asks for.
    pub features: Vec<String>,
    /// The other sizes.
    pub constants: Vec<(&'static str, f64)>,
    /// One number for each of them.
    pub questions: Vec<Vec<f64>>,
}

/// Opens the portfolios of a file of wisdom without its entries, which exported code lacks.
pub fn portfolios(file: &Path) -> Selector {
    let mut chosen = read_wisdom(file).unwrap().wisdom;
    chosen.entries.clear();
    Selector::new(chosen)
}

impl Asked {
    /// Returns the choices of the library, a line for each question.
    pub fn answers(&self, selector: &Selector) -> Vec<String> {
        let (kernel, device) = &self.of;
        let answer = |question: &Vec<f64>| {
            let input: Vec<(&str, f64)> =
                self.features.iter().map(String::as_str).zip(question.iter().copied()).collect();
            let choice = selector.select(kernel, device, &input).unwrap();
            assert!(matches!(choice.source, Source::Predicted { .. } | Source::Robust { .. }), "{:?}", choice.source);
            let values: Vec<String> = self.fields.iter().map(|field| value(&choice, field)).collect();
            values.join(" ")
        };
        self.questions.iter().map(answer).collect()
    }

    /// Returns the questions as initialisers of both languages.
    fn table(&self, open: char, close: char) -> String {
        self.questions.iter().fold(String::new(), |mut text, question| {
            let numbers: Vec<String> = question.iter().map(|number| format!("{number:?}")).collect();
            let _ = writeln!(text, "{open}{}{close},", numbers.join(", "));
            text
        })
    }

    /// Returns the sizes of the question called `q` with their names, the last one first: their order
    /// does not matter. `begin` stands before a name.
    fn sizes(&self, begin: &str, between: &str) -> String {
        let member = |(at, name): (usize, &String)| {
            let name = if name == "for" { "for_" } else { name };
            format!("{begin}{name}{between}q[{at}]")
        };
        let constants = self.constants.iter().map(|(name, size)| format!("{begin}{name}{between}{size:?}"));
        self.features.iter().enumerate().rev().map(member).chain(constants).collect::<Vec<_>>().join(", ")
    }

    /// Returns the choices of `tuned.h` in `folder`.
    pub fn by_c(&self, folder: &Path) -> Vec<String> {
        let Self { prefix, questions, .. } = self;
        let (arity, count, table, arguments) =
            (self.features.len().max(1), questions.len(), self.table('{', '}'), self.sizes(".", " = "));
        let format = self.fields.iter().map(|field| c_format(field.kind)).collect::<Vec<_>>().join(" ");
        let values: String = self.fields.iter().map(|field| format!(", c->{}", field.name)).collect();
        let main = format!(
            "#include \"tuned.h\"\n#include <stdio.h>\nstatic const double questions[][{arity}] = {{\n{table}}};\n\
             int main(void) {{\nfor (int i = 0; i < {count}; i++) {{\nconst double *q = questions[i];\n\
             const struct {prefix}_config *c = &{prefix}_configs[{prefix}_choose((struct {prefix}_sizes){{{arguments}}})];\n\
             printf(\"{format}\\n\"{values});\n}}\nreturn 0;\n}}\n"
        );
        std::fs::write(folder.join("main.c"), &main).unwrap();
        let cc = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
        let strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", "-o"];
        let program = folder.join("main_c");
        run(Command::new(cc).args(strict).arg(&program).current_dir(folder));
        run(&mut Command::new(&program))
    }

    /// Returns the choices of `tuned.rs` in `folder`.
    pub fn by_rust(&self, folder: &Path) -> Vec<String> {
        let Self { prefix, questions, .. } = self;
        let (arity, count, table, arguments) =
            (self.features.len(), questions.len(), self.table('[', ']'), self.sizes("", ": "));
        let format = vec!["{}"; self.fields.len()].join(" ");
        let values: String = self.fields.iter().map(|field| format!(", {}", rust_value(field))).collect();
        let main = format!(
            "#![deny(warnings)]\nmod tuned;\nstatic QUESTIONS: [[f64; {arity}]; {count}] = [\n{table}];\nfn main() {{\n\
             for q in QUESTIONS {{\nlet c = &tuned::{prefix}::CONFIGS[tuned::{prefix}::choose(tuned::{prefix}::Sizes {{ {arguments} }})];\n\
             println!(\"{format}\"{values});\n}}\n}}\n"
        );
        std::fs::write(folder.join("main.rs"), &main).unwrap();
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
        let program = folder.join("main_rust");
        run(Command::new(rustc).args(["--edition", "2021", "main.rs", "-o"]).arg(&program).current_dir(folder));
        run(&mut Command::new(&program))
    }
}

fn value(choice: &Choice<'_>, field: &Field) -> String {
    let parameter = field.parameter;
    match field.kind {
        ValueKind::Int | ValueKind::Bool => choice.int(parameter).unwrap().to_string(),
        _ => choice.value(parameter).unwrap().to_string(),
    }
}

fn c_format(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Int => "%lld",
        ValueKind::Bool => "%d",
        ValueKind::Float => "%g",
        ValueKind::Str => "%s",
    }
}

fn rust_value(field: &Field) -> String {
    let cast = if field.kind == ValueKind::Bool { " as i32" } else { "" };
    format!("c.{}{cast}", field.name)
}

/// Runs a command, which must succeed without a warning, and returns the lines that it prints.
fn run(command: &mut Command) -> Vec<String> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "no warnings");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}
