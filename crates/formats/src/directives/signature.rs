//! Finds the kernels of a source and the names of their parameters. ATF's inputs have no names.

use super::names::Api;
use super::translate::{bracket, split};

/// A kernel as the source declares it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
}

/// A parameter of a kernel.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// True if the kernel cannot write through it.
    pub(super) is_const: bool,
    /// True if it points to constant memory.
    pub(super) is_constant_memory: bool,
}

/// Returns the kernels of a source, in its order.
pub(super) fn kernels(source: &str, api: Api) -> Vec<Declared> {
    let qualifiers: &[&str] = match api {
        Api::OpenCl => &["__kernel", "kernel"],
        Api::Cuda => &["__global__"],
    };
    let code = without_comments(source);
    let starts = words(&code).filter(|(_, word)| qualifiers.contains(word));
    starts.filter_map(|(at, word)| declared(&code[at + word.len()..])).collect()
}

/// Returns the function whose declaration `text` continues.
fn declared(text: &str) -> Option<Declared> {
    let mut skipped = 0;
    for (at, word) in words(text) {
        if at < skipped {
            continue;
        }
        if text[skipped..at].contains([';', '{', '}']) {
            return None;
        }
        let behind = text[at + word.len()..].trim_start();
        if !behind.starts_with('(') {
            continue;
        }
        let (inside, rest) = bracket(behind).ok()?;
        if matches!(word, "__attribute__" | "__attribute" | "__launch_bounds__") {
            skipped = text.len() - rest.len();
            continue;
        }
        let parameters: Option<Vec<Parameter>> =
            split(inside).ok()?.into_iter().filter(|one| !matches!(*one, "" | "void")).map(parameter).collect();
        return Some(Declared { name: word.to_string(), parameters: parameters? });
    }
    None
}

/// Reads a parameter such as `const __global float* restrict x`. Fails if it has no name.
fn parameter(text: &str) -> Option<Parameter> {
    let head = text.split('[').next().unwrap_or(text);
    let (start, name) = words(head).last()?;
    let before = head[..start].trim_end();
    if before.is_empty() || !head[start + name.len()..].trim().is_empty() {
        return None;
    }
    // A `const` behind the `*` concerns the pointer, not what it points to.
    let pointed = before.split('*').next().unwrap_or(before);
    let has = |wanted: &[&str]| words(pointed).any(|(_, word)| wanted.contains(&word));
    let is_constant_memory = has(&["__constant", "constant"]);
    Some(Parameter { name: name.to_string(), is_const: is_constant_memory || has(&["const"]), is_constant_memory })
}

/// Returns the identifiers of `text` with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(move |c: char| !is_word(c)).filter(|word| !word.is_empty());
    words.map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Returns `source` without its comments.
fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        code.push_str(&rest[..at]);
        code.push(' ');
        let comment = &rest[at..];
        rest = if comment.starts_with("//") {
            comment.find('\n').map_or("", |end| &comment[end..])
        } else {
            comment[2..].find("*/").map_or("", |end| &comment[end + 4..])
        };
    }
    code + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_names_and_parameters() {
        let source = "// kernel void no(int a) {}\n/* __kernel */ float helper(float kernel_size) { return 1; }\n\
                      __kernel __attribute__((reqd_work_group_size(LS, 1, 1)))\n\
                      void saxpy(const int N, float a, const __global float* restrict x, __global float *const y,\n\
                                 __constant float w[], __local float4* tile) { helper(1); }\n\
                      kernel void empty(void) {}\nkernel int broken;";
        let found = kernels(source, Api::OpenCl);
        assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["saxpy", "empty"]);
        let parameters: Vec<(&str, bool, bool)> =
            found[0].parameters.iter().map(|one| (one.name.as_str(), one.is_const, one.is_constant_memory)).collect();
        let wanted = [
            ("N", true, false),
            ("a", false, false),
            ("x", true, false),
            ("y", false, false),
            ("w", true, true),
            ("tile", false, false),
        ];
        assert_eq!(parameters, wanted);
        assert!(found[1].parameters.is_empty());
    }

    #[test]
    fn kernels_of_cuda_are_found_by_their_own_qualifier() {
        let source = "extern \"C\" __global__ void __launch_bounds__(LS) k(const float* x, float* y) {}";
        let found = kernels(source, Api::Cuda);
        assert_eq!((found[0].name.as_str(), found[0].parameters.len()), ("k", 2));
        assert!(kernels(source, Api::OpenCl).is_empty());
    }
}
