//! The terminal as a screen: taken for a while, and given back as it was, whatever ends it.

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tunesmith::watch::Key;

/// The terminal, from [`open`](Self::open) until it is dropped. A panic gives it back before its
/// message is printed. Signals that end a process are kept for [`is_ended`](Self::is_ended), so that
/// their program can give it back.
pub(crate) struct Screen {
    terminal: DefaultTerminal,
    ended: Arc<AtomicBool>,
}

/// An input of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A key.
    Key(Key),
    /// Ctrl-C.
    Interrupt,
    /// Anything else, such as another size: the screen must be drawn again.
    Other,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// The system refuses to change the terminal.
    pub(crate) fn open() -> io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            flag::register(signal, ended.clone())?;
        }
        // This also gives the terminal back on a panic.
        let terminal = ratatui::try_init().inspect_err(|_| give_back())?;
        Ok(Self { terminal, ended })
    }

    /// Returns the terminal to draw on.
    pub(crate) fn terminal(&mut self) -> &mut DefaultTerminal {
        &mut self.terminal
    }

    /// Returns true if a signal asked the process to end.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Waits for an input, at most for `limit`. Returns `None` if none came.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn input(&mut self, limit: Duration) -> io::Result<Option<Input>> {
        if !event::poll(limit)? {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Some(input(key)),
            Event::Resize(..) => Some(Input::Other),
            _ => None,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back. Nobody could be told of a failure.
fn give_back() {
    let _ = ratatui::try_restore();
    let _ = ratatui::crossterm::execute!(io::stdout(), ratatui::crossterm::cursor::Show);
}

fn input(key: KeyEvent) -> Input {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Input::Key(match key.code {
        KeyCode::Char('c') if is_control => return Input::Interrupt,
        KeyCode::Char(_) if is_control => return Input::Other,
        KeyCode::Char(letter) => Key::Letter(letter),
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Esc => Key::Escape,
        _ => return Input::Other,
    })
}

#[cfg(test)]
#[path = "../tests/it/common/terminal.rs"]
mod terminal;

#[cfg(test)]
mod tests {
    use super::terminal::{InTerminal, gives_the_screen_back};
    use super::*;
    use std::process::Command;

    #[test]
    fn control_c_interrupts_and_other_keys_have_their_meaning() {
        let pressed = |code, modifiers| input(KeyEvent::new(code, modifiers));
        assert_eq!(pressed(KeyCode::Char('c'), KeyModifiers::CONTROL), Input::Interrupt);
        assert_eq!(pressed(KeyCode::Char('z'), KeyModifiers::CONTROL), Input::Other);
        assert_eq!(pressed(KeyCode::Char('c'), KeyModifiers::NONE), Input::Key(Key::Letter('c')));
        assert_eq!(pressed(KeyCode::BackTab, KeyModifiers::SHIFT), Input::Key(Key::BackTab));
        assert_eq!(pressed(KeyCode::F(1), KeyModifiers::NONE), Input::Other);
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_is_reported() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "screen::tests::panics_with_the_screen_open", "--ignored", "--nocapture"]);
        let (code, written, restored) = InTerminal::start(command).end();
        assert!(code == Some(101) && restored && gives_the_screen_back(&written), "{written:?}");
        let told = written.find("planted").unwrap();
        assert!(written[..told].contains("\u{1b}[?1049l"), "{written:?}");
    }

    #[test]
    #[ignore = "runs in a terminal of its own, for the test above"]
    fn panics_with_the_screen_open() {
        let _screen = Screen::open().unwrap();
        panic!("planted");
    }
}
