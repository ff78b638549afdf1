//! The section `[calibrate]` of a file: kernels and properties of the user.

use super::subjects::{Sizes, Subject, wrong};
use crate::nests::{NestCounts, PlacedNest, read_nest};
use crate::protocol::Ladder;
use crate::{Error, Lanes, OwnProperty};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tunesmith_loopnest::Recipe;
use tunesmith_space::did_you_mean;

/// The kernels and properties that a user adds to a calibration.
#[derive(Debug, Default)]
pub(super) struct Stated {
    pub(super) subjects: Vec<Subject>,
    pub(super) properties: Vec<OwnProperty>,
    /// The text of the file and of its nests. With another text, a calibration begins anew.
    pub(super) text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    calibrate: Section,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(default)]
    kernels: Vec<StatedKernel>,
    #[serde(default)]
    properties: Vec<OwnProperty>,
}

/// A kernel of the user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedKernel {
    /// The nest, beside the file.
    nest: PathBuf,
    /// The class by which residuals are reported. The default is the name of the nest.
    class: Option<String>,
    /// Parameters of the transformations.
    #[serde(default)]
    config: BTreeMap<String, i64>,
    /// The sizes, in the order in which they are measured: shorter times first.
    sizes: Vec<BTreeMap<String, i64>>,
}

impl Stated {
    /// Reads the section of a file.
    ///
    /// # Errors
    ///
    /// Fails if the file or one of its nests cannot be read, has an unknown key or a wrong value, or
    /// if two entries have the same name.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let refused = |text: String, remedy: &str| {
            Error::request(format!("`{}`: {text}", path.display()), Some(remedy.to_string()))
        };
        let text = tunesmith_files::read_text(path, tunesmith_files::TEXT)
            .map_err(|error| refused(error.to_string(), "name a file with a section `[calibrate]`"))?;
        let document: Document = toml::from_str(&text).map_err(|error| {
            refused(error.to_string().trim_end().to_string(), "docs/costmodel.md lists the keys of `[calibrate]`")
        })?;
        let Section { kernels, properties } = document.calibrate;
        if kernels.is_empty() && properties.is_empty() {
            return Err(refused("`[calibrate]` is empty".to_string(), "add `[[calibrate.kernels]]`"));
        }
        let names: BTreeSet<String> = properties.iter().map(|own| own.property.to_string()).collect();
        if names.len() < properties.len() {
            return Err(refused("two properties have the same name".to_string(), "rename one of them"));
        }
        let mut stated = Self { subjects: Vec::new(), properties, text };
        for kernel in &kernels {
            stated.add(path, kernel)?;
        }
        Ok(stated)
    }

    fn add(&mut self, path: &Path, kernel: &StatedKernel) -> Result<(), Error> {
        let file = path.parent().unwrap_or(Path::new("")).join(&kernel.nest);
        let recipe = read_nest(&file)?;
        self.text += &format!("\n{}", recipe.nest);
        let subject = subject(&recipe, &file, kernel)?;
        if self.subjects.iter().any(|known| known.name == subject.name) {
            let text = format!("`{}`: the kernel `{}` is there twice", path.display(), subject.name);
            return Err(Error::request(text, Some("list all of its sizes in one entry".to_string())));
        }
        self.subjects.push(subject);
        Ok(())
    }

    /// Checks that the formulas name properties that some kernel has: the user's kernels, or `ours`.
    ///
    /// # Errors
    ///
    /// Fails with the first name that no kernel has.
    pub(super) fn check_properties(&self, ours: &[Subject], lanes: Lanes) -> Result<(), Error> {
        if self.properties.is_empty() {
            return Ok(());
        }
        let mut known = BTreeSet::new();
        for subject in self.subjects.iter().chain(ours) {
            let counts = NestCounts::new(&subject.nest, lanes).map_err(|error| wrong(subject, &error))?;
            let sizes = subject.sizes(subject.ladder.sizes.last().copied().unwrap_or(1));
            let counts = counts.at(&sizes).map_err(|error| wrong(subject, &error))?;
            known.extend(counts.iter().map(|(property, _)| OwnProperty::variable(property)));
        }
        for own in &self.properties {
            if let Some(name) = own.names().find(|name| !known.contains(*name)) {
                let all =
                    || "the names are those of `count`, with `_` for other signs: `lane_g_32_load_s1`".to_string();
                let remedy = did_you_mean(name, known.iter().map(String::as_str)).unwrap_or_else(all);
                let text = format!("`{}`: no measured kernel has a property `{name}`", own.property);
                return Err(Error::request(text, Some(remedy)));
            }
        }
        Ok(())
    }
}

