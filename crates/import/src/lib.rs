//! Loop nests from C: reads an affine loop nest in a C function and writes it in the text form of
//! `tunesmith-loopnest`, with transformations as tuning parameters.
//!
//! The parser is tree-sitter with its grammar of C. Only the command uses this crate, so that no
//! application embeds the parser.
//!
//! ```
//! let source = "void scale(int n, float *restrict out, const float *restrict a) {
//!     for (int i = 0; i < n; i++)
//!         out[i] = 2.0f * a[i];
//! }";
//! let imported = tunesmith_import::import(source, "scale", &Default::default())?;
//! assert!(imported.nest.contains("out[i] = 2.0*a[i]  @ i"));
//! assert_eq!(imported.sizes, ["n"]);
//! # Ok::<(), tunesmith_import::ImportError>(())
//! ```

mod access;
mod body;
mod conditions;
mod element;
mod expression;
mod finding;
mod finish;
mod function;
mod index;
mod loops;
mod problem;
mod source;
mod sum;
mod tuning;
mod value;

pub use finding::{Finding, ImportError};
pub use tuning::TuningParameter;

use body::Body;
use function::Parameter;
use source::Source;
use std::path::Path;

/// Options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// True if the caller states that no two arrays overlap, although they are not `restrict`.
    pub no_alias: bool,
}

/// A function of C as a loop nest.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The name of the function and of the nest.
    pub function: String,
    /// The text of the nest, with its transformations.
    pub nest: String,
    /// The names of the sizes, in the order of the function's parameters.
    pub sizes: Vec<String>,
    /// The parameters of the transformations.
    pub tuning: Vec<TuningParameter>,
    /// The reason why no loop runs in parallel, so that the nest runs as one work-item. `None` if
    /// one does.
    pub alone: Option<String>,
    parameters: Vec<Parameter>,
}

/// Reads a file in C.
///
/// # Errors
///
/// Fails if the file cannot be read or is not UTF-8.
pub fn read_source(path: &Path) -> std::io::Result<String> {
    tunesmith_files::read_text(path, tunesmith_files::TEXT)
}

/// Writes a file of an import, in one step: whoever finds it has the whole old file or the whole new one.
///
/// # Errors
///
/// Fails if the path is wrong or the disk refused.
pub fn write(path: &Path, text: &str) -> std::io::Result<()> {
    tunesmith_files::replace(path, text)
}

/// Imports a function from the text of a C file.
///
/// # Errors
///
/// Fails if the function is not there or is not an affine loop nest. The error lists everything
/// that cannot be read, with its line and column.
pub fn import(source: &str, function: &str, options: &ImportOptions) -> Result<Imported, ImportError> {
    let source = Source::parse(source)?;
    let found = source.function(function)?;
    let mut body = Body::new(&source, found)?;
    body.read(found);
    let read = body.finish(options)?;
    let tuned = tuning::tuned(&read.nest)
        .map_err(|error| ImportError::of(Finding::at(found, format!("it makes no loop nest: {error}"), None)))?;
    Ok(Imported {
        function: function.to_string(),
        nest: tuned.text,
        sizes: read.sizes,
        tuning: tuned.parameters,
        alone: tuned.alone,
        parameters: read.parameters,
    })
}
