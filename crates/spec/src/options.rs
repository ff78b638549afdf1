//! Reads compiler options, and the folders that they name.

use std::path::{Path, PathBuf};
use tunesmith_kernel::{Template, TemplateError};

/// The text behind the name of a part whose language no version of this program compiles.
pub const NO_LANGUAGE: &str = " names no language that can be compiled";

/// The languages that can be compiled.
pub const LANGUAGES: &str = "languages are C (.c), C++ (.cpp, .cc, .cxx), OpenCL C (.cl, .opencl), CUDA C++ (.cu), \
     HIP C++ (.hip) and loop nests (.nest)";

/// The options that name a folder of included files.
const FOLDER: [&str; 2] = ["-I", "--include-path"];

/// The compiler options of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folders that `-I` names. Every backend has its own way to pass them.
    pub include: Vec<PathBuf>,
    /// The other options.
    pub templates: Vec<Template>,
}

impl Options {
    /// Adds the options in `texts`. A folder may stand behind its option or in the next text, and is
    /// relative to `folder`. Returns the faults of those that are wrong.
    pub fn add<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>, folder: &Path) -> Vec<String> {
        let fault = |text: &str, reason: &str| format!("option `{text}`: {reason}");
        let mut wrong = Vec::new();
        let mut texts = texts.into_iter();
        while let Some(text) = texts.next() {
            let Some(named) = named_folder(text) else {
                wrong.extend(self.add_template(text).err().map(|error| fault(text, &error.to_string())));
                continue;
            };
            let (name, more) = match named {
                "" => (texts.next().unwrap_or_default().trim(), None),
                // `-I include -DWIDE` in one text.
                named => named.split_once(" -").map_or((named, None), |(name, more)| (name.trim_end(), Some(more))),
            };
            if name.is_empty() {
                wrong.push(fault(text, "it names no folder"));
            } else if let Err(error) = self.add_folder(name, folder) {
                wrong.push(fault(text, &error.to_string()));
            }
            for option in more.into_iter().flat_map(|more| more.split(" -")) {
                wrong.extend(self.add([format!("-{option}").as_str()], folder));
            }
        }
        wrong
    }

    fn add_template(&mut self, text: &str) -> Result<(), TemplateError> {
        if !text.trim().is_empty() {
            self.templates.push(Template::parse(text)?);
        }
        Ok(())
    }

    /// Adds a folder. One that depends on a parameter stays an option.
    fn add_folder(&mut self, name: &str, folder: &Path) -> Result<(), TemplateError> {
        let template = Template::parse(name)?;
        if template.names().next().is_none() {
            // Doubled braces become single ones.
            self.include.push(folder.join(template.to_string().replace("{{", "{").replace("}}", "}")));
            return Ok(());
        }
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let folder = folder.display().to_string().replace('{', "{{").replace('}', "}}");
        let path = if name.starts_with('/') { name.to_string() } else { format!("{folder}/{name}") };
        self.templates.push(Template::parse(&format!("-I{path}"))?);
        Ok(())
    }
}

/// Returns the folder behind an option for folders. Empty if the next text names it.
fn named_folder(text: &str) -> Option<&str> {
    let text = text.trim();
    let rest = FOLDER.iter().find_map(|option| text.strip_prefix(option))?;
    // `--include-path` needs a blank or an equals sign; `-I` needs nothing.
    let is_separate = rest.is_empty() || text.starts_with("-I") || rest.starts_with(['=', ' ', '\t']);
    is_separate.then(|| rest.strip_prefix('=').unwrap_or(rest).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> (Vec<PathBuf>, Vec<String>, Vec<String>) {
        let mut options = Options::default();
        let wrong = options.add(texts.iter().copied(), Path::new("/p"));
        (options.include, options.templates.iter().map(Template::to_string).collect(), wrong)
    }

    #[test]
    fn a_folder_stands_behind_its_option_or_in_the_next_text_and_is_relative_to_the_problem() {
        for texts in [
            &["-I", "inc"][..],
            &["-Iinc"],
            &["-I inc"],
            &["-I=inc"],
            &["--include-path=inc"],
            &["--include-path", "inc"],
        ] {
            assert_eq!(read(texts), (vec!["/p/inc".into()], vec![], vec![]), "{texts:?}");
        }
        assert_eq!(read(&["-I/usr/inc"]).0, [PathBuf::from("/usr/inc")]);
        assert_eq!(read(&["-I{{a}}"]).0, [PathBuf::from("/p/{a}")]);
        assert_eq!(read(&["-O2", "-I", "a b", "-g"]), (vec!["/p/a b".into()], vec!["-O2".into(), "-g".into()], vec![]));
        assert_eq!(read(&["-I a -DX -I b"]), (vec!["/p/a".into(), "/p/b".into()], vec!["-DX".into()], vec![]));
    }

    #[test]
    fn a_folder_that_depends_on_a_parameter_stays_an_option() {
        assert_eq!(read(&["-I", "isa/{ISA}"]).1, ["-I/p/isa/{ISA}"]);
        assert_eq!(read(&["-I/isa/{ISA}"]).1, ["-I/isa/{ISA}"]);
    }

    #[test]
    fn empty_texts_are_left_out_and_wrong_ones_are_told() {
        assert_eq!(read(&["", " ", "-O3"]).1, ["-O3"]);
        assert_eq!(read(&["-O3", "-I"]).2, ["option `-I`: it names no folder"]);
        assert!(read(&["-D{A"]).2[0].contains("without its partner"));
        assert_eq!(
            read(&["--include-pathological", "-include", "a.h"]).1,
            ["--include-pathological", "-include", "a.h"]
        );
    }
}
