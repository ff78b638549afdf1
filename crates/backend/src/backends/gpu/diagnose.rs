//! Interprets the log of a compiler: either the user's code is wrong, or the kernel does not fit the problem
//! or the device.

use crate::backends::KernelSource;
use crate::backends::Mismatch;
use crate::backends::compiling::{Compiled, functions};
use crate::backends::gpu::signature::{COUNT, FILE, PARAMETER, passed};
use tunesmith_kernel::{Argument, ArgumentKind};

/// The interpretation of a log.
#[derive(Debug, PartialEq)]
pub(super) enum Finding {
    /// The code is wrong. The text is the log as users read it.
    Code(String),
    /// The kernel does not exist. The list holds the existing functions.
    NoFunction(Vec<String>),
    /// The kernel's parameters do not fit the problem.
    Signature(Mismatch),
}

/// The words of NVRTC and of clang about a name that does not exist.
const UNDEFINED: [&str; 5] =
    ["is undefined", "has no member", "undeclared identifier", "no member named", "no template named"];

/// Interprets the log of a compilation of `text`, which is `source` followed by the assertions.
pub(super) fn diagnose(log: &str, source: &KernelSource, text: &str) -> Finding {
    // The assertions are the last lines. An error before them is in the user's own code.
    // NVRTC writes a place as `file(line)`, clang as `file:line:column`.
    let is_ours = |line: &str| line.strip_prefix(FILE).is_some_and(|rest| rest.starts_with(['(', ':']));
    let Some(first) = log.lines().find(|line| line.contains("error")).filter(|line| is_ours(line)) else {
        return Finding::Code(log.to_owned());
    };
    if first.contains(COUNT) {
        return Finding::Signature(wrong_count(source, text, log));
    }
    let number = first.split_once(PARAMETER).and_then(|(_, rest)| rest.trim_end_matches('"').parse().ok());
    if let Some((number, argument)) = number.and_then(|number| Some((number, passed(&source.arguments).nth(number)?))) {
        return Finding::Signature(wrong_type(source, text, log, number, argument));
    }
    let base = base_name(source.kernel.function.as_str());
    let is_undefined = UNDEFINED.iter().any(|words| first.contains(words));
    let known = kernels(text);
    match is_undefined && !known.iter().any(|name| name == base) {
        true => Finding::NoFunction(known),
        false => Finding::Code(log.to_owned()),
    }
}

/// Interprets the compiler's log. A kernel that exceeds the device's resources is not an error in
/// the code.
pub(in crate::backends) fn failed(log: String) -> Compiled {
    let refusal = log.lines().find(|line| exceeds_the_device(line));
    refusal.map(|line| Compiled::Refused(line.trim().to_owned())).unwrap_or(Compiled::Failed(log))
}

/// Returns true if a line of a log, of ptxas or of clang, says that the device has too little
/// memory.
fn exceeds_the_device(line: &str) -> bool {
    const PTXAS: [&str; 2] = ["uses too much shared data", "uses too much constant"];
    PTXAS.iter().any(|words| line.contains(words)) || (line.contains("local memory") && line.contains("exceeds limit"))
}

/// Returns the name of a function without namespaces and template arguments.
fn base_name(function: &str) -> &str {
    let name = function.split('<').next().unwrap_or(function).trim();
    name.rsplit("::").next().unwrap_or(name)
}

/// Returns the names of the kernels that a text defines. A source that is OpenCL C as well marks
/// them as OpenCL does, and defines that word as a macro.
fn kernels(text: &str) -> Vec<String> {
    let user = text.split(&format!("#line 1 \"{FILE}\"")).next().unwrap_or(text);
    let marks = |head: &str| {
        let mut words = head.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| matches!(word, "__global__" | "kernel" | "__kernel"))
    };
    let is_kernel =
        |name: &str| user.match_indices(name).any(|(at, _)| marks(user[..at].rsplit([';', '}']).next().unwrap_or("")));
    functions(user).into_iter().map(|function| function.name).filter(|name| is_kernel(name)).collect()
}

/// Returns the kernel's parameters as written, if the kernel is found.
fn written(function: &str, text: &str) -> Option<Vec<String>> {
    let base = base_name(function);
    functions(text).into_iter().find(|known| known.name == base).map(|function| function.parameters)
}

fn wrong_count(source: &KernelSource, text: &str, log: &str) -> Mismatch {
    let function = source.kernel.function.as_str();
    let has = passed(&source.arguments).count();
    let parameters = written(function, text);
    let takes = parameters.as_ref().map_or_else(|| "another number of".to_owned(), |known| known.len().to_string());
    let surplus = parameters.as_ref().and_then(|known| passed(&source.arguments).nth(known.len()));
    let remedy = match (surplus, parameters.as_ref().and_then(|known| known.get(has))) {
        (Some(argument), _) => format!("remove `{}` from the problem, or add it to the kernel", argument.name),
        (None, Some(missing)) => format!("declare `{missing}` in [[arguments]]"),
        (None, None) => "declare the kernel's parameters in [[arguments]], in their order".to_owned(),
    };
    let unpassed = source.arguments.len() - has;
    let aside = match unpassed {
        0 => String::new(),
        _ => format!(" that are passed, and {unpassed} in shared or constant memory that are not"),
    };
    Mismatch {
        argument: surplus.map(|argument| argument.name.clone()),
        message: format!("the kernel `{function}` takes {takes} arguments, but the problem declares {has}{aside}"),
        remedy,
        log: log.to_owned(),
    }
}

fn wrong_type(source: &KernelSource, text: &str, log: &str, number: usize, argument: &Argument) -> Mismatch {
    let function = source.kernel.function.as_str();
    let Argument { name, element, kind, .. } = argument;
    let parameter = written(function, text).and_then(|known| known.get(number).cloned());
    let is = parameter.map_or_else(|| "something else".to_owned(), |parameter| format!("`{parameter}`"));
    let wanted = match kind {
        ArgumentKind::Scalar(_) => format!("a scalar of {element}"),
        ArgumentKind::Object(_) => argument.type_text(),
        _ if argument.is_image() => {
            "an image, which is a cudaTextureObject_t, or a cudaSurfaceObject_t if it is written".to_owned()
        }
        _ => format!("a buffer of {element}"),
    };
    Mismatch {
        argument: Some(name.clone()),
        message: format!("argument `{name}` of the kernel `{function}` is {is}, but the problem declares {wanted}"),
        remedy: "see `type`, `shape` and `value` of the argument, or change the kernel".to_owned(),
        log: log.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_shared_memory_is_a_refusal() {
        let refused = [
            "ptxas error   : Entry function 'f' uses too much shared data (0x13880 bytes, 0xc000 max)",
            "error: <unknown>:0:0: local memory (80000) exceeds limit (65536) in function 'f'",
        ];
        for line in refused {
            assert_eq!(failed(format!("\n{line}\n")), Compiled::Refused(line.to_owned()));
        }
        assert_eq!(failed("k.cu(1): error: no".into()), Compiled::Failed("k.cu(1): error: no".into()));
    }
}