fn subject(recipe: &Recipe, file: &Path, kernel: &StatedKernel) -> Result<Subject, Error> {
    let refused =
        |text: &str, remedy: &str| Error::request(format!("`{}`: {text}", file.display()), Some(remedy.to_string()));
    if let Some(lookup) = recipe.nest.lookups.first() {
        let text = format!("`{}` is looked up in data, which a calibration does not have", lookup.name);
        return Err(refused(&text, "add a kernel without lookups"));
    }
    let named = |values: &BTreeMap<String, i64>| -> Vec<(String, String)> {
        values.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
    };
    let config = named(&kernel.config);
    let (mut nest, mut sizes) = (None, Vec::new());
    for own in &kernel.sizes {
        let placed = PlacedNest::new(recipe, file, &named(own), &config)?;
        sizes.push(placed.sizes);
        nest = Some(placed.nest);
    }
    let nest = nest.ok_or_else(|| refused("it has no sizes", "write `sizes = [{ n = 4096 }, { n = 65536 }]`"))?;
    // The first word names the nest; a space separates the variant.
    let variant: Vec<String> = config.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let name = format!("{} {}", nest.name, variant.join(","));
    let wanted = sizes.len();
    Ok(Subject {
        name: name.trim_end().to_string(),
        class: kernel.class.clone().unwrap_or_else(|| nest.name.clone()),
        nest,
        ladder: Ladder { sizes: (1..=wanted as i64).collect(), wanted },
        sizes: Sizes::Listed(sizes),
        is_required: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEST: &str = "nest axpy\nsizes n\nassume n > 0\narray x[n]: f32\narray y[n]: f32\n{[i]: 0 <= i < n}\n\
                        y[i] = y[i] + 2.0*x[i]\nparameter wide = 64\nsplit i wide -> io, ii\ntag io group.0\ntag ii local.0\n";

    fn read(text: &str) -> Result<Stated, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("axpy.nest"), NEST).unwrap();
        let path = folder.path().join("own.toml");
        std::fs::write(&path, text).unwrap();
        let words = |error: Error| format!("{error}; {}", error.remedy().unwrap_or_default());
        let stated = Stated::read(&path).map_err(words)?;
        stated.check_properties(&[], Lanes::InBlocks(16)).map_err(words)?;
        Ok(stated)
    }

    const KERNEL: &str =
        "[[calibrate.kernels]]\nnest = \"axpy.nest\"\nconfig = { wide = 32 }\nsizes = [{ n = 64 }, { n = 4096 }]\n";

    #[test]
    fn kernels_and_properties_are_read_with_their_sizes() {
        let property = "[[calibrate.properties]]\nname = \"pairs\"\nresource = \"memory\"\ncount = \"groups // 2\"\n";
        let stated = read(&format!("{KERNEL}{property}")).unwrap();
        let own = &stated.subjects[0];
        assert_eq!((own.name.as_str(), own.class.as_str()), ("axpy wide=32", "axpy"));
        assert_eq!((own.sizes(1), own.sizes(2), own.ladder.wanted), (vec![64], vec![4096], 2));
        assert_eq!(stated.properties[0].property.to_string(), "own:memory:pairs");
        assert!(stated.text.contains("nest axpy"), "another nest begins a new calibration");
    }

    #[test]
    fn faults_are_named_with_a_remedy() {
        let refused = |text: &str| read(text).unwrap_err();
        let property = |count: &str| {
            format!("{KERNEL}[[calibrate.properties]]\nname = \"p\"\nresource = \"compute\"\ncount = \"{count}\"\n")
        };
        assert!(refused("[calibrate]\n").contains("`[calibrate]` is empty"));
        assert!(refused("[calibrat]\n").contains("unknown field `calibrat`"));
        assert!(refused(&KERNEL.replace("axpy.nest", "none.nest")).contains("none.nest"));
        assert!(refused(&KERNEL.replace("wide =", "wid =")).contains("did you mean `wide`"));
        assert!(refused(&KERNEL.replace("n = 64 ", "n = 0 ")).contains("assumption"));
        assert!(refused(&KERNEL.replace("sizes = [{ n = 64 }, { n = 4096 }]", "sizes = []")).contains("has no sizes"));
        assert!(refused(&format!("{KERNEL}{KERNEL}")).contains("there twice"));
        assert!(refused(&property("group")).contains("did you mean `groups`"));
        assert!(refused(&property("groups +")).contains("`count` of `p`"));
        assert!(refused(&property("groups").replace("compute", "time")).contains("time"));
    }
}
