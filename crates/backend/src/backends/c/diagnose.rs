//! Interprets a compiler's messages. Either the user's code is wrong, or the function does not fit
//! the problem.
//!
//! The messages are those of GCC and Clang in the C locale. An unknown message counts as an error
//! in the code and is shown unchanged.

use crate::backends::Mismatch;
use crate::backends::c::shim::{CALL_LINE, MARK, argument_on_line};
use crate::backends::compiling::{FunctionDefinition, functions, pointee};
use std::path::Path;
use tunesmith_kernel::{Argument, ArgumentKind};
use tunesmith_space::closest;

/// The paths of a compilation, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompiledCall<'a> {
    /// The user's file as the user names it.
    pub(super) file: &'a Path,
    /// The user's file as passed to the compiler.
    pub(super) absolute: &'a Path,
    /// The shim that includes the user's file.
    pub(super) shim: &'a Path,
    pub(super) function: &'a str,
    pub(super) arguments: &'a [Argument],
}

/// The reason why a compilation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Diagnosis {
    /// An error in the user's code: the first error, then the log.
    Code(String),
    /// A mismatch between the function and the problem's call.
    Signature(Mismatch),
}

/// One message of a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Diagnostic<'a> {
    file: &'a str,
    line: usize,
    is_error: bool,
    is_note: bool,
    text: &'a str,
}

impl<'a> Diagnostic<'a> {
    /// Parses `FILE:LINE:COLUMN: LEVEL: TEXT`. Parts of the place may be missing.
    fn read(line: &'a str) -> Option<Self> {
        let levels = [(": fatal error: ", true), (": error: ", true), (": note: ", false), (": warning: ", false)];
        let found = levels.into_iter().filter_map(|(level, is_error)| Some((line.find(level)?, level, is_error)));
        let (at, level, is_error) = found.min_by_key(|(at, ..)| *at)?;
        let (file, line_number) = split_place(&line[..at]);
        let is_note = level.contains("note");
        Some(Self { file, line: line_number, is_error, is_note, text: line[at + level.len()..].trim() })
    }

    fn is_in_call(&self) -> bool {
        self.file == MARK
    }
}

/// Splits `FILE[:LINE[:COLUMN]]`.
fn split_place(place: &str) -> (&str, usize) {
    let mut rest = place;
    let mut number = 0;
    while let Some((before, digits)) = rest.rsplit_once(':') {
        let Ok(parsed) = digits.parse() else { break };
        (rest, number) = (before, parsed);
    }
    (rest, number)
}

/// Finds the reason why the compilation of `call` failed with `log`. `source` is the text of the
/// user's file.
pub(super) fn judge(log: &str, source: &str, call: CompiledCall<'_>) -> Diagnosis {
    let diagnostics: Vec<Diagnostic<'_>> = log.lines().filter_map(Diagnostic::read).collect();
    let errors: Vec<&Diagnostic<'_>> = diagnostics.iter().filter(|diagnostic| diagnostic.is_error).collect();
    let clean = cleaned(log, call);
    // An error in the code may make the call wrong too. The reverse does not happen.
    let first = errors.first().filter(|_| errors.iter().all(|error| error.is_in_call()));
    let mismatch = first.and_then(|first| mismatch(first, &diagnostics, source, call, &clean));
    mismatch.map_or_else(|| Diagnosis::Code(headline_and_log(&clean)), Diagnosis::Signature)
}

fn mismatch(
    first: &Diagnostic<'_>,
    all: &[Diagnostic<'_>],
    source: &str,
    call: CompiledCall<'_>,
    log: &str,
) -> Option<Mismatch> {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| first.text.contains(phrase));
    let argument = argument_on_line(first.line, call.arguments.len());
    if first.text.contains("_Float16") && !says(&["convert", "incompatible", "conversion"]) {
        return argument.map(|argument| no_half(argument, call, log));
    }
    let wrong_count = ["too few arguments", "too many arguments", "no matching function for call"];
    if let Some((index, note)) = all.iter().find_map(clangs_candidate).filter(|_| says(&wrong_count)) {
        return (index < call.arguments.len()).then(|| wrong_argument(index, note, all, call, log));
    }
    if says(&wrong_count) {
        return wrong_call(first, source, call, log);
    }
    let missing = ["implicit declaration", "not declared", "undeclared", "has not been declared", "is not a member"];
    if first.line == CALL_LINE && says(&missing) {
        return Some(no_function(source, call, log));
    }
    let wrong_type = [
        "incompatible",
        "cannot convert",
        "could not convert",
        "invalid conversion",
        "conversion",
        "differ in signedness",
        "makes integer from pointer",
        "makes pointer from integer",
        "cannot bind",
        "cannot initialize",
    ];
    argument.filter(|_| says(&wrong_type)).map(|argument| wrong_argument(argument, first, all, call, log))
}

