//! Options of the commands for loop nests.

use super::pairs::{Pairs, pairs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

pub(super) const IMPORT_HELP: &str = "Examples:
  tunesmith nest import kernel.c --function syrk
  tunesmith nest import kernel.c --function syrk -o tuned/syrk.nest --size n=1024,m=512

Writes the nest (.nest), a problem that tunes it (.toml), and a C file that calls the function, with
which the problem compares results. What the import cannot read is listed with line and column.
docs/loopnests.md says what a function may contain.";

#[derive(Debug, Subcommand)]
pub(crate) enum NestCommand {
    /// Read a function in C as a loop nest, with its transformations as tuning parameters
    #[command(after_help = IMPORT_HELP)]
    Import(NestImportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NestImportArgs {
    /// The file in C
    #[arg(value_name = "FILE")]
    pub(crate) source: PathBuf,
    /// The function
    #[arg(short, long, value_name = "NAME")]
    pub(crate) function: String,
    /// The nest to write [default: NAME.nest beside the file]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Sizes of the problem; 256 for those that are not named
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) size: Option<Pairs>,
    /// State that no two arrays overlap, although they are not `restrict`
    #[arg(long)]
    pub(crate) no_alias: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
