//! The source of a kernel with the macros of one configuration in front of it, for builds that take
//! a file and no options.

use crate::Problem;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use tunesmith_backend::compiling::line_directive;
use tunesmith_core::Refusal;
use tunesmith_kernel::{Kernel, Scope};
use tunesmith_space::{Value, lookup};

/// The source of a kernel in one configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunedSource {
    /// The text. It compiles without macros from outside, but for sizes that are left open.
    pub text: String,
    /// The suffix of its file, without a dot.
    pub suffix: String,
    /// Further options and files that its compilation needs.
    pub notes: Vec<String>,
}

impl Problem {
    /// Returns the source of the kernel that `config` runs, with parameters and sizes as macros in
    /// front of it. A build may define the sizes otherwise, and has to define those of `open`. The
    /// first line says `about`.
    ///
    /// # Errors
    /// The problem has no source, or the configuration needs several. Or a value is no macro.
    pub fn tuned_source(
        &self,
        config: &[(String, Value)],
        open: &[String],
        about: &str,
    ) -> Result<TunedSource, Refusal> {
        let scope = Scope::new(self.spec.sizes().iter().chain(config).cloned());
        let kernel = self.only_kernel(&scope)?;
        let about = format!("/* {} */\n", about.replace("*/", "* /").replace(['\n', '\r'], " "));
        let (code, suffix) = match &kernel.generator {
            Some(generator) => {
                if let Some(size) = open.first() {
                    let text =
                        format!("the code of a loop nest is made for one input, but the runs differ in `{size}`");
                    return Err(Refusal::new(text, Some("export the run of one input".to_string())));
                }
                let made = generator.generate(&scope).map_err(|reason| Refusal::new(reason, None))?;
                (made.text, generated_suffix(kernel))
            }
            None => {
                let macros = self.macros(kernel, &scope, (config, open))?;
                let suffix = kernel.file.extension().unwrap_or_default().to_string_lossy().into_owned();
                (format!("{macros}{}{}", line(&kernel.file), code(kernel)?), suffix)
            }
        };
        Ok(TunedSource { notes: notes(kernel, &scope, &code), text: about + &code, suffix })
    }

    /// Returns the one kernel of the configuration in `scope`, or one of several that share a file.
    fn only_kernel(&self, scope: &Scope) -> Result<&Kernel, Refusal> {
        if self.spec.command().is_some() {
            let remedy = "export `--as flags` or `--as env`, which its build can read";
            return Err(Refusal::new("the problem tunes a command, which has no source", Some(remedy.to_string())));
        }
        let mut kernels = self.spec.subject().kernels().filter(|kernel| kernel.is_part_of(scope));
        let first = kernels.next().ok_or_else(|| {
            let remedy = "export `--as flags` or `--as defines`, which need none";
            Refusal::new("the problem has no kernel, and thus no source", Some(remedy.to_string()))
        })?;
        match kernels.find(|other| other.file != first.file || other.generator.is_some()) {
            None => Ok(first),
            Some(other) => {
                let text = format!("`{}` and `{}` have sources of their own", first.name, other.name);
                let remedy = "export `--as defines`, and include that header in each of them";
                Err(Refusal::new(text, Some(remedy.to_string())))
            }
        }
    }

    /// Returns the macros of a kernel with a source file.
    fn macros(
        &self,
        kernel: &Kernel,
        scope: &Scope,
        (config, open): (&[(String, Value)], &[String]),
    ) -> Result<String, Refusal> {
        let own = |name: &str| kernel.reading.own_names.iter().any(|own| own == name);
        let mut text = String::from("#define TUNED_BY_TUNESMITH 1\n");
        for (name, value) in config {
            let value = value.define();
            if value.contains(['\n', '\r']) {
                let remedy = Some("write the value in one line".to_string());
                return Err(Refusal::new(format!("the value of `{name}` has several lines"), remedy));
            }
            let _ = writeln!(text, "#define {name} {value}");
        }
        for (name, value) in self.spec.sizes().iter().filter(|(name, _)| !own(name) && lookup(config, name).is_none()) {
            let _ = match open.contains(name) {
                true => writeln!(text, "#ifndef {name}\n#error \"define {name}, a size of the input\"\n#endif"),
                false => writeln!(text, "#ifndef {name}\n#define {name} {}\n#endif", value.define()),
            };
        }
        if kernel.function.template().names().next().is_some() {
            let _ = writeln!(text, "#define TUNESMITH_FUNCTION {}", kernel.function.of(scope));
        }
        Ok(text)
    }
}