/// Finds a pointer argument of a compilation that succeeded with `log` whose elements are not those
/// that the function takes.
///
/// In C, the call passes pointers to the problem's types. A parameter such as `double (*A)[64]` or
/// `float4 *` is of another type, but its elements are the same. The compiler therefore only warns,
/// and says which type the parameter has.
pub(super) fn wrong_elements(log: &str, call: CompiledCall<'_>) -> Option<Mismatch> {
    let diagnostics: Vec<Diagnostic<'_>> = log.lines().filter_map(Diagnostic::read).collect();
    let wrong = diagnostics.iter().find_map(|warning| {
        let is_pointer = warning.is_in_call() && warning.text.contains("incompatible pointer");
        let index = argument_on_line(warning.line, call.arguments.len()).filter(|_| is_pointer)?;
        let elements = taken(warning, &diagnostics).and_then(|taken| pointee(full_type(taken)));
        let fits = elements.is_some_and(|elements| elements.holds(call.arguments[index].element));
        (!fits).then_some((index, warning))
    });
    wrong.map(|(index, warning)| wrong_argument(index, warning, &diagnostics, call, &cleaned(log, call)))
}

/// Returns the meaning of a type, given the message from the type's name on: `real *' {aka 'double
/// *'}` is a `double *`.
fn full_type(text: &str) -> &str {
    let (name, after) = text.split_once('\'').unwrap_or((text, ""));
    let meaning = ["{aka '", "(aka '"].iter().find_map(|aka| after.trim_start().strip_prefix(aka));
    meaning.and_then(|meaning| meaning.split('\'').next()).unwrap_or(name)
}

fn wrong_argument(
    index: usize,
    first: &Diagnostic<'_>,
    all: &[Diagnostic<'_>],
    call: CompiledCall<'_>,
    log: &str,
) -> Mismatch {
    let argument = &call.arguments[index];
    let declared = match argument.kind {
        ArgumentKind::Buffer { .. } | ArgumentKind::Local { .. } => format!("{}*", argument.element),
        ArgumentKind::Scalar(_) | ArgumentKind::Object(_) => argument.type_text(),
    };
    let name = |taken: &'_ str| spaced(taken.split('\'').next().unwrap_or_default());
    let disagreement = match taken(first, all).map(name) {
        Some(taken) => format!("the function takes {taken}"),
        None => format!("the compiler says: {}", first.text),
    };
    let (number, name) = (index + 1, &argument.name);
    let remedy = match argument.kind {
        ArgumentKind::Object(_) => {
            format!(
                "give `{name}` as many bytes as its type in the function has, with padding; a pointer takes a buffer"
            )
        }
        _ => format!("change the type of `{name}` in the problem or the parameter of `{}`", call.function),
    };
    Mismatch {
        argument: Some(name.clone()),
        message: format!("argument {number}, `{name}`: the problem says {declared}, {disagreement}"),
        remedy,
        log: log.to_owned(),
    }
}

/// Returns the argument, counted from 0, that Clang's note about a function names as wrong: `no known
/// conversion from 'T' to 'U' for 2nd argument`.
fn clangs_candidate<'d, 'a>(note: &'d Diagnostic<'a>) -> Option<(usize, &'d Diagnostic<'a>)> {
    let place = note.text.split_once("no known conversion")?.1.strip_suffix(" argument")?.rsplit(' ').next()?;
    let number: usize = place.trim_end_matches(char::is_alphabetic).parse().ok()?;
    Some((number.checked_sub(1)?, note))
}

