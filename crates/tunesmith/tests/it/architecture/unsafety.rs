//! The places of `unsafe`.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

use crate::architecture::house::House;

/// The folders, from the folder of the workspace, in which code may say `unsafe`.
const ALLOWED: [&str; 7] = [
    "crates/backend/src/backends/c",
    "crates/backend/src/backends/opencl",
    "crates/backend/src/backends/cuda",
    "crates/backend/src/backends/gpu",
    "crates/backend/src/backends/hip",
    "crates/power/src/libraries",
    // Callers in C give pointers.
    "crates/capi/src",
];

/// Returns the lines outside the allowed folders that say `unsafe`.
pub(crate) fn faults(house: &House) -> Vec<String> {
    let all = house.crates.iter().flat_map(|one| crate::architecture::files(&one.folder.join("src")));
    all.flat_map(|(path, text)| of_file(&house.short(&path), &text)).collect()
}

fn of_file(path: &str, text: &str) -> Vec<String> {
    if ALLOWED.iter().any(|folder| Path::new(path).starts_with(folder)) {
        return Vec::new();
    }
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
    lines(tokens).iter().map(|line| format!("{path}:{line} says `unsafe`")).collect()
}

/// Returns the lines of the word `unsafe` among `tokens`; comments and texts are not among them.
fn lines(tokens: TokenStream) -> Vec<usize> {
    let of_token = |token| match token {
        TokenTree::Group(group) => lines(group.stream()),
        TokenTree::Ident(ident) if ident == "unsafe" => vec![ident.span().start().line],
        _ => Vec::new(),
    };
    tokens.into_iter().flat_map(of_token).collect()
}