/// Returns the suffix of generated code.
fn generated_suffix(kernel: &Kernel) -> String {
    let suffix = match kernel.language {
        tunesmith_kernel::Language::Cpp => "cpp",
        tunesmith_kernel::Language::OpenCl => "cl",
        tunesmith_kernel::Language::Cuda => "cu",
        tunesmith_kernel::Language::Hip => "hip",
        _ => "c",
    };
    suffix.to_string()
}

/// Returns the directive with which messages name `file` and count its lines.
fn line(file: &Path) -> String {
    line_directive(&file.file_name().unwrap_or_default().to_string_lossy())
}

/// Returns the code of the kernel's file: blanks take the place of what is none.
fn code(kernel: &Kernel) -> Result<String, Refusal> {
    let text = tunesmith_files::read_text(&kernel.file, tunesmith_files::TEXT).map_err(|error| {
        let remedy = Some("name the problem with --problem FILE".to_string());
        Refusal::new(format!("`{}` cannot be read: {error}", kernel.file.display()), remedy)
    })?;
    let is_code = |at: usize| !kernel.reading.not_code.iter().any(|part: &Range<usize>| part.contains(&at));
    let blanked = text.char_indices().map(|(at, letter)| if is_code(at) || letter == '\n' { letter } else { ' ' });
    Ok(blanked.collect())
}

/// Returns what else the compilation of `code` needs.
fn notes(kernel: &Kernel, scope: &Scope, code: &str) -> Vec<String> {
    let quoted = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
    };
    let mut notes = Vec::new();
    let options: Vec<String> = kernel.expanded_options(scope).collect();
    if !options.is_empty() {
        notes.push(format!("it was tuned with the options {}", options.join(" ")));
    }
    if !kernel.include.is_empty() {
        notes.push(format!("it includes files of {}", quoted(&kernel.include)));
    }
    if code.contains("#include \"") && kernel.generator.is_none() {
        let folder = kernel.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        notes.push(format!("files that it includes by relative names are in `{}`", folder.display()));
    }
    if !kernel.sources.is_empty() {
        notes.push(format!("it is compiled together with {}, which need the same macros", quoted(&kernel.sources)));
    }
    if kernel.function.template().names().next().is_some() {
        notes.push(format!("call the function as TUNESMITH_FUNCTION, which is `{}`", kernel.function.of(scope)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str, kernel: &str) -> (tempfile::TempDir, Problem) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.c"), kernel).unwrap();
        let problem = Problem::parse(text, folder.path()).unwrap();
        (folder, problem)
    }

    const PROBLEM: &str = "[problem]\nsizes = { W = 64, H = 8 }\n[kernel]\nfile = \"k.c\"\nfunction = \"f\"\n\
        options = [\"-O{LEVEL}\"]\n[parameters]\nLEVEL = [2, 3]\nFAST = [true, false]\n[[arguments]]\nname = \"x\"\n\
        type = \"f32\"\nshape = [\"W\"]\naccess = \"out\"\n";

    fn config() -> Vec<(String, Value)> {
        vec![("LEVEL".to_string(), Value::Int(3)), ("FAST".to_string(), Value::Bool(true))]
    }

    #[test]
    fn parameters_are_macros_and_sizes_are_those_of_the_run_unless_the_build_says_otherwise() {
        let (_folder, problem) = problem(PROBLEM, "void f(float *x) { x[0] = W + FAST; }\n");
        let source = problem.tuned_source(&config(), &["H".to_string()], "Written */ by").unwrap();
        let expected = "/* Written * / by */\n#define TUNED_BY_TUNESMITH 1\n#define LEVEL 3\n#define FAST 1\n\
            #ifndef W\n#define W 64\n#endif\n#ifndef H\n#error \"define H, a size of the input\"\n#endif\n\
            #line 1 \"k.c\"\nvoid f(float *x) { x[0] = W + FAST; }\n";
        assert_eq!((source.text.as_str(), source.suffix.as_str()), (expected, "c"));
        assert_eq!(source.notes, ["it was tuned with the options -O3"]);
    }

    #[test]
    fn a_command_and_kernels_of_several_files_are_refused_with_a_remedy() {
        let command = "[kernel]\ncommand = [\"true\"]\n[parameters]\nLEVEL = [2, 3]\n";
        let (_folder, command) = problem(command, "");
        let refused = command.tuned_source(&config(), &[], "").unwrap_err();
        assert!(refused.text.contains("tunes a command") && refused.remedy.unwrap().contains("--as flags"));
        let both = PROBLEM.replace("[kernel]", "[[kernel]]") + "[[kernel]]\nfile = \"other.c\"\nfunction = \"g\"\n";
        let (_folder, several) = problem(&both, "");
        let refused = several.tuned_source(&config(), &[], "").unwrap_err();
        assert!(refused.text.contains("sources of their own") && refused.remedy.unwrap().contains("--as defines"));
    }
}