/// Returns the message from the name of the parameter's type on. The name ends with a quote.
fn taken<'a>(first: &Diagnostic<'a>, all: &[Diagnostic<'a>]) -> Option<&'a str> {
    let after = all.iter().skip_while(|diagnostic| *diagnostic != first).skip(1);
    let note = after.take_while(|next| next.is_note).find_map(|note| taken_by_note(note.text));
    note.or_else(|| taken_by_error(first.text))
}

/// Finds the parameter's type in `expected 'T' but argument is of type 'U'`.
fn taken_by_note(text: &str) -> Option<&str> {
    text.strip_prefix("expected '")
}

/// Finds the parameter's type in the error itself: the type that the argument is converted *to*.
fn taken_by_error(text: &str) -> Option<&str> {
    ["to parameter of type ", "conversion to ", " to "].into_iter().find_map(|phrase| {
        let at = text.find(phrase)?;
        text[at + phrase.len()..].strip_prefix('\'')
    })
}

/// Formats `double*` as `double *`, as C programmers do.
fn spaced(taken: &str) -> String {
    let stars = taken.trim_end_matches('*');
    if stars.len() == taken.len() || stars.ends_with(' ') || stars.ends_with(')') {
        taken.to_owned()
    } else {
        format!("{stars} {}", &taken[stars.len()..])
    }
}

fn definition(source: &str, call: CompiledCall<'_>) -> Option<FunctionDefinition> {
    let plain = call.function.rsplit("::").next().unwrap_or(call.function);
    let plain = plain.split('<').next().unwrap_or(plain).trim();
    functions(source).into_iter().find(|function| function.name == plain)
}

fn wrong_call(first: &Diagnostic<'_>, source: &str, call: CompiledCall<'_>, log: &str) -> Option<Mismatch> {
    let declared = call.arguments.len();
    let definition = definition(source, call);
    // If the numbers of arguments and parameters agree, the mismatch is of another kind. Only the
    // compiler can explain it.
    let takes = match definition {
        Some(function) if function.parameters.len() != declared => {
            format!("`{}` takes {}: ({})", call.function, function.parameters.len(), function.parameters.join(", "))
        }
        _ => format!("the compiler says: {}", first.text),
    };
    let names: Vec<&str> = call.arguments.iter().map(|argument| argument.name.as_str()).collect();
    Some(Mismatch {
        argument: None,
        message: format!("the problem has {declared} arguments ({}), {takes}", names.join(", ")),
        remedy: "list [[arguments]] as the function takes them, in the same order".to_owned(),
        log: log.to_owned(),
    })
}

fn no_function(source: &str, call: CompiledCall<'_>, log: &str) -> Mismatch {
    let defined = functions(source);
    let names = || defined.iter().map(|function| function.name.as_str());
    let remedy = match closest(call.function, names()) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None if defined.is_empty() => "it defines no function".to_owned(),
        None => format!("it defines {}", names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    let message = format!("{} defines no function `{}`", call.file.display(), call.function);
    Mismatch { argument: None, message, remedy, log: log.to_owned() }
}

fn no_half(index: usize, call: CompiledCall<'_>, log: &str) -> Mismatch {
    let name = &call.arguments[index].name;
    Mismatch {
        argument: Some(name.clone()),
        message: format!("argument {}, `{name}`: this compiler has no 16-bit float in this language", index + 1),
        remedy: "use a newer compiler (GCC 13 for C++, 12 for C) or another type".to_owned(),
        log: log.to_owned(),
    }
}

/// Returns the log without the parts that users have not written: the shim's name, and lines that
/// speak only of the shim.
fn cleaned(log: &str, call: CompiledCall<'_>) -> String {
    let shim = call.shim.display().to_string();
    let absolute = call.absolute.display().to_string();
    let file = call.file.display().to_string();
    let noise = [
        format!("In file included from {shim}"),
        format!("{MARK}: In function"),
        "cc1: some warnings being treated".to_owned(),
        "cc1plus: some warnings being treated".to_owned(),
        "compilation terminated.".to_owned(),
    ];
    let lines = log.lines().filter(|line| !noise.iter().any(|noise| line.starts_with(noise)));
    let lines =
        lines.map(|line| line.replace(&absolute, &file).replace(&shim, &file).replace(MARK, "the kernel's call"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first error, followed by the log from there on, cut to a length that suits a
/// journal.
fn headline_and_log(log: &str) -> String {
    const LINES: usize = 30;
    let is_error =
        |line: &&str| line.contains("error: ") || line.contains("undefined reference") || line.contains("cannot find");
    let headline = log.lines().find(is_error).or_else(|| log.lines().find(|line| !line.trim().is_empty()));
    let headline = headline.unwrap_or("the compiler failed without a message").trim();
    let rest: Vec<&str> = log.lines().skip_while(|line| line.trim() != headline).skip(1).collect();
    let cut = if rest.len() > LINES { "\n..." } else { "" };
    let rest = rest[..rest.len().min(LINES)].join("\n");
    format!("{headline}\n{rest}{cut}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_kernel::{Access, ElementType, Fill, Memory};
    use tunesmith_space::Expr;

    const SOURCE: &str = "void gemm(size_t n, const float *a, float x, double *c) { }";

    fn arguments() -> Vec<Argument> {
        let buffer = || ArgumentKind::Buffer {
            shape: vec![1].into(),
            fill: Fill::Zeros,
            access: Access::In,
            memory: Memory::Global,
        };
        let scalar = || ArgumentKind::Scalar(Expr::parse("1").unwrap());
        let argument = |name: &str, element, kind| Argument::new(name, ElementType::parse(element).unwrap(), kind);
        vec![
            argument("n", "i32", scalar()),
            argument("a", "f32", buffer()),
            argument("x", "f64", scalar()),
            argument("c", "f32", buffer()),
        ]
    }

    fn verdict(log: &str, function: &str) -> Diagnosis {
        let arguments = arguments();
        let call = CompiledCall {
            file: Path::new("k.c"),
            absolute: Path::new("/home/me/k.c"),
            shim: Path::new("/tmp/t/shim.c"),
            function,
            arguments: &arguments,
        };
        judge(log, SOURCE, call)
    }

    fn message(log: &str, function: &str) -> String {
        match verdict(log, function) {
            Diagnosis::Signature(mismatch) => format!("{}; {}", mismatch.message, mismatch.remedy),
            Diagnosis::Code(text) => panic!("taken for an error in the code: {text}"),
        }
    }

    #[test]
    fn a_wrong_pointer_names_the_argument_and_both_types() {
        let gcc = "tunesmith-call: In function 'tunesmith_call':\n\
            tunesmith-call:7:9: error: passing argument 4 of 'gemm' from incompatible pointer type [-Werror=incompatible-pointer-types]\n\
            In file included from /tmp/t/shim.c:1:\n\
            /home/me/k.c:2:63: note: expected 'double *' but argument is of type 'float *'\n";
        let gxx = "tunesmith-call:7:9: error: cannot convert 'float*' to 'double*'\n\
            /home/me/k.c:2:65: note:   initializing argument 4 of 'void gemm(size_t, const float*, float, double*)'\n";
        let clang = "tunesmith-call:7:9: error: incompatible pointer types passing 'float *' to parameter of type 'double *' [-Werror,-Wincompatible-pointer-types]\n";
        let clangxx = "tunesmith-call:3:5: error: no matching function for call to 'gemm'\n\
            /home/me/k.c:1:6: note: candidate function not viable: no known conversion from \
            'tunesmith_memory<float>' to 'double *' for 4th argument\n";
        for log in [gcc, gxx, clang, clangxx] {
            let message = message(log, "gemm");
            let wanted = "argument 4, `c`: the problem says f32*, the function takes double *; change";
            assert!(message.starts_with(wanted), "{message}");
        }
    }

    #[test]
    fn warnings_about_pointers_count_where_the_elements_differ() {
        let arguments = arguments();
        let path = Path::new("k.c");
        let call = CompiledCall { file: path, absolute: path, shim: path, function: "gemm", arguments: &arguments };
        let message = |log: &str| wrong_elements(log, call).map(|mismatch| mismatch.message);
        let gcc = |taken: &str| {
            format!(
                "tunesmith-call:7:9: warning: passing argument 4 of 'gemm' from incompatible pointer type [-Wx]\n\
                 k.c:2:63: note: expected {taken} but argument is of type 'float *'\n"
            )
        };
        let clang = |taken: &str| {
            format!(
                "tunesmith-call:7:9: warning: incompatible pointer types passing 'float *' to parameter of type {taken} [-Wx]\n"
            )
        };
        for fits in ["'float (*)[64]'", "'v4 *' {aka '__vector(4) float *'}", "'struct point *'"] {
            assert_eq!(message(&gcc(fits)), None);
        }
        assert_eq!(message(&clang("'row *' (aka 'const float (*)[64]')")), None);
        let wrong = "argument 4, `c`: the problem says f32*, the function takes real *";
        assert_eq!(message(&gcc("'real *' {aka 'double *'}")).as_deref(), Some(wrong));
        assert_eq!(message(&clang("'real *' (aka 'double *')")).as_deref(), Some(wrong));
        let in_the_code = gcc("'double *'").replace("tunesmith-call", "k.c");
        assert_eq!(message(&in_the_code), None, "the user's own calls are no matter of the problem");
    }

    #[test]
    fn a_lossy_scalar_names_the_argument_and_both_types() {
        let narrowing = "tunesmith-call:6:9: error: conversion from 'double' to 'float' may change value [-Werror=float-conversion]\n";
        let message = message(narrowing, "gemm");
        assert!(message.starts_with("argument 3, `x`: the problem says f64, the function takes float;"), "{message}");
    }

    #[test]
    fn an_aka_does_not_confuse_the_type() {
        let log = "tunesmith-call:4:9: error: conversion to 'size_t' {aka 'long unsigned int'} from 'int' may change the sign of the result\n";
        assert!(message(log, "gemm").contains("the function takes size_t;"));
    }

    #[test]
    fn a_missing_function_suggests_the_similar_one() {
        let gcc = "tunesmith-call:3:5: error: implicit declaration of function 'gem'; did you mean 'gemm'?\n";
        let gxx = "tunesmith-call:3:5: error: 'gem' was not declared in this scope; did you mean 'gemm'?\n";
        for log in [gcc, gxx] {
            assert_eq!(message(log, "gem"), "k.c defines no function `gem`; did you mean `gemm`?");
            assert_eq!(message(log, "zzz"), "k.c defines no function `zzz`; it defines `gemm`");
        }
    }

    #[test]
    fn wrong_counts_show_both() {
        let source = "void gemm(int n) {}";
        let arguments = arguments();
        let path = Path::new("k.c");
        let call = CompiledCall { file: path, absolute: path, shim: path, function: "gemm", arguments: &arguments };
        let log = "tunesmith-call:3:5: error: too many arguments to function 'gemm'\n";
        let Diagnosis::Signature(mismatch) = judge(log, source, call) else { panic!("taken for an error in the code") };
        assert_eq!(mismatch.message, "the problem has 4 arguments (n, a, x, c), `gemm` takes 1: (int n)");
    }

    #[test]
    fn an_error_in_the_code_goes_before_the_errors_it_causes() {
        let log = "In file included from /tmp/t/shim.c:1:\n\
            /home/me/k.c:3:5: error: unknown type name 'flaot'\n\
            tunesmith-call: In function 'tunesmith_call':\n\
            tunesmith-call:3:5: error: implicit declaration of function 'gemm'\n\
            cc1: some warnings being treated as errors\n";
        let wanted = "k.c:3:5: error: unknown type name 'flaot'\n\
            the kernel's call:3:5: error: implicit declaration of function 'gemm'";
        assert_eq!(verdict(log, "gemm"), Diagnosis::Code(wanted.into()));
    }

    #[test]
    fn a_linkers_complaint_is_the_headline() {
        let log = "/usr/bin/ld: /tmp/x.o: in function `gemm':\nk.c:(.text+0x1): undefined reference to `helper'\ncollect2: error: ld returned 1 exit status\n";
        let Diagnosis::Code(text) = verdict(log, "gemm") else { panic!("taken for the signature") };
        assert!(text.starts_with("k.c:(.text+0x1): undefined reference to `helper'\n"), "{text}");
    }

    #[test]
    fn an_unclosed_brace_is_no_matter_of_the_signature() {
        let log = "tunesmith-call:17:1: error: expected declaration or statement at end of input\n";
        assert!(matches!(verdict(log, "gemm"), Diagnosis::Code(_)));
    }
}
