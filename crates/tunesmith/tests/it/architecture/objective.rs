//! The places that ask whether an objective is time.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ExprMethodCall, Macro};

use crate::architecture::paths::{Written, paths};
use crate::architecture::permissions::Rule;
use crate::architecture::source::Source;

/// Only the modules of objectives ask, but for the files that are listed.
pub(crate) const RULE: Rule = Rule { verb: "asks", modules: &MODULES, allowed: &ALLOWED, done: asked };

/// The modules of objectives.
const MODULES: [&str; 5] = [
    "crates/core/src/objective.rs",
    "crates/core/src/objective_function.rs",
    "crates/core/src/recording/ranking.rs",
    "crates/core/src/target.rs",
    "crates/problem/src/metric",
];

/// The other files that may ask, and the reason of each.
const ALLOWED: [(&str, &str); 10] = [
    ("crates/core/src/lib.rs", "it exports the function of time"),
    ("crates/core/src/tuner/mod.rs", "a tuner that is told no objective minimises the time"),
    ("crates/export/src/format.rs", "wisdom holds times, and a guard measures them"),
    ("crates/python/src/tune.rs", "a function returns its time, unless an objective names the number"),
    ("crates/store/src/import/stated.rs", "tools give the time many names"),
    ("crates/study/src/comparison/baseline.rs", "an optimum in milliseconds is one of a time"),
    ("crates/tunesmith/src/export/turns.rs", "a guard measures times"),
    ("crates/tunesmith/src/prior.rs", "a device file estimates times"),
    ("crates/tunesmith/src/tune/learned.rs", "the condition `limit` compares times with the limit of a device file"),
    ("crates/tunesmith/src/tune/settings.rs", "a recording is read for the names of its numbers only if one is used"),
];

/// Returns the lines that ask, with the words by which they do.
fn asked(source: &Source) -> Vec<(usize, String)> {
    let mut calls = Calls(Vec::new());
    source.items.iter().for_each(|item| calls.visit_item(item));
    let written = paths(source).into_iter().filter(is_time);
    calls.0.into_iter().chain(written.map(|path| (path.line, path.segments.join("::")))).collect()
}

/// Returns true if a path names the time as an objective.
fn is_time(path: &Written) -> bool {
    let last: Vec<&str> = path.segments.iter().rev().take(2).map(String::as_str).collect();
    matches!(last[..], ["MedianTime", ..] | ["Time", "Source"] | ["default", "Target" | "Aim"])
}

/// The calls of `Objective::is_time`.
struct Calls(Vec<(usize, String)>);

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if call.method == "is_time" {
            self.0.push((call.method.span().start().line, "is_time".to_string()));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.0.extend(lines(call.tokens.clone()).into_iter().map(|line| (line, "is_time".to_string())));
    }
}

/// Returns the lines of the word `is_time` among `tokens`.
fn lines(tokens: TokenStream) -> Vec<usize> {
    let of_token = |token| match token {
        TokenTree::Group(group) => lines(group.stream()),
        TokenTree::Ident(ident) if ident == "is_time" => vec![ident.span().start().line],
        _ => Vec::new(),
    };
    tokens.into_iter().flat_map(of_token).collect()
}
