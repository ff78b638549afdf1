//! Compares the files that the builds of configurations made.
//!
//! A build whose words change and whose files do not may have taken a file that was made before for up to date, so that
//! all configurations are one program. Nobody sees it from the words: only the files tell.

use std::io;
use std::path::Path;
use tunesmith_files::RECORD;
use tunesmith_kernel::data::Fields;

/// The number of first builds whose files are compared.
pub(super) const COMPARED: u64 = 12;

/// The number of pairs of builds that must agree that a word has no effect.
const WITNESSES: usize = 3;

/// The words of a build, and a digest of all files behind it.
type Made = (Vec<String>, String);
type Pair<'a> = (&'a Made, &'a Made);

/// The first builds of a run.
#[derive(Debug, Default)]
pub(super) struct Reach {
    builds: Vec<Made>,
    /// True if the user was told.
    is_told: bool,
}

impl Reach {
    /// Adds a build. Returns a remark the first time that words have no effect: if no two builds that differ in one
    /// word alone made different files, or no two builds at all did.
    pub(super) fn add(&mut self, words: Vec<String>, made: String) -> Option<String> {
        if self.is_told || self.builds.iter().any(|(known, _)| *known == words) {
            return None;
        }
        self.builds.push((words, made));
        let ((one, _), (other, _)) = self.without_effect()?;
        let text = format!(
            "the builds `{}` and `{}` made the same files, and so did all others that differ as they do: a file that \
             was made before may count as up to date; remove generated files from the problem's folder, or write \
             them to {{OUT}}",
            one.join(" "),
            other.join(" ")
        );
        self.is_told = true;
        Some(text)
    }

    /// Returns two builds that show a difference without effect.
    fn without_effect(&self) -> Option<Pair<'_>> {
        let pairs = self
            .builds
            .iter()
            .enumerate()
            .flat_map(|(at, later)| self.builds[..at].iter().map(move |earlier| (earlier, later)));
        let pairs: Vec<Pair<'_>> = pairs.collect();
        let places = self.builds.first().map_or(0, |(words, _)| words.len());
        let of_place = |place: usize| pairs.iter().copied().filter(move |pair| only_difference(*pair) == Some(place));
        let found = (0..places).find_map(|place| agreement(&of_place(place).collect::<Vec<_>>(), WITNESSES));
        // Of builds that all agree, one more is asked for.
        found.or_else(|| agreement(&pairs, WITNESSES * (WITNESSES + 1) / 2))
    }
}

/// Returns the last of at least `least` pairs, if the builds of each made the same.
fn agreement<'a>(pairs: &[Pair<'a>], least: usize) -> Option<Pair<'a>> {
    let is_same = pairs.iter().all(|((_, one), (_, other))| one == other);
    pairs.last().copied().filter(|_| is_same && pairs.len() >= least)
}

/// Returns the place of the only word in which two builds differ.
fn only_difference(((one, _), (other, _)): Pair<'_>) -> Option<usize> {
    let mut places = one.iter().zip(other).enumerate().filter(|(_, (one, other))| one != other);
    let (place, _) = places.next().filter(|_| one.len() == other.len())?;
    places.next().is_none().then_some(place)
}

/// Returns a digest of all files in the folders, by their names and contents. Links are left out: what they lead to is
/// common to all configurations.
///
/// # Errors
/// A file cannot be read.
pub(super) fn digest(folders: [&Path; 2]) -> io::Result<String> {
    let mut hash = Fields::default();
    folders.iter().try_for_each(|folder| add(&mut hash, folder))?;
    Ok(hash.digest())
}

fn add(hash: &mut Fields, folder: &Path) -> io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        hash.add(entry.file_name().as_encoded_bytes());
        if kind.is_dir() {
            add(hash, &entry.path())?;
        } else if kind.is_file() {
            hash.add(tunesmith_files::read(entry.path(), RECORD)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the remarks about builds: their words, and what they made.
    fn remarks(builds: &[(&str, &str)]) -> Vec<String> {
        let mut reach = Reach::default();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        builds.iter().filter_map(|(text, made)| reach.add(words(text), (*made).to_owned())).collect()
    }

    #[test]
    fn a_word_without_effect_is_told_once() {
        let all = [("make A=1", "x"), ("make A=2", "x"), ("make A=1", "x"), ("make A=3", "x"), ("make A=4", "x")];
        let told = remarks(&all);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("the builds `make A=2` and `make A=3` made the same files, and so"), "{told:?}");
        assert_eq!(remarks(&all[..3]), [""; 0], "two builds may make the same by chance");
    }

    #[test]
    fn the_word_is_found_among_those_that_have_an_effect() {
        let told = remarks(&[
            ("c A=1 B=1", "x"),
            ("c A=2 B=1", "y"),
            ("c A=1 B=2", "x"),
            ("c A=2 B=2", "y"),
            ("c A=2 B=3", "y"),
        ]);
        assert!(told.len() == 1 && told[0].contains("`c A=2 B=2` and `c A=2 B=3`"), "{told:?}");
        let far = [("c A=1 B=1", "x"), ("c A=2 B=2", "x"), ("c A=3 B=3", "x"), ("c A=4 B=4", "x")];
        assert_eq!((remarks(&far).len(), remarks(&far[..3]).len()), (1, 0), "several words at once");
    }

    #[test]
    fn words_with_an_effect_and_equal_programs_now_and_then_are_no_remark() {
        let different = [("c A=1", "x"), ("c A=2", "y"), ("c A=3", "y"), ("c A=4", "y"), ("c A=5", "y")];
        assert_eq!(remarks(&different), [""; 0]);
        assert_eq!(remarks(&[("c A=1", "x"), ("c -O A=1", "x"), ("c A=1 -g", "x")]), [""; 0]);
    }
}
