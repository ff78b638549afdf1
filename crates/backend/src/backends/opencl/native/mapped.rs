//! The machine code that a driver for processors loads from files of its own, as PoCL does: a library for each kernel
//! and shape of a work-group, with the kernel's name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tunesmith_kernel::data::Fields;

/// Returns the libraries of kernels called `function` that are mapped into this process.
pub(super) fn libraries(function: &str) -> BTreeSet<PathBuf> {
    let maps = tunesmith_files::system_text("/proc/self/maps").unwrap_or_default();
    of_function(&maps, function)
}

fn of_function(maps: &str, function: &str) -> BTreeSet<PathBuf> {
    let name = format!("{function}.so");
    // Five columns of addresses and numbers come before the path.
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    paths.filter(|path| path.file_name().is_some_and(|own| *own == *name)).map(Path::to_owned).collect()
}

/// Returns the digest of the library that a launch has added to those `before`. `None` if it added none, or several.
pub(super) fn digest_of_new(before: &BTreeSet<PathBuf>, function: &str) -> Option<String> {
    let now = libraries(function);
    let mut new = now.difference(before);
    let (Some(path), None) = (new.next(), new.next()) else { return None };
    tunesmith_files::read(path, tunesmith_files::DATA).ok().map(Fields::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_by_the_name_of_their_kernel() {
        let maps = "55d0-55d1 r--p 00000000 08:01 77 /usr/bin/f\n\
                    7f00-7f01 r-xp 00000000 08:01 12 /home/a b/kcache/X/f/64-1-1/f.so\n\
                    7f01-7f02 r--p 00001000 08:01 12 /home/a b/kcache/X/f/64-1-1/f.so\n\
                    7f02-7f03 r-xp 00000000 08:01 13 /home/a b/kcache/X/ff/64-1-1/ff.so\n\
                    7f03-7f04 r-xp 00000000 08:01 14 /home/a b/kcache/Y/f/64-1-1/f.so (deleted)\n\
                    7f04-7f05 rw-p 00000000 00:00 0 [heap]\n";
        let found = of_function(maps, "f");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [Path::new("/home/a b/kcache/X/f/64-1-1/f.so")]);
    }

    #[test]
    fn no_launch_adds_no_library() {
        assert_eq!(digest_of_new(&BTreeSet::new(), "no_kernel_has_this_name"), None);
    }
}
