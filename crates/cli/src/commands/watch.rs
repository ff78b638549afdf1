//! `tunesmith watch`.

use super::{command, journal};
use crate::args::WatchArgs;
use crate::screen::{Input, Screen};
use crate::{Ending, output};
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;
use tunesmith::Error;
use tunesmith::core::Refusal;
use tunesmith::watch::{View, Watcher, draw, text};

/// Number of lines that are read between two looks at the keyboard. It takes a few hundredths of a
/// second.
const AT_ONCE: usize = 20_000;

/// The time between two looks at the journal.
const PAUSE: Duration = Duration::from_millis(250);

/// The size of a page that is printed.
const PRINTED: (u16, u16) = (100, 40);

pub(crate) fn watch(args: &WatchArgs) -> Result<Ending, Error> {
    let path = journal(&args.run)?;
    let mut watcher = Watcher::open(&path)?;
    let view = View { page: args.page, ..View::default() };
    if args.once {
        watcher.read_all();
        output::print(&text(watcher.watched(), watcher.source(), &view, PRINTED.0, PRINTED.1));
        return Ok(Ending::Done);
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(no_terminal(&path).into());
    }
    let view = View { colour: output::wants_colours(&std::io::stdout()), ..view };
    let ended = follow(&mut watcher, view).map_err(Error::write(Path::new("/dev/tty")))?;
    if let Some(notice) = &watcher.source().notice {
        output::note(notice);
    }
    Ok(ended)
}

fn no_terminal(journal: &Path) -> Refusal {
    let top = command(["tunesmith", "top", &journal.to_string_lossy()]);
    let remedy = format!("`{top}` prints the best configurations; --once prints one page as text");
    Refusal::new("`watch` needs a terminal for its input and output", Some(remedy))
}

/// Draws the run until its reader has seen enough.
fn follow(watcher: &mut Watcher, mut view: View) -> std::io::Result<Ending> {
    let mut screen = Screen::open()?;
    let (mut is_drawn, mut lines) = (false, 0);
    loop {
        is_drawn &= !watcher.read(AT_ONCE);
        if !is_drawn {
            screen.terminal().draw(|frame| {
                let area = frame.area();
                lines = draw(watcher.watched(), watcher.source(), &view, area, frame.buffer_mut());
            })?;
            is_drawn = true;
        }
        if screen.is_ended() {
            return Ok(Ending::Interrupted);
        }
        let pause = if watcher.source().is_behind { Duration::ZERO } else { PAUSE };
        match screen.input(pause)? {
            None => {}
            Some(Input::Interrupt) => return Ok(Ending::Interrupted),
            Some(Input::Key(key)) if !view.press(key, lines) => return Ok(Ending::Done),
            Some(Input::Key(_) | Input::Other) => is_drawn = false,
        }
    }
}
