//! Reads `about.toml`, which describes a problem of the suite.

use crate::library::Library;
use crate::operation::{Convolution, Extent, Operation, Product};
use crate::refusal::refused;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use tunesmith::Error;
use tunesmith_space::Value;

/// The contents of `about.toml`. See docs/suite.md.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The computation, in a few words.
    pub title: String,
    /// The paper and section it comes from.
    #[serde(default)]
    pub paper: String,
    /// The problem file of each backend, by the backend's name.
    pub problems: BTreeMap<String, String>,
    /// The number of configurations of each problem file at its own sizes, without the limits of a
    /// device.
    #[serde(default)]
    pub configurations: BTreeMap<String, Count>,
    /// Sizes for a GPU, in place of the file's.
    #[serde(default)]
    pub gpu_sizes: BTreeMap<String, Number>,
    /// The problem file of the naive loop, which has one configuration.
    pub naive: Option<String>,
    /// The number of calls of the naive loop that a launch replaces, over parameters and sizes. One
    /// unless stated. A table shows the time of one call.
    pub steps: Option<Extent>,
    /// The libraries that one would use instead.
    #[serde(default)]
    pub against: Vec<Library>,
    /// The product of matrices that those libraries compute.
    pub product: Option<Product>,
    /// The convolution that those libraries compute, in place of a product.
    pub convolution: Option<Convolution>,
}

/// A number of configurations. Beyond 64 bits it is a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// A number.
    Number(u64),
    /// Decimal digits.
    Text(String),
}

impl Count {
    /// Returns the decimal digits.
    pub fn digits(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.chars().filter(|c| *c != '_').collect(),
        }
    }
}

/// A size.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Real(f64),
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Whole(number) => Self::Int(number),
            Number::Real(number) => Self::Float(number),
        }
    }
}

/// The backends that a suite knows, in the order in which they are tried.
pub(crate) const BACKENDS: [&str; 4] = ["c", "opencl", "cuda", "hip"];

impl About {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, it has an unknown key or a wrong value, or it names no problem file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display();
        let text = tunesmith_files::read_text(path, tunesmith_files::TEXT)
            .map_err(|error| refused(format!("cannot read `{name}`: {error}"), None))?;
        let about: Self = toml::from_str(&text).map_err(|error| {
            let remedy = "docs/suite.md lists the keys of about.toml".to_string();
            refused(format!("`{name}`: {}", error.to_string().trim_end()), Some(remedy))
        })?;
        let wrong = about.problems.keys().find(|backend| !BACKENDS.contains(&backend.as_str()));
        if let Some(wrong) = wrong {
            let text = format!("`{name}`: there is no backend `{wrong}` of problems");
            return Err(refused(text, Some(format!("backends are {}", BACKENDS.join(", ")))));
        }
        if about.problems.is_empty() {
            let remedy = "write problems = { opencl = \"name.toml\" }".to_string();
            return Err(refused(format!("`{name}`: `problems` names no file"), Some(remedy)));
        }
        match about.wrong_comparison() {
            Some((text, remedy)) => Err(refused(format!("`{name}`: {text}"), Some(remedy))),
            None => Ok(about),
        }
    }

    /// Returns the operation that libraries compute instead.
    pub fn operation(&self) -> Option<Operation<'_>> {
        let product = self.product.as_ref().map(Operation::Product);
        product.or(self.convolution.as_ref().map(Operation::Convolution))
    }

    /// Returns why the libraries cannot compute the stated operation, with a remedy.
    fn wrong_comparison(&self) -> Option<(String, String)> {
        if self.product.is_some() && self.convolution.is_some() {
            let text = "it states a [product] and a [convolution]".to_string();
            return Some((text, "keep the one that the libraries compute".to_string()));
        }
        let Some(stated) = self.operation().map(|operation| operation.kind()) else {
            let library = self.against.first()?;
            let text = format!("`against` names {library}, but nothing says what it computes");
            return Some((text, format!("add the section {}", library.computes())));
        };
        let library = self.against.iter().find(|library| library.computes() != stated)?;
        let text = format!("`against` names {library}, which computes a {}, not a {stated}", library.computes());
        Some((text, format!("libraries for a {stated} are {}", Library::names_of(stated))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCT: &str = "[product]\nm = 1\nn = 1\nk = 1\n";
    const CONVOLUTION: &str = "[convolution]\nrows = 1\ncolumns = 1\nfilter_rows = 1\nfilter_columns = 1\n";

    fn wrong(against: &str, sections: &str) -> Option<String> {
        let text = format!("title = \"x\"\nproblems = {{ c = \"x.toml\" }}\nagainst = [{against}]\n{sections}");
        let about: About = toml::from_str(&text).unwrap();
        about.wrong_comparison().map(|(text, remedy)| format!("{text}; {remedy}"))
    }

    #[test]
    fn libraries_compute_the_operation_that_the_file_states() {
        assert_eq!(wrong("\"openblas\", \"cublas\"", PRODUCT), None);
        assert_eq!(wrong("\"cudnn\"", CONVOLUTION), None);
        assert_eq!(wrong("", ""), None);
        let found = wrong("\"cublas\", \"cudnn\"", PRODUCT).unwrap();
        let text = "`against` names cudnn, which computes a [convolution], not a [product]; ";
        assert_eq!(found, format!("{text}libraries for a [product] are openblas, clblast, cublas"));
        let found = wrong("\"openblas\"", CONVOLUTION).unwrap();
        assert!(found.ends_with("libraries for a [convolution] are cudnn"), "{found}");
        let found = wrong("\"cudnn\"", "").unwrap();
        assert!(found.ends_with("nothing says what it computes; add the section [convolution]"), "{found}");
        assert!(wrong("", &format!("{PRODUCT}{CONVOLUTION}")).unwrap().contains("a [product] and a [convolution]"));
    }
}
