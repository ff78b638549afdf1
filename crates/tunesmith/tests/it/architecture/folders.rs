//! The folders of modules: a module with modules of its own is the file `mod.rs` in its folder.

use crate::architecture::files;
use crate::architecture::house::{Crate, House};

/// Returns the files of every crate that stand beside the folder of their modules.
pub(crate) fn faults(house: &House) -> Vec<String> {
    house.crates.iter().flat_map(|one| of_crate(house, one)).collect()
}

fn of_crate(house: &House, one: &Crate) -> Vec<String> {
    let files = files(&one.folder.join("src")).into_iter().map(|(path, _)| path);
    let beside = files.filter(|path| path.with_extension("").is_dir());
    beside.map(|path| format!("{} stands beside a folder of its name", house.short(&path))).collect()
}
