//! `tunesmith completions` and `tunesmith man`.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::{Ending, output};
use clap::CommandFactory;
use tunesmith::Error;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Ending, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tunesmith", &mut script);
    output::exact(&String::from_utf8_lossy(&script));
    Ok(Ending::Done)
}

pub(crate) fn man(args: &ManArgs) -> Result<Ending, Error> {
    let failed = Error::write(&args.folder);
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(failed)?;
    output::print(&format!("wrote the pages to {0}; read them with `man -l {0}/tunesmith.1`\n", args.folder.display()));
    Ok(Ending::Done)
}
